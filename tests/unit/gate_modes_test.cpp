// A reader that becomes the writer and back, with a scripted server and clock.
#include <gtest/gtest.h>

#include <algorithm>

#include "lock/gate/gate.hpp"
#include "protocol/table.hpp"
#include "unit/scripted_lock_io.hpp"

namespace mortise::testing::gate_modes_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::owner;
using lock::step;

struct acquire_call : lock::acquire_operation {
  explicit acquire_call(lock::owner& handle) { owner = &handle; }
  void finish(const outcome& final_result, std::int64_t /*token*/) noexcept override {
    result = final_result;
  }
  outcome result = outcome::of(status::internal);
};

struct other_call : lock::operation {
  void finish(const outcome& final_result, std::int64_t value) noexcept override {
    ++finished;
    result = final_result;
    token = value;
  }
  int finished = 0;
  outcome result;
  std::int64_t token = 0;
};

class gate_modes_test : public ::testing::Test, private lock::gate_listener {
 protected:
  void answer_to(const sent_request& request, const lock::step_result& result, time_ns now) {
    gate_.on_answer(request.claim_id, request.serial, result, now);
  }
  void hold(hold_mode mode) {
    owner_.capacity = exclusive_permits;
    call_.amount = {mode, mode == hold_mode::exclusive ? exclusive_permits : 1};
    ASSERT_TRUE(gate_.acquire(call_, start_ns).ok());
    answer_to(io_.last(), granted(), start_ns + ms(1));
    ASSERT_TRUE(call_.result.ok());
  }
  [[nodiscard]] bool reads() const { return owner_.has_hold(hold_mode::shared); }
  [[nodiscard]] bool writes() const { return owner_.has_hold(hold_mode::exclusive); }
  [[nodiscard]] int count_of(step what) const {
    return static_cast<int>(std::count_if(io_.requests.begin(), io_.requests.end(),
                                          [&](const auto& item) { return item.what == what; }));
  }
  void on_lost(owner& /*owner*/) noexcept override { ++losses_; }
  void on_at_risk(owner& /*owner*/, reason /*why*/) noexcept override {}
  void on_contended(owner& /*owner*/) noexcept override {}
  void on_not_released(const outcome& /*result*/) noexcept override {}

  scripted_lock_io io_;
  lock::gate gate_{protocol::queued_rw().facts, io_, *this};
  owner owner_;
  acquire_call call_{owner_};
  other_call raised_;
  int losses_ = 0;
};

TEST_F(gate_modes_test, a_raised_hold_has_a_new_token_and_is_renewed_as_a_whole) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  answer_to(io_.last(), granted(first_token + 5), start_ns + ms(3));
  EXPECT_TRUE(raised_.result.ok());
  EXPECT_EQ(raised_.token, first_token + 5);
  EXPECT_TRUE(writes() && !reads());
  gate_.on_timer(start_ns + ms(11'000));
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().permits, exclusive_permits);
}

// A renewal of a part that the server carries out behind the raise would undo it.
TEST_F(gate_modes_test, no_renewal_is_sent_while_a_raise_is_open) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(9'000)).ok());
  const auto raise = io_.last();
  gate_.on_timer(start_ns + ms(11'000));
  EXPECT_EQ(count_of(step::renew), 0);
  EXPECT_GT(gate_.next_timer(), start_ns + ms(11'000)) << "the timer must not spin";
  answer_to(raise, granted(first_token + 5), start_ns + ms(11'500));
  gate_.on_timer(start_ns + ms(11'500));
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().permits, exclusive_permits);
}

// The servers of a quorum that raise their votes need not be those that extended them (hazard 17).
TEST_F(gate_modes_test, a_raise_names_the_time_until_the_end_of_the_hold) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2'000)).ok());
  const auto until = start_ns + ms(2'000) + ms(io_.last().ttl_ms);
  EXPECT_GE(until, gate_.valid_until(owner_));
}

TEST_F(gate_modes_test, a_raise_that_a_later_renewal_has_undone_is_not_believed) {
  hold(hold_mode::shared);
  gate_.on_timer(start_ns + ms(11'000));
  const auto renewal = io_.last();
  ASSERT_EQ(renewal.what, step::renew);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(11'001)).ok());
  const auto raise = io_.last();
  // The server has forgotten the renewal's script only, which is therefore asked for again.
  answer_to(renewal, result_of(answer::no_script), start_ns + ms(11'010));
  ASSERT_EQ(io_.last().what, step::renew);
  answer_to(raise, granted(first_token + 5), start_ns + ms(11'011));
  EXPECT_EQ(raised_.result.code, status::not_acquired);
  EXPECT_TRUE(reads() && !writes());
  EXPECT_EQ(io_.last().permits, 1);
}

TEST_F(gate_modes_test, a_raise_whose_caller_has_given_up_is_taken_back) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  const auto raise = io_.last();
  EXPECT_EQ(gate_.unlock(owner_, hold_mode::shared, nullptr, start_ns + ms(3)).code, status::busy);
  gate_.abandon(raised_, status::timed_out, start_ns + ms(500));
  EXPECT_EQ(raised_.result.code, status::unknown);
  answer_to(raise, granted(first_token + 5), start_ns + ms(600));
  EXPECT_TRUE(reads() && !writes());
  EXPECT_EQ(owner_.token, first_token);
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().permits, 1);
}

// The server may have executed it. Without a renewal other readers would wait until the end of the
// lease.
TEST_F(gate_modes_test, a_raise_with_an_unclear_reply_is_taken_back) {
  owner_.renews = false;
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  answer_to(io_.last(), result_of(answer::unacknowledged), start_ns + ms(3));
  EXPECT_EQ(raised_.finished, 1);
  EXPECT_TRUE(reads() && !writes());
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().permits, 1);
}

// Whether it was carried out is not known, so it is undone first.
TEST_F(gate_modes_test, a_raise_that_broke_is_asked_again_behind_a_renewal_of_the_part) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  answer_to(io_.last(), result_of(answer::broken), start_ns + ms(3));
  EXPECT_EQ(raised_.finished, 0);
  gate_.on_up(start_ns + ms(50));
  ASSERT_EQ(io_.last().what, step::raise);
  const auto& before = io_.requests[io_.count() - 2];
  EXPECT_EQ(before.what, step::renew);
  EXPECT_EQ(before.permits, 1);
  answer_to(before, result_of(answer::renewed), start_ns + ms(51));
  answer_to(io_.last(), granted(first_token + 5), start_ns + ms(52));
  EXPECT_TRUE(raised_.result.ok());
  EXPECT_TRUE(writes());
}

TEST_F(gate_modes_test, a_raise_without_a_connection_waits_for_one_and_is_sent_once) {
  hold(hold_mode::shared);
  io_.is_up = false;
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  EXPECT_EQ(raised_.finished, 0);
  io_.is_up = true;
  gate_.on_up(start_ns + ms(50));
  ASSERT_EQ(io_.last().what, step::raise);
  const auto count = io_.count();
  gate_.on_up(start_ns + ms(51));
  EXPECT_EQ(io_.count(), count) << "it is on its way";
  answer_to(io_.last(), result_of(answer::not_free), start_ns + ms(52));
  EXPECT_EQ(raised_.result.code, status::not_acquired);
}

TEST_F(gate_modes_test, a_hold_that_is_lowered_without_a_connection_is_so_with_the_next_one) {
  hold(hold_mode::exclusive);
  io_.is_up = false;
  other_call lowered;
  ASSERT_TRUE(gate_.lower(owner_, 1, lowered, start_ns + ms(2)).ok());
  EXPECT_EQ(lowered.finished, 0);
  EXPECT_TRUE(reads() && !writes());
  io_.is_up = true;
  gate_.on_up(start_ns + ms(50));
  EXPECT_EQ(io_.last().permits, 1);
  answer_to(io_.last(), result_of(answer::renewed), start_ns + ms(51));
  EXPECT_TRUE(lowered.finished == 1 && lowered.result.ok());
}

TEST_F(gate_modes_test, hazard_17_a_raise_of_a_hold_that_the_server_does_not_know_is_a_loss) {
  hold(hold_mode::shared);
  ASSERT_TRUE(gate_.raise(owner_, raised_, start_ns + ms(2)).ok());
  answer_to(io_.last(), result_of(answer::not_owner), start_ns + ms(3));
  EXPECT_EQ(raised_.result.code, status::lost);
  EXPECT_EQ(losses_, 1);
  EXPECT_FALSE(gate_.is_held(owner_, start_ns + ms(3)));
}

TEST_F(gate_modes_test, a_lowered_hold_is_a_part_from_the_call_on) {
  hold(hold_mode::exclusive);
  gate_.on_timer(start_ns + ms(11'000));
  const auto earlier = io_.last();
  ASSERT_EQ(earlier.permits, exclusive_permits);
  other_call lowered;
  ASSERT_TRUE(gate_.lower(owner_, 1, lowered, start_ns + ms(11'001)).ok());
  EXPECT_TRUE(reads() && !writes());
  EXPECT_EQ(io_.last().permits, 1);
  // The reply to an earlier renewal proves nothing about it.
  answer_to(earlier, result_of(answer::renewed), start_ns + ms(11'002));
  EXPECT_EQ(lowered.finished, 0);
  answer_to(io_.last(), result_of(answer::renewed), start_ns + ms(11'003));
  EXPECT_EQ(lowered.finished, 1);
  EXPECT_TRUE(lowered.result.ok());
}

}  // namespace
}  // namespace mortise::testing::gate_modes_test
