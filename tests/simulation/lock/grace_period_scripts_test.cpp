// What handshakes record after a server restart or the loss of connections, and how the steps treat
// waiters without a subscription in the meantime.
#include <gtest/gtest.h>

#include <string>

#include "simulation/lock/shared_scripts.hpp"

namespace mortise::simulation::grace_period_scripts_test {
namespace {

const std::string dave = "m1:a:7.1::550";
constexpr std::int64_t life_ms = 7'776'000'000;
constexpr int deaths = 16;

// A waiter whose process dies.
std::string dead(int number) { return "m1:d" + std::to_string(number) + ":1.1::550"; }

class grace_period_scripts : public shared_scripts {
 protected:
  grace_period_scripts() {
    greet("new");
    for (int number = 0; number < deaths; ++number) subscribe("d" + std::to_string(number));
  }
  void greet(const std::string& who) {
    const auto command = server_.call(
        {"EVAL", std::string(scripts::seed.text), "2", "mortise:server", "fence", who, "0"});
    ASSERT_EQ(command.integer, now_us_);
  }
  // For how long it is noted to be in its grace period.
  std::int64_t noted_ms() { return server_.call({"PTTL", "fence"}).integer - life_ms; }
  // The server comes back with its data, and live clients reconnect.
  void come_back() {
    for (const auto* client : {"a", "b", "c"}) die(client);
    server_.restart(server_.all_data());
  }
  std::int64_t queued(const redis::script& script, const std::string& owner,
                      const std::string& mode = "again") {
    const auto command = server_.call(
        {"EVAL", std::string(script.text), "3", "mutex", "fence", "mutex:q", owner, "500", mode});
    return command.items.empty() ? command.integer : command.items[0].integer;
  }
  bool ask(const std::string& owner) { return queued(scripts::queued_acquire, owner) == 1; }
  std::string mutex() {
    const auto* const lock = server_.find("mutex");
    return lock == nullptr ? "" : lock->text;
  }
  std::int64_t ttl(const char* key) { return server_.call({"PTTL", key}).integer; }
  // Their processes die, and another client loses its connection.
  void cut_off() {
    for (int number = 0; number < deaths; ++number) die("d" + std::to_string(number));
    greet("back");
  }
  // One client flaps. Returns after how many ms the condition is true.
  template <typename Asking>
  std::int64_t flap_until(Asking is_there) {
    for (std::int64_t passed = 0; passed < 60'000; passed += 100) {
      if (is_there()) return passed;
      pass_ms(100);
      greet("back");
    }
    return 60'000;
  }
};

// ---- handshakes ------------------------------------------------------------------------------

TEST_F(grace_period_scripts, the_first_client_of_a_server_finds_it_settled) {
  EXPECT_EQ(noted_ms(), 0);
  greet("new");
  EXPECT_EQ(noted_ms(), 0);
}

TEST_F(grace_period_scripts, whoever_meets_another_run_first_notes_it) {
  come_back();
  greet("new");
  EXPECT_EQ(noted_ms(), 5000);
  pass_ms(1000);
  greet("new");
  greet("back");
  EXPECT_EQ(noted_ms(), 4000);
  pass_ms(4000);
  EXPECT_EQ(noted_ms(), 0);
}

TEST_F(grace_period_scripts, whoever_has_lost_a_connection_notes_it) {
  greet("back");
  EXPECT_EQ(noted_ms(), 2000);
  pass_ms(1500);
  greet("back");
  EXPECT_EQ(noted_ms(), 2000);
  pass_ms(1500);
  greet("new");
  EXPECT_EQ(noted_ms(), 500);
}

TEST_F(grace_period_scripts, a_server_without_data_is_settled) {
  server_.restart({});
  greet("new");
  EXPECT_EQ(noted_ms(), 0);
}

TEST_F(grace_period_scripts, a_key_of_another_type_names_no_run) {
  server_.call({"DEL", "mortise:server"});
  server_.call({"RPUSH", "mortise:server", "a list"});
  greet("new");
  EXPECT_EQ(noted_ms(), 0);
  come_back();
  greet("new");
  EXPECT_EQ(noted_ms(), 5000);
}

// ---- a mutex --------------------------------------------------------------------------------

TEST_F(grace_period_scripts, hazard_24_the_next_is_granted_the_lock_although_nobody_hears_it) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  come_back();
  greet("new");
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  EXPECT_EQ(mutex(), bob + "*") << "carol waits";
  EXPECT_EQ(ttl("mutex"), 5000 + 1000) << "and the queue's turn";
  EXPECT_TRUE(ask(bob));
  EXPECT_EQ(queued(scripts::queued_release, bob), 2);
  EXPECT_EQ(mutex(), carol);
  EXPECT_EQ(ttl("mutex"), 5000);
}

TEST_F(grace_period_scripts, a_grant_that_nobody_hears_lasts_no_less_than_another) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(bob));
  come_back();
  greet("new");
  pass_ms(4900);
  EXPECT_FALSE(ask(carol)) << "bob came before";
  EXPECT_EQ(mutex(), bob + "*");
  EXPECT_EQ(ttl("mutex"), 550 + 1000);
}

TEST_F(grace_period_scripts, the_dead_are_passed_when_the_server_is_settled_again) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(bob));
  come_back();
  greet("new");
  pass_ms(450);
  EXPECT_TRUE(ask(alice));
  for (int round = 0; round < 12; ++round) {
    pass_ms(400);
    EXPECT_TRUE(ask(alice));
  }
  EXPECT_EQ(queued(scripts::queued_release, alice), 1);
  EXPECT_EQ(mutex(), "");
}

TEST_F(grace_period_scripts, a_clock_that_was_set_back_unsettles_nothing) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(bob));
  die("b");
  now_us_ -= 3'600'000'000;
  EXPECT_EQ(queued(scripts::queued_release, alice), 1);
  EXPECT_EQ(mutex(), "");
}

TEST_F(grace_period_scripts, whoever_becomes_the_head_unheard_stays_it) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  come_back();
  greet("new");
  EXPECT_EQ(server_
                .call({"EVAL", std::string(scripts::queued_cancel.text), "3", "mutex", "fence",
                       "mutex:q", bob})
                .integer,
            1);
  EXPECT_EQ(server_.call({"LINDEX", "mutex:q", "0"}).text, carol);
  EXPECT_EQ(mutex(), alice + "*");
}

TEST_F(grace_period_scripts, dead_waiters_cost_one_grace_period_at_any_place) {
  EXPECT_TRUE(ask(alice));
  for (int number = 0; number < 8; ++number) EXPECT_FALSE(ask(dead(number)));
  EXPECT_FALSE(ask(bob));
  for (int number = 8; number < 16; ++number) EXPECT_FALSE(ask(dead(number)));
  EXPECT_FALSE(ask(carol));
  cut_off();
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  EXPECT_EQ(mutex(), dead(0) + "*");
  EXPECT_EQ(flap_until([&] { return ask(bob); }), 2100);
  EXPECT_EQ(queued(scripts::queued_release, bob), 2);
  EXPECT_EQ(mutex(), carol) << "the dead waiters behind bob were removed, too";
}

TEST_F(grace_period_scripts, a_waiter_that_disconnects_later_has_a_grace_period_too) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(dead(0)));
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  EXPECT_FALSE(ask(dave));
  cut_off();
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  EXPECT_EQ(flap_until([&] { return ask(bob); }), 2100);
  die("c");
  EXPECT_EQ(queued(scripts::queued_release, bob), 2);
  EXPECT_EQ(mutex(), carol + "*");
  EXPECT_EQ(ttl("mutex"), 2000 + 1000);
}

TEST_F(grace_period_scripts, a_look_does_not_end_a_grace_period) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(dead(0)));
  EXPECT_FALSE(ask(dead(1)));
  EXPECT_FALSE(ask(bob));
  EXPECT_FALSE(ask(carol));
  cut_off();
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  EXPECT_EQ(flap_until([&] { return ask(carol) || ask(bob); }), 2100);
  EXPECT_EQ(mutex(), bob + "*");
}

// Waiters far back look seldom. By then it is unknown for how long the others were disconnected.
TEST_F(grace_period_scripts, a_grace_period_that_ended_long_ago_is_ignored) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(dead(0)));
  EXPECT_FALSE(ask(dead(1)));
  EXPECT_FALSE(ask(bob));
  cut_off();
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  pass_ms(2000 + 5000);
  greet("back");
  EXPECT_FALSE(ask(bob));
  EXPECT_EQ(mutex(), dead(1) + "*");
}

// Live clients reconnect between any two restarts.
TEST_F(grace_period_scripts, repeated_restarts_cost_one_grace_period) {
  EXPECT_TRUE(ask(alice));
  EXPECT_FALSE(ask(dead(0)));
  EXPECT_FALSE(ask(dead(1)));
  EXPECT_FALSE(ask(bob));
  cut_off();
  EXPECT_EQ(queued(scripts::queued_release, alice), 2);
  std::int64_t passed = 0;
  for (; passed < 60'000 && !ask(bob); passed += 300) {
    server_.restart(server_.all_data());
    pass_ms(300);
    greet("new");
  }
  EXPECT_LE(passed, 2000 + 300);
}

// ---- parts ----------------------------------------------------------------------------------

TEST_F(grace_period_scripts, hazard_24_whoever_has_room_is_let_in_although_nobody_hears_it) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_FALSE(read(dave));
  EXPECT_FALSE(write(carol));
  come_back();
  greet("new");
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_TRUE(holds("1 " + bob));
  EXPECT_TRUE(holds("1 " + dave));
  EXPECT_EQ(ttl("lock"), 5000);
  EXPECT_EQ(server_.call({"LINDEX", "lock:rq", "0"}).text, whole + " " + carol);
  // A new head that is not connected keeps its place for a grace period.
  EXPECT_EQ(ttl("lock:rq"), 360'000 + 5000);
  EXPECT_TRUE(read(bob, "again"));
  EXPECT_EQ(release(bob, "1"), 1);
  EXPECT_EQ(release(dave, "1"), 2);
  EXPECT_TRUE(holds(whole + " " + carol));
}

TEST_F(grace_period_scripts, a_head_that_nobody_hears_is_passed_by_nobody) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  come_back();
  greet("new");
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_FALSE(read(carol));
  EXPECT_FALSE(read(dave));
  // The time for which the server was down does not count as silence of its waiters.
  server_.call({"PEXPIRE", "lock:rq", "200000"});
  EXPECT_FALSE(read(carol, "again"));
}

// It is subscribed before it asks.
TEST_F(grace_period_scripts, a_head_that_is_just_back_is_not_called_silent) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  for (const auto* client : {"a", "c"}) die(client);
  server_.restart(server_.all_data());
  greet("new");
  server_.call({"PEXPIRE", "lock:rq", "200000"});
  EXPECT_FALSE(read(carol));
  EXPECT_EQ(server_.call({"LINDEX", "lock:rq", "0"}).text, whole + " " + bob);
}

TEST_F(grace_period_scripts, a_dead_head_is_passed_when_the_server_is_settled_again) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  come_back();
  greet("new");
  for (int round = 0; round < 13; ++round) {
    EXPECT_FALSE(read(carol, "try"));
    pass_ms(400);
    EXPECT_TRUE(renew(alice, "1"));
  }
  EXPECT_TRUE(read(carol, "try"));
}

TEST_F(grace_period_scripts, dead_writers_cost_one_grace_period) {
  EXPECT_TRUE(write(alice));
  for (int number = 0; number < 8; ++number) EXPECT_FALSE(write(dead(number)));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(write(dead(8)));
  EXPECT_FALSE(write(carol));
  cut_off();
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_TRUE(holds(whole + " " + dead(0)));
  EXPECT_EQ(flap_until([&] { return write(bob, "again"); }), 2100);
  EXPECT_EQ(release(bob, whole), 2);
  EXPECT_TRUE(holds(whole + " " + carol));
}

TEST_F(grace_period_scripts, dead_waiters_for_permits_cost_one_grace_period) {
  EXPECT_EQ(semaphore(scripts::shared_acquire, alice, "3").items.at(0).integer, 1);
  for (int number = 0; number < 8; ++number) {
    EXPECT_EQ(semaphore(scripts::shared_acquire, dead(number), "2").items.at(0).integer, 0);
  }
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "2").items.at(0).integer, 0);
  cut_off();
  EXPECT_EQ(semaphore(scripts::shared_release, alice, "3").integer, 2);
  EXPECT_TRUE(holds("2 " + dead(0)));
  const auto look = [&] {
    return server_
               .call({"EVAL", std::string(scripts::shared_acquire.text), "4", "lock", "fence",
                      "lock:sq", "lock:permits", bob, "500", "again", "2", "3"})
               .items.at(0)
               .integer == 1;
  };
  EXPECT_EQ(flap_until(look), 2100);
}

TEST_F(grace_period_scripts, dead_heads_delay_others_by_one_grace_period) {
  EXPECT_TRUE(read(alice));
  for (int number = 0; number < 4; ++number) EXPECT_FALSE(write(dead(number)));
  cut_off();
  EXPECT_EQ(flap_until([&] { return renew(alice, "1") && read(bob, "try"); }), 2000);
}

TEST_F(grace_period_scripts, a_silent_head_is_asked_before_it_loses_its_place) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol));
  const auto look = [&] { return renew(alice, "1") && read(carol, "again"); };
  EXPECT_EQ(flap_until(look), 2000 + 1000);
  EXPECT_TRUE(was_sent("N 0 " + bob)) << published_;
}

}  // namespace
}  // namespace mortise::simulation::grace_period_scripts_test
