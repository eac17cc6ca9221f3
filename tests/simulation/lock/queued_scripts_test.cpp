// The scripts of `queued`, step by step, where a whole run would show a defect too seldom.
#include <gtest/gtest.h>

#include <map>
#include <string>

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
      listener.send = [this](std::string bytes) { told_ += bytes; };
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
  // Nobody hears any more what is published to this client.
  void die(const std::string& client) { server_.disconnect(*inboxes_.at(client)); }
  [[nodiscard]] bool was_told(const std::string& message) const {
    return told_.find(message) != std::string::npos;
  }
  void pass_ms(std::int64_t ms) { now_us_ += ms * 1000; }
  std::string held() {
    const auto* const lock = server_.find("lock");
    return lock == nullptr ? "" : lock->text;
  }

  std::int64_t now_us_ = 1'790'000'000'000'000;
  simulated_redis server_{[this] { return now_us_; }};
  std::map<std::string, session*> inboxes_;
  std::string told_;
};

// A lease ended while somebody waited, and another took the free lock by the cheap way. When it
// asks again, because its answer was lost, it has to learn that others wait: its lock is not
// marked.
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

// The end of a lease belongs to those who wait: no newcomer takes the lock before the head has
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

// Who hands over to a waiter before it that may be silent is told when that grant ends.
TEST_F(queued_scripts, hazard_24_who_hands_over_learns_when_the_grant_ends) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  pass_ms(501);
  const auto said = run(scripts::queued_acquire, {carol, "500", "again"});
  ASSERT_EQ(said.items.size(), 5U);
  EXPECT_EQ(said.items[3].integer, 550);
  EXPECT_EQ(said.items[4].integer, 0);
  pass_ms(551);
  EXPECT_TRUE(ask(carol));
}

// The mark keeps a lock beyond its lease, for those who wait; nobody does any more.
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

TEST_F(queued_scripts, a_lock_is_handed_over_marked_when_more_wait_and_the_next_head_is_told) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  EXPECT_EQ(release_alone(alice), 3);
  EXPECT_EQ(release(alice), 2);
  EXPECT_TRUE(was_told("G ")) << told_;
  EXPECT_TRUE(was_told("N 550 " + carol)) << told_;
  // Whoever does not know of those behind may not delete the lock.
  EXPECT_EQ(release_alone(bob), 3);
  EXPECT_EQ(release(bob), 2);
  EXPECT_EQ(held(), carol);
  EXPECT_EQ(release_alone(carol), 1);
  EXPECT_EQ(held(), "");
}

TEST_F(queued_scripts, the_next_head_is_told_when_the_head_gives_up) {
  take(alice);
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  pass_ms(200);
  EXPECT_FALSE(was_told("N 300 " + carol)) << told_;
  EXPECT_EQ(run(scripts::queued_cancel, {bob}).integer, 1);
  EXPECT_TRUE(was_told("N 300 " + carol)) << told_;
  // Only the head's end makes a new head.
  EXPECT_FALSE(ask(bob));
  told_.clear();
  EXPECT_EQ(run(scripts::queued_cancel, {bob}).integer, 1);
  EXPECT_EQ(told_, "");
}

// Only the hold that was named, and its owner hears of it behind whoever has the lock now.
TEST_F(queued_scripts, hazard_17_force_ends_the_hold_that_was_named_and_tells_its_owner) {
  take(alice);
  EXPECT_EQ(run(scripts::queued_release, {bob, "0", "force"}).integer, 0);
  EXPECT_EQ(held(), alice);
  EXPECT_FALSE(was_told("R "));
  server_.call({"RPUSH", "lock:q", bob});
  EXPECT_EQ(run(scripts::queued_release, {alice, "0", "force"}).integer, 2);
  EXPECT_EQ(held(), bob);
  EXPECT_TRUE(was_told("R " + alice)) << told_;
  EXPECT_LT(told_.find("G "), told_.find("R "));
  EXPECT_FALSE(renew(alice));
  told_.clear();
  EXPECT_EQ(run(scripts::queued_release, {bob, "0", "force"}).integer, 1);
  EXPECT_EQ(held(), "");
  EXPECT_TRUE(was_told("R " + bob));
}

}  // namespace
}  // namespace mortise::simulation::queued_scripts_test
