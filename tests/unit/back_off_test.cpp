#include "net/dial/back_off.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace mortise::testing::back_off_test {
namespace {

constexpr std::uint64_t most_chance = 10 * ns_per_s - 1;  // the last of every window

class back_off_test : public ::testing::Test {
 protected:
  // The window of the next try, after which that one fails, too.
  time_ns window(bool is_awaited = false) {
    const auto next = tries_.next(is_awaited, most_chance, now_);
    const auto length = next - now_ + 1;
    now_ = next;
    return length;
  }
  void fail_for(time_ns length) {
    for (const auto end = now_ + length; now_ < end;) window();
  }

  net::back_off tries_;
  time_ns now_ = 1000 * ns_per_s;
};

TEST_F(back_off_test, doubles_to_80_ms_in_a_young_fault_and_to_a_second_in_an_old_one) {
  for (const auto length : {10, 20, 40, 80, 80, 80}) EXPECT_EQ(window(), length * ns_per_ms);
  fail_for(61 * ns_per_s);
  EXPECT_EQ(window(), ns_per_s);
  EXPECT_EQ(window(true), 80 * ns_per_ms) << "somebody waits";
}

TEST_F(back_off_test, begins_anew_when_it_was_well) {
  fail_for(61 * ns_per_s);
  tries_.begin(now_);
  tries_.end(false, now_);
  EXPECT_EQ(tries_.failures(), 0);
  EXPECT_EQ(window(), 10 * ns_per_ms);
}

// Otherwise the client would connect again and again, as fast as the network allows.
TEST_F(back_off_test, a_server_that_refuses_after_the_handshake_is_one_fault) {
  for (const auto length : {10, 20, 40, 80}) {
    EXPECT_EQ(window(), length * ns_per_ms);
    tries_.begin(now_);
    tries_.end(true, now_ + ns_per_ms);
  }
  EXPECT_EQ(window(), 80 * ns_per_ms);
  tries_.begin(now_);
  now_ += 2 * ns_per_s;
  tries_.end(true, now_);
  EXPECT_EQ(window(), 10 * ns_per_ms) << "it has served for long";
}

// A client that lacks descriptors, or that the server evicts, would otherwise connect a hundred
// times per second.
TEST_F(back_off_test, sessions_that_end_at_once_again_and_again_are_one_fault) {
  const auto serve = [&](time_ns length) {
    tries_.begin(now_);
    now_ += length;
    tries_.end(false, now_);
  };
  window();
  serve(ns_per_ms);
  EXPECT_EQ(window(), 10 * ns_per_ms) << "the first may be an accident";
  for (const auto length : {20, 40, 80, 80}) {
    serve(ns_per_ms);
    EXPECT_EQ(window(), length * ns_per_ms);
  }
  serve(2 * ns_per_s);
  EXPECT_EQ(window(), 10 * ns_per_ms) << "it has served for long";
  serve(ns_per_ms);
  EXPECT_EQ(window(), 10 * ns_per_ms) << "the session before was long";
}

}  // namespace
}  // namespace mortise::testing::back_off_test
