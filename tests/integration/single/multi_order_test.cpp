// The order in which a multi takes its members and gives them back, as the server sees it.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::multi_order_test {
namespace {

struct free_multi {
  void operator()(mortise_multi* multi) const { mortise_multi_free(multi); }
};
using multi_handle = std::unique_ptr<mortise_multi, free_multi>;

// Writes down the names in the order of the commands that take and give back.
class order {
 public:
  fault note(const fake_command& command) {
    const std::lock_guard guard(mutex_);
    if (command.is("SET") && command.words[1].starts_with("{")) taken_ += name(command.words[1]);
    // Of one that was taken the last time.
    if (command.is("EVALSHA", scripts::queued_acquire.sha1)) taken_ += name(command.words[3]);
    const bool is_release =
        command.is("EVALSHA") && (command.words[1] == scripts::queued_release_alone.sha1 ||
                                  command.words[1] == scripts::queued_release.sha1);
    if (is_release) given_back_ += name(command.words[3]);
    // Where the server has it, that is a compare-and-delete; a handshake tries it on another key.
    const bool is_delete = command.is("DELIFEQ") || command.is("DELEX");
    if (is_delete && command.words[1].starts_with("{")) given_back_ += name(command.words[1]);
    return fault::none();
  }
  // What was taken and given back since the last look: "abc cba".
  std::string text() {
    const std::lock_guard guard(mutex_);
    return std::exchange(taken_, "") + " " + std::exchange(given_back_, "");
  }

 private:
  static char name(const std::string& key) { return key[key.size() - 2]; }
  std::mutex mutex_;
  std::string taken_;
  std::string given_back_;
};

TEST(multi, takes_its_members_in_order_and_gives_them_back_in_reverse) {
  test_server server;
  order seen;
  proxy between(server.socket_path(),
                [&](const fake_command& command) { return seen.note(command); });
  const auto client = open_client(between.url());
  std::vector<lock_handle> locks;
  multi_handle multi(mortise_multi_new(client.get(), nullptr));
  for (const char* name : {"b", "d", "a", "c"}) {
    locks.push_back(open_lock(client, name));
    ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi.get(), locks.back().get(), nullptr));
  }
  ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_unlock(multi.get(), nullptr));
  EXPECT_EQ("abcd dcba", seen.text());

  // The same when one stands in the way.
  const auto direct = open_client(server.url());
  const auto other = open_lock(direct, "d");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(other.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_multi_try(multi.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));  // it comes behind them
  EXPECT_EQ("abcd cba", seen.text());
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(other.get(), nullptr));

  // And when it is freed while it holds.
  ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, nullptr));
  multi.reset();
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  EXPECT_EQ("abcd dcba", seen.text());
}

}  // namespace
}  // namespace mortise::testing::multi_order_test
