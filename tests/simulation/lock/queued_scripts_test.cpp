// The scripts of `queued`, step by step, where a whole run would show a defect too seldom.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "simulation/harness/simulated_redis.hpp"

namespace mortise::simulation::queued_scripts_test {
namespace {

const std::string alice = "m1:a:1.1::550";
const std::string bob = "m1:b:1.1::550";
const std::string carol = "m1:c:1.1::550";

class queued_scripts : public ::testing::Test {
 protected:
  queued_scripts() {
    for (const auto* client : {"a", "b", "c"}) {
      auto& listener = server_.connect();
      server_.call({"SUBSCRIBE", std::string("mortise:inbox:") + client}, &listener);
      inboxes_[client] = &listener;
      listener.send = [this](std::string bytes) { published_ += bytes; };
    }
  }
  reply run(const redis::script& script, const arguments& values) {
    arguments command{"EVAL", std::string(script.text), "3", "lock", "fence", "lock:q"};
    command.insert(command.end(), values.begin(), values.end());
    return server_.call(command);
  }
  // The cheap way to a free lock.
  reply take(const std::string& owner) {
    return server_.call({"SET", "lock", owner, "NX", "PX", "500"});
  }
  // Whether the owner has it now.
  bool ask(const std::string& owner) {
    return run(scripts::queued_acquire, {owner, "500", "again"}).items.at(0).integer == 1;
  }
  bool renew(const std::string& owner) {
    return run(scripts::queued_renew, {owner, "500", "0"}).items.at(0).integer == 1;
  }
  std::int64_t release(const std::string& owner) {
    return run(scripts::queued_release, {owner}).integer;
  }
  std::int64_t release_alone(const std::string& owner) {
    return server_
        .call({"EVAL", std::string(scripts::queued_release_alone.text), "1", "lock", owner})
        .integer;
  }
  std::int64_t cancel(const std::string& owner) {
    return run(scripts::queued_cancel, {owner}).integer;
  }
  // This client is no longer subscribed.
  void die(const std::string& client) { server_.disconnect(*inboxes_.at(client)); }
  [[nodiscard]] bool was_sent(const std::string& message) const {
    return published_.find(message) != std::string::npos;
  }
  void pass_ms(std::int64_t ms) { now_us_ += ms * 1000; }
  std::string held() {
    const auto* const lock = server_.find("lock");
    return lock == nullptr ? "" : lock->text;
  }

  std::int64_t now_us_ = 1'790'000'000'000'000;
  simulated_redis server_{[this] { return now_us_; }};
  std::map<std::string, session*> inboxes_;
  std::string published_;
};

// A lease ended during a wait, and another client took the free lock by the cheap way. When it asks
// again, because its reply was lost, it must learn of the waiters, because its lock has no mark.
TEST_F(queued_scripts, an_owner_who_slipped_in_learns_that_others_wait) {
  server_.call({"RPUSH", "lock:q", bob});
  take(alice);
  const auto again = run(scripts::queued_acquire, {alice, "500", "again"});
  ASSERT_EQ(again.items.size(), 5U);
  EXPECT_EQ(again.items[0].integer, 1);
  EXPECT_EQ(again.items[4].integer, 1);
  EXPECT_EQ(release(alice), 2);
  EXPECT_EQ(held(), bob);
}

// The end of a lease belongs to the waiters: no new client takes the lock before the head has
// looked.
TEST_F(queued_scripts, a_newcomer_cannot_slip_in_when_the_lease_of_a_lock_with_waiters_ends) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  pass_ms(500);
  EXPECT_FALSE(ask(bob)) << "the lease lasts to its last millisecond";
  pass_ms(1);
  EXPECT_EQ(take(carol).type, reply::form::nil);
  EXPECT_TRUE(ask(bob));
  EXPECT_EQ(held(), bob);
}

// A holder that hands over to an earlier waiter that may be silent is notified when that grant
// ends.
TEST_F(queued_scripts, hazard_24_who_hands_over_learns_when_the_grant_ends) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  pass_ms(501);
  const auto text = run(scripts::queued_acquire, {carol, "500", "again"});
  ASSERT_EQ(text.items.size(), 5U);
  EXPECT_EQ(text.items[3].integer, 550);
  EXPECT_EQ(text.items[4].integer, 0);
  pass_ms(551);
  EXPECT_TRUE(ask(carol));
}

// A listener to the inbox learns the secret with the grant, and no earlier.
TEST_F(queued_scripts, hazard_32_only_a_grant_has_the_secret_of_its_waiter) {
  take(alice);
  run(scripts::queued_acquire, {bob, "500", "wait", "secret-b"});
  run(scripts::queued_acquire, {carol, "500", "wait", "secret-c"});
  EXPECT_EQ(release(alice), 2);
  EXPECT_EQ(held(), bob + "*");
  EXPECT_TRUE(was_sent(" 1 " + bob + " secret-b")) << published_;
  EXPECT_TRUE(was_sent("N ")) << published_;
  EXPECT_FALSE(was_sent("secret-c")) << published_;
  EXPECT_EQ(run(scripts::queued_cancel, {carol}).integer, 0) << "without the secret";
  EXPECT_EQ(run(scripts::queued_cancel, {carol, "secret-c"}).integer, 1);
}

// The mark keeps a lock beyond its lease, for waiters. There is none any longer.
TEST_F(queued_scripts, the_last_who_gives_up_takes_the_mark_off_and_leaves_the_lease) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  pass_ms(100);
  EXPECT_EQ(cancel(bob), 1);
  EXPECT_EQ(held(), alice + "*");
  EXPECT_EQ(cancel(carol), 1);
  EXPECT_EQ(held(), alice);
  pass_ms(400);
  EXPECT_EQ(take(carol).type, reply::form::nil) << "the lease lasts to its last millisecond";
  EXPECT_TRUE(renew(alice));
  pass_ms(501);
  EXPECT_EQ(take(carol).type, reply::form::status);
}

TEST_F(queued_scripts, the_last_who_gives_up_after_the_lease_leaves_a_free_lock) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  pass_ms(501);
  EXPECT_EQ(cancel(bob), 1);
  EXPECT_EQ(held(), "");
  EXPECT_EQ(take(carol).type, reply::form::status);
}

TEST_F(queued_scripts, who_gives_up_last_but_for_the_dead_takes_the_mark_off) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  die("c");
  EXPECT_EQ(cancel(bob), 1);
  EXPECT_EQ(held(), alice);
}

TEST_F(queued_scripts, a_lock_is_handed_over_without_a_mark_when_all_who_wait_behind_are_dead) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  die("c");
  EXPECT_EQ(release(alice), 2);
  EXPECT_EQ(held(), bob);
  pass_ms(551);
  EXPECT_EQ(take(carol).type, reply::form::status);
}

TEST_F(queued_scripts, who_gives_up_leaves_what_another_program_has_written) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  server_.call({"SET", "lock", "not ours*"});
  EXPECT_EQ(cancel(bob), 1);
  EXPECT_EQ(held(), "not ours*");
}

TEST_F(queued_scripts, a_renewed_lock_with_waiters_keeps_its_whole_lease_and_the_queues_turn) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  pass_ms(400);
  EXPECT_TRUE(renew(alice));
  pass_ms(500);
  EXPECT_FALSE(ask(bob));
  pass_ms(1);
  EXPECT_EQ(take(carol).type, reply::form::nil);
  EXPECT_TRUE(ask(bob));
}

TEST_F(queued_scripts, hazard_17_a_lease_that_is_over_is_not_renewed_in_the_queues_turn) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  pass_ms(501);
  EXPECT_FALSE(renew(alice));
  EXPECT_TRUE(ask(bob));
}

TEST_F(queued_scripts, a_lock_is_handed_over_marked_when_more_wait_and_the_next_head_is_notified) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  EXPECT_EQ(release_alone(alice), 3);
  EXPECT_EQ(release(alice), 2);
  EXPECT_TRUE(was_sent("G ")) << published_;
  EXPECT_TRUE(was_sent("N 550 " + carol)) << published_;
  // A client that does not know of the waiters behind it may not delete the lock.
  EXPECT_EQ(release_alone(bob), 3);
  EXPECT_EQ(release(bob), 2);
  EXPECT_EQ(held(), carol);
  EXPECT_EQ(release_alone(carol), 1);
  EXPECT_EQ(held(), "");
}

TEST_F(queued_scripts, the_next_head_is_notified_when_the_head_gives_up) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  pass_ms(200);
  EXPECT_FALSE(was_sent("N 300 " + carol)) << published_;
  EXPECT_EQ(run(scripts::queued_cancel, {bob}).integer, 1);
  EXPECT_TRUE(was_sent("N 300 " + carol)) << published_;
  // Only the head's end makes a new head.
  EXPECT_FALSE(ask(bob));
  published_.clear();
  EXPECT_EQ(run(scripts::queued_cancel, {bob}).integer, 1);
  EXPECT_EQ(published_, "");
}

// Only the named hold is released. Its owner is notified after the next holder.
TEST_F(queued_scripts, hazard_17_force_ends_the_hold_that_was_named_and_tells_its_owner) {
  take(alice);
  EXPECT_EQ(run(scripts::queued_release, {bob, "0", "force"}).integer, 0);
  EXPECT_EQ(held(), alice);
  EXPECT_FALSE(was_sent("R "));
  server_.call({"RPUSH", "lock:q", bob});
  EXPECT_EQ(run(scripts::queued_release, {alice, "0", "force"}).integer, 2);
  EXPECT_EQ(held(), bob);
  EXPECT_TRUE(was_sent("R " + alice)) << published_;
  EXPECT_LT(published_.find("G "), published_.find("R "));
  EXPECT_FALSE(renew(alice));
  published_.clear();
  EXPECT_EQ(run(scripts::queued_release, {bob, "0", "force"}).integer, 1);
  EXPECT_EQ(held(), "");
  EXPECT_TRUE(was_sent("R " + bob));
}

// One request renews many locks. Each lock has a result of its own, that of queued_renew.
TEST_F(queued_scripts, hazard_17_renewing_many_locks_decides_about_each) {
  const auto put = [&](const std::string& key, const std::string& value, const char* ttl_ms) {
    server_.call({"SET", key, value, "PX", ttl_ms});
  };
  put("mine", alice, "500");
  put("wanted", alice + "*", "1500");
  put("others", bob, "500");
  put("over", alice + "*", "900");
  server_.call({"RPUSH", "foreign", "x"});
  arguments command{"EVAL",   std::string(scripts::queued_renew_many.text),
                    "6",      "mine",
                    "gone",   "wanted",
                    "others", "over",
                    "foreign"};
  for (int i = 0; i < 6; ++i) command.insert(command.end(), {alice, "2000"});
  const auto reply = server_.call(command);
  std::vector<std::int64_t> results;
  for (const auto& item : reply.items) results.push_back(item.integer);
  EXPECT_EQ(results, (std::vector<std::int64_t>{1, 0, 2, -1, 0, -2}));
  const auto left = [&](const std::string& key) { return server_.call({"PTTL", key}).integer; };
  EXPECT_EQ(left("mine"), 2000);
  EXPECT_EQ(left("gone"), -2);
  EXPECT_EQ(left("wanted"), 3000);
  EXPECT_EQ(left("others"), 500);
  EXPECT_EQ(left("over"), 900);
  EXPECT_EQ(left("foreign"), -1);
}

}  // namespace
}  // namespace mortise::simulation::queued_scripts_test
