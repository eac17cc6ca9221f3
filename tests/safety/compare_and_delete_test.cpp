// Releases without a script, at servers with compare-and-delete. The proxy of these tests simulates
// it on each server, in both spellings.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/scripts/scripts.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::compare_and_delete_test {
namespace {

enum class spelling { delifeq, delex };

bool is_of(spelling expected, const fake_command& command) {
  if (expected == spelling::delifeq) return command.is("DELIFEQ") && command.words.size() == 3;
  return command.is("DELEX") && command.words.size() == 4 && command.words[2] == "IFEQ";
}

bool is_of_either(const fake_command& command) {
  return command.is("DELIFEQ") || command.is("DELEX");
}

bool is_probe(const fake_command& command) {
  return is_of_either(command) && command.words[1] == "mortise:probe";
}

bool is_release_script(const fake_command& command) {
  for (const auto* script :
       {&scripts::queued_release_alone, &scripts::queued_release, &scripts::token_release}) {
    const bool runs = command.is("EVALSHA") || command.is("EVAL");
    if (runs && (command.words[1] == script->sha1 || command.words[1] == script->text)) return true;
  }
  return false;
}

class compare_and_delete : public ::testing::TestWithParam<spelling> {
 protected:
  // The reply of the proxy to the next release, in place of its execution; "" forwards the release.
  void answer_next(const std::string& reply) {
    const std::lock_guard guard(mutex_);
    next_reply_ = reply;
  }
  fault on(const fake_command& command) {
    if (is_release_script(command)) ++scripts_;
    if (!is_of_either(command)) return fault::none();
    const std::lock_guard guard(mutex_);
    if (!is_known_ || !is_of(GetParam(), command)) {
      return fault::answer("-ERR unknown command '" + command.words[0] + "', with args\r\n");
    }
    if (is_probe(command)) return ++probes_, fault::answer(":0\r\n");
    ++without_script_;
    if (!next_reply_.empty()) return fault::answer(std::exchange(next_reply_, {}));
    const auto reply = bare_->command({"EVAL",
                                       "if redis.call('GET', KEYS[1]) == ARGV[1] then return "
                                       "redis.call('DEL', KEYS[1]) end return 0",
                                       "1", command.words[1], command.words.back()});
    if (std::exchange(is_next_reply_lost_, false)) return fault::cut_before();
    return fault::answer((reply.starts_with("-") ? reply : ":" + reply) + "\r\n");
  }
  void forget_command() {
    const std::lock_guard guard(mutex_);
    is_known_ = false;
  }
  void lose_next_reply() {
    const std::lock_guard guard(mutex_);
    is_next_reply_lost_ = true;
  }
  bool exists() { return server_.command({"EXISTS", lock_key("k")}) == "1"; }
  mortise_status take() { return mortise_lock_acquire(lock_.get(), patience_ms, nullptr); }
  mortise_status give_back() { return mortise_lock_unlock(lock_.get(), nullptr); }

  std::mutex mutex_;
  std::string next_reply_;
  bool is_next_reply_lost_ = false;
  bool is_known_ = true;
  std::atomic<int> probes_{0};
  std::atomic<int> without_script_{0};
  std::atomic<int> scripts_{0};
  test_server server_;
  const std::unique_ptr<raw_client> bare_ = server_.connect();  // the network's own
  proxy between_{server_.socket_path(), [this](const auto& command) { return on(command); }};
  client_handle client_ = open_client(between_.url() + "?lease=60s");
  lock_handle lock_ = open_lock(client_, "k");
};

TEST_P(compare_and_delete, releases_in_one_command_where_nobody_waits) {
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(MORTISE_OK, take());
    ASSERT_TRUE(exists());
    EXPECT_EQ(MORTISE_OK, give_back());
    EXPECT_FALSE(exists());
    EXPECT_EQ(round, without_script_);
  }
  EXPECT_EQ(0, scripts_);
  EXPECT_EQ(1, probes_) << "once for each connection";
}

TEST_P(compare_and_delete, releases_in_one_command_in_the_token_format) {
  const auto client = open_client(between_.url() + "?protocol=token");
  const auto lock = open_lock(client, "k");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ("1", server_.command({"EXISTS", "k"}));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ("0", server_.command({"EXISTS", "k"}));
  EXPECT_EQ(0, scripts_);
}

// The holder's client does not know of the waiter. Only the mark reveals it.
TEST_P(compare_and_delete, hazard_24_a_lock_that_somebody_waits_for_is_handed_over) {
  const auto other = open_client(server_.url() + "?lease=60s");
  const auto waiter = open_lock(other, "k");
  ASSERT_EQ(MORTISE_OK, take());
  const auto owner = server_.command({"GET", lock_key("k")});
  const auto queue = open_queue(other);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waiter.get(), queue.get(), 0, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return server_.command({"GET", lock_key("k")}) == owner + "*"; }));
  EXPECT_EQ(MORTISE_OK, give_back());
  EXPECT_EQ(MORTISE_EVENT_ACQUIRED, next_event(queue, patience_ms).kind);
  EXPECT_EQ(1, mortise_lock_is_held(waiter.get()));
}

TEST_P(compare_and_delete, hazard_24_a_mark_that_the_holder_has_not_heard_of_leads_to_the_script) {
  ASSERT_EQ(MORTISE_OK, take());
  const auto owner = server_.command({"GET", lock_key("k")});
  server_.command({"SET", lock_key("k"), owner + "*", "KEEPTTL"});
  EXPECT_EQ(MORTISE_OK, give_back());
  EXPECT_FALSE(exists());
  EXPECT_EQ(1, without_script_);
  EXPECT_EQ(1, scripts_);
}

TEST_P(compare_and_delete, hazard_17_a_lock_that_another_has_is_left_alone) {
  ASSERT_EQ(MORTISE_OK, take());
  server_.command({"SET", lock_key("k"), "m1:somebody:1.1::1", "PX", "60000"});
  EXPECT_EQ(MORTISE_LOST, give_back());
  EXPECT_EQ("m1:somebody:1.1::1", server_.command({"GET", lock_key("k")}));
}

TEST_P(compare_and_delete, hazard_28_a_server_that_knows_it_no_more_is_asked_by_script) {
  ASSERT_EQ(MORTISE_OK, take());
  forget_command();
  EXPECT_EQ(MORTISE_OK, give_back());
  EXPECT_FALSE(exists());
  EXPECT_EQ(1, scripts_);
  EXPECT_EQ(0, without_script_);
}

TEST_P(compare_and_delete, hazard_28_what_was_refused_is_asked_by_script) {
  for (const auto* error :
       {"NOPERM this user has no permissions to run the command",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable",
        "ERR something that nobody has heard of"}) {
    const auto client = open_client(between_.url() + "?lease=60s");
    const auto lock = open_lock(client, "k");
    const int before = without_script_;
    scripts_ = 0;
    for (int round = 1; round <= 2; ++round) {
      ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr)) << error;
      answer_next("-" + std::string(error) + "\r\n");
      // What another refusal leaves behind is tried on in the background.
      (void)mortise_lock_unlock(lock.get(), nullptr);
      EXPECT_TRUE(eventually([&] { return !exists(); })) << error;
    }
    EXPECT_EQ(before + 1, without_script_) << "and not again on this connection: " << error;
    EXPECT_EQ(2, scripts_) << error;
    answer_next("");
  }
}

TEST_P(compare_and_delete, hazard_23_a_release_whose_reply_is_lost_is_a_release) {
  ASSERT_EQ(MORTISE_OK, take());
  lose_next_reply();
  EXPECT_EQ(MORTISE_OK, give_back());
  EXPECT_FALSE(exists());
  EXPECT_EQ(2, probes_) << "the next connection is asked what it knows";
}

TEST_P(compare_and_delete, hazard_31_a_reply_of_another_shape_is_no_release) {
  for (const auto* reply :
       {"+OK\r\n", ":2\r\n", ":-1\r\n", "$1\r\n1\r\n", "*1\r\n:1\r\n", "_\r\n"}) {
    ASSERT_EQ(MORTISE_OK, take());
    answer_next(reply);
    // It is not believed, and asked again.
    EXPECT_EQ(MORTISE_UNKNOWN, give_back()) << reply;
    EXPECT_TRUE(eventually([&] { return !exists(); })) << reply;
  }
}

INSTANTIATE_TEST_SUITE_P(safety, compare_and_delete,
                         ::testing::Values(spelling::delifeq, spelling::delex),
                         [](const auto& one) {
                           return one.param == spelling::delifeq ? "delifeq" : "delex";
                         });

}  // namespace
}  // namespace mortise::testing::compare_and_delete_test
