// The scripts of read-write locks and semaphores, step by step, where a whole run would show a
// defect too seldom.
#include "simulation/lock/shared_scripts.hpp"

namespace mortise::simulation::shared_scripts_test {
namespace {

TEST_F(shared_scripts, a_dead_readers_hold_lapses_while_another_reads_on) {
  EXPECT_TRUE(read(alice));
  EXPECT_TRUE(read(bob));
  pass_ms(400);
  EXPECT_TRUE(renew(bob, "1"));
  pass_ms(101);
  EXPECT_FALSE(renew(alice, "1")) << "a lease that is over is not renewed (hazard 17)";
  EXPECT_FALSE(write(carol, "try"));
  EXPECT_EQ(in_use(), 1);
  EXPECT_TRUE(holds("1 " + bob));
}

TEST_F(shared_scripts, a_lease_lasts_to_its_last_millisecond) {
  EXPECT_TRUE(read(alice));
  pass_ms(500);
  EXPECT_FALSE(write(bob, "try"));
  pass_ms(1);
  EXPECT_TRUE(write(bob, "try"));
}

TEST_F(shared_scripts, a_writer_who_only_reads_from_now_on_lets_readers_in) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_TRUE(renew(alice, "1"));
  EXPECT_TRUE(holds("1 " + alice));
  EXPECT_TRUE(holds("1 " + bob));
  EXPECT_TRUE(was_sent(" 0 " + bob)) << published_;
  EXPECT_EQ(in_use(), 2);
  EXPECT_FALSE(renew(alice, whole)) << "a part does not become the whole by a renewal";
}

TEST_F(shared_scripts, a_raise_needs_to_be_alone_and_keeps_the_lease) {
  EXPECT_TRUE(read(alice));
  EXPECT_TRUE(read(bob));
  EXPECT_EQ(raise(alice), 0);
  EXPECT_EQ(release(bob, "1"), 1);
  pass_ms(100);
  const auto lease_end = server_.find("lock")->scores.at("1 " + alice);
  EXPECT_EQ(raise(alice), 1);
  EXPECT_EQ(raise(alice), 1) << "its answer may have been lost";
  EXPECT_EQ(server_.find("lock")->scores.at(whole + " " + alice), lease_end);
  EXPECT_EQ(raise(bob), -1);
  pass_ms(401);
  EXPECT_EQ(raise(alice), -1);
}

TEST_F(shared_scripts, what_was_raised_without_an_answer_is_given_back_all_the_same) {
  EXPECT_TRUE(read(alice));
  EXPECT_EQ(raise(alice), 1);
  EXPECT_EQ(cancel(alice, "1"), 2);
  EXPECT_EQ(server_.find("lock"), nullptr);
  EXPECT_TRUE(read(bob));
  EXPECT_EQ(raise(bob), 1);
  EXPECT_EQ(release(bob, "1"), 1);
  EXPECT_EQ(server_.find("lock"), nullptr);
}

TEST_F(shared_scripts, a_dead_head_holds_nobody_back_for_long) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol));
  EXPECT_FALSE(read(carol, "again")) << "a living writer is before it";
  die("b");
  EXPECT_TRUE(read(carol, "again"));
}

TEST_F(shared_scripts, hazard_16_a_ghost_that_queues_a_waiter_twice_does_not_count_it_twice) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob, "again"));
  EXPECT_FALSE(read(bob)) << "its first question, by a connection that broke, comes last";
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_EQ(in_use(), 1);
  EXPECT_EQ(release(bob, "1"), 1);
  EXPECT_TRUE(write(carol));
}

TEST_F(shared_scripts, the_dead_do_not_keep_a_free_lock_from_a_try) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  die("b");
  pass_ms(501);
  EXPECT_TRUE(read(carol, "try"));
}

TEST_F(shared_scripts, the_dead_are_not_let_in) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_FALSE(read(carol));
  die("b");
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_EQ(in_use(), 1);
  EXPECT_FALSE(holds("1 " + bob));
}

// A hold that has ended is given back late, when the name is that of another kind of lock.
TEST_F(shared_scripts, no_step_touches_a_key_of_another_kind) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  server_.call({"DEL", "lock"});
  EXPECT_EQ(semaphore(scripts::shared_acquire, carol, "2").items.at(0).integer, 1);
  pass_ms(501);  // its lease is over too, but it is not ours to end
  server_.call({"PEXPIRE", "lock", "1000"});
  server_.call({"ZADD", "lock", "-2", "semaphore", "5", "2 " + carol});
  const auto before = *server_.find("lock");
  EXPECT_EQ(release(alice, "1"), 0);
  EXPECT_FALSE(renew(alice, "1"));
  EXPECT_EQ(raise(alice), -1);
  EXPECT_EQ(cancel(alice, "1"), 0);
  EXPECT_TRUE(rw(scripts::shared_acquire, bob, whole, "again").is_error());
  EXPECT_TRUE(rw(scripts::shared_query, bob, whole).is_error());
  EXPECT_EQ(cancel(bob, whole), 1);
  EXPECT_EQ(*server_.find("lock"), before);
}

TEST_F(shared_scripts, a_waiter_for_more_than_there_is_now_is_sent_to_ask) {
  EXPECT_EQ(semaphore(scripts::shared_acquire, alice, "2").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "3").items.at(0).integer, 0);
  EXPECT_EQ(semaphore(scripts::shared_acquire, carol, "1").items.at(0).integer, 0);
  EXPECT_EQ(semaphore(scripts::semaphore_resize, "", "1", "2").integer, 3);
  EXPECT_TRUE(was_sent("N 0 " + bob)) << published_;
  EXPECT_FALSE(holds("1 " + carol));
  EXPECT_TRUE(semaphore(scripts::shared_acquire, bob, "3").is_error());
  EXPECT_EQ(semaphore(scripts::shared_release, alice, "2").integer, 2);
  EXPECT_TRUE(holds("1 " + carol));
}

TEST_F(shared_scripts, a_refused_request_sets_no_number_of_permits) {
  EXPECT_TRUE(semaphore(scripts::shared_acquire, alice, "3", "2").is_error());
  EXPECT_EQ(server_.find("lock:permits"), nullptr);
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "3", "10").items.at(0).integer, 1);
  EXPECT_TRUE(semaphore(scripts::shared_acquire, carol, "11", "20").is_error())
      << "the number of the first user counts";
}

TEST_F(shared_scripts, what_was_free_ends_with_its_lease) {
  const auto ttl = [&](const char* key) { return server_.call({"PTTL", key}).integer; };
  EXPECT_TRUE(write(alice));
  EXPECT_EQ(ttl("lock"), 500);
  pass_ms(501);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "2").items.at(0).integer, 1);
    EXPECT_EQ(ttl("lock"), 500);
    EXPECT_EQ(ttl("lock:permits"), 500 + 86'400'000) << "known for a day after its last use";
    pass_ms(501);
  }
  EXPECT_TRUE(semaphore(scripts::shared_acquire, bob, "4", "4").is_error()) << "there are three";
  EXPECT_EQ(server_.find("lock"), nullptr);
}

TEST_F(shared_scripts, hazard_30_a_free_lock_has_no_token_of_a_lost_counter) {
  for (const auto* lost : {"7", "no number"}) {
    server_.call({"SET", "fence", lost});
    const auto taken = rw(scripts::shared_acquire, alice, whole);
    EXPECT_EQ(taken.items.at(0).integer, 1);
    EXPECT_GE(taken.items.at(1).integer, now_us_);
    EXPECT_EQ(release(alice, whole), 1);
  }
}

TEST_F(shared_scripts, what_is_free_is_for_those_who_wait) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(write(bob));
  server_.call({"DEL", "lock"});
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_TRUE(holds(whole + " " + bob));
}

TEST_F(shared_scripts, a_release_that_nobody_waits_for_ends_its_owners_hold_alone) {
  EXPECT_TRUE(read(alice));
  EXPECT_TRUE(read(bob));
  EXPECT_TRUE(read(carol));
  EXPECT_EQ(release(bob, "1"), 1);
  EXPECT_EQ(release(bob, "1"), 0);
  EXPECT_TRUE(holds("1 " + alice) && holds("1 " + carol) && !holds("1 " + bob));
  EXPECT_EQ(in_use(), 2);
  EXPECT_EQ(release(carol, "1"), 1);
  EXPECT_EQ(release(bob, "1"), 0) << "hazard 17";
  EXPECT_EQ(in_use(), 1);
  EXPECT_EQ(release(alice, "1"), 1);
  EXPECT_EQ(server_.find("lock"), nullptr);
}

TEST_F(shared_scripts, a_renewal_leaves_the_longer_lease_of_another) {
  const auto ttl = [&] { return server_.call({"PTTL", "lock"}).integer; };
  EXPECT_TRUE(read(alice));
  pass_ms(300);
  EXPECT_TRUE(read(bob));
  EXPECT_EQ(ttl(), 500);
  EXPECT_EQ(server_
                .call({"EVAL", std::string(scripts::shared_renew.text), "3", "lock", "fence",
                       "lock:rq", alice, "100", "0", "1"})
                .items.at(0)
                .integer,
            1);
  EXPECT_EQ(ttl(), 500);
  EXPECT_TRUE(renew(alice, "1"));
  pass_ms(100);
  EXPECT_TRUE(renew(alice, "1"));
  EXPECT_EQ(ttl(), 500);
}

// While its slot is being moved.
TEST_F(shared_scripts, hazard_29_a_renewal_of_one_key_prolongs_its_owners_hold_only) {
  const auto renew_alone = [&](const std::string& owner, const std::string& permits) {
    return server_.call({"EVAL", std::string(scripts::shared_renew_alone.text), "1", "lock", owner,
                         "500", "0", permits});
  };
  const auto is_renewed = [&](const std::string& owner, const std::string& permits) {
    return renew_alone(owner, permits).items.at(0).integer == 1;
  };
  EXPECT_FALSE(is_renewed(alice, "1")) << "nobody holds";
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(is_renewed(bob, "1"));
  pass_ms(400);
  EXPECT_TRUE(is_renewed(alice, "1"));
  pass_ms(400);
  EXPECT_TRUE(holds("1 " + alice));
  EXPECT_TRUE(renew(alice, "1")) << "not over";
  EXPECT_TRUE(read(bob));
  pass_ms(400);
  EXPECT_TRUE(is_renewed(bob, "1"));
  pass_ms(200);
  EXPECT_FALSE(is_renewed(alice, "1")) << "its lease is over, and the key is still there";
  EXPECT_EQ(release(bob, "1"), 1);
  EXPECT_TRUE(write(alice));
  EXPECT_TRUE(is_renewed(alice, whole));
  const auto lowered = renew_alone(alice, "1");
  EXPECT_EQ(lowered.text.substr(0, 8), "TRYAGAIN") << "readers that wait would have to be let in";
  EXPECT_TRUE(is_renewed(alice, whole));
}

// All keys are still at the old server. There the script cannot access a key that it has emptied.
TEST_F(shared_scripts, hazard_29_an_upgrade_and_a_downgrade_in_a_moving_slot_keep_the_hold) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  server_.fault.moves_slot = true;
  const auto raised = rw(scripts::shared_raise, alice, "1");
  EXPECT_FALSE(raised.is_error()) << raised.text;
  EXPECT_TRUE(holds(whole + " " + alice) && !holds("1 " + alice));
  EXPECT_EQ(server_.call({"PTTL", "lock"}).integer, 500);
  const auto lowered = rw(scripts::shared_renew, alice, "1", "0");
  EXPECT_FALSE(lowered.is_error()) << lowered.text;
  EXPECT_TRUE(holds("1 " + alice) && !holds(whole + " " + alice));
  EXPECT_EQ(in_use(), 1);
  EXPECT_EQ(server_.call({"PTTL", "lock"}).integer, 500);
}

// Memory is needed to store a hold, but not to change its entry after the first write.
TEST_F(shared_scripts, hazard_13_a_downgrade_needs_no_memory) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  pass_ms(400);
  server_.fault.is_out_of_memory = true;
  EXPECT_TRUE(renew(alice, "1"));
  EXPECT_EQ(server_.find("lock")->scores.at("1 " + alice), double(now_us_ / 1000 + 500));
}

TEST_F(shared_scripts, a_renewal_draws_tokens_for_the_owner_only) {
  const auto fence = [&] { return server_.call({"INCRBY", "fence", "0"}).integer; };
  EXPECT_TRUE(write(alice));
  const auto before = fence();
  const auto renewal = rw(scripts::shared_renew, alice, whole, "5");
  EXPECT_EQ(renewal.items.at(1).integer, before + 5);
  EXPECT_EQ(fence(), before + 5);
  EXPECT_EQ(rw(scripts::shared_renew, alice, whole, "0").items.at(1).integer, 0);
  EXPECT_EQ(rw(scripts::shared_renew, bob, whole, "5").items.size(), 1U);
  EXPECT_EQ(fence(), before + 5);
  // Of a downgrade, too: below the token of the readers that it lets in.
  EXPECT_FALSE(read(bob));
  EXPECT_EQ(rw(scripts::shared_renew, alice, "1", "3").items.at(1).integer, before + 8);
  EXPECT_TRUE(was_sent("G " + std::to_string(before + 9) + " ")) << published_;
  EXPECT_EQ(fence(), before + 9);
}

// A listener to the inbox learns the secret with the grant, and no earlier.
TEST_F(shared_scripts, hazard_32_only_a_grant_has_the_secret_of_its_waiter) {
  const auto wait = [&](const std::string& owner, const std::string& permits,
                        const std::string& secret) {
    server_.call({"EVAL", std::string(scripts::shared_acquire.text), "3", "lock", "fence",
                  "lock:rq", owner, "500", "wait", permits, whole, secret});
  };
  EXPECT_TRUE(write(alice));
  wait(bob, "1", "secret-b");
  wait(carol, whole, "secret-c");
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_TRUE(holds("1 " + bob));
  EXPECT_TRUE(was_sent(" 1 " + bob + " secret-b")) << published_;
  EXPECT_TRUE(was_sent("N ")) << published_;
  EXPECT_FALSE(was_sent("secret-c")) << published_;
  EXPECT_EQ(cancel(carol, whole), 0) << "without the secret";
}

TEST_F(shared_scripts, a_renewal_tells_whether_others_wait) {
  EXPECT_TRUE(write(alice));
  EXPECT_EQ(rw(scripts::shared_renew, alice, whole, "0").items.at(4).integer, 0);
  EXPECT_FALSE(read(bob));
  EXPECT_EQ(rw(scripts::shared_renew, alice, whole, "0").items.at(4).integer, 1);
  EXPECT_EQ(rw(scripts::shared_acquire, alice, whole).items.at(4).integer, 1) << "asked again";
  EXPECT_EQ(rw(scripts::shared_renew, alice, "1", "0").items.at(4).integer, 0) << "all are in";
  EXPECT_FALSE(write(carol));
  EXPECT_EQ(rw(scripts::shared_renew, bob, "1", "0").items.at(4).integer, 1);
}

// The clients of the holders then retain none of these permits.
TEST_F(shared_scripts, a_resize_below_the_permits_in_use_is_reported_like_a_waiter) {
  const std::string one = "m1:a:3.1r::550";
  const auto is_reported = [&] {
    return server_
               .call({"EVAL", std::string(scripts::shared_renew.text), "4", "lock", "fence",
                      "lock:sq", "lock:permits", one, "500", "0", "1"})
               .items.at(4)
               .integer == 1;
  };
  EXPECT_EQ(semaphore(scripts::shared_acquire, one, "1").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "1").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::semaphore_resize, "", "0", "2").integer, 3);
  EXPECT_FALSE(was_sent("W ")) << published_;
  EXPECT_FALSE(is_reported());
  EXPECT_EQ(semaphore(scripts::semaphore_resize, "", "0", "1").integer, 2);
  EXPECT_TRUE(was_sent("W " + one)) << published_;
  EXPECT_FALSE(was_sent("W " + bob)) << published_;
  EXPECT_TRUE(is_reported()) << "the message may have been lost";
  EXPECT_EQ(semaphore(scripts::shared_release, bob, "1").integer, 1);
  EXPECT_FALSE(is_reported());
}

TEST_F(shared_scripts, a_downgrade_tells_whether_others_wait_on) {
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_FALSE(write(carol));
  EXPECT_EQ(rw(scripts::shared_renew, alice, "1", "0").items.at(4).integer, 1);
}

TEST_F(shared_scripts, the_first_who_waits_tells_those_who_give_way) {
  const std::string one = "m1:a:3.1r:a: label*9:550";
  const std::string other = "m1:b:12.34s::550";
  EXPECT_TRUE(read(one));
  EXPECT_TRUE(read(other));
  EXPECT_TRUE(read("m1:a:4.1::550"));
  EXPECT_TRUE(read("m1:a:5.1:.1rs::550"));
  EXPECT_FALSE(write(carol, "try"));
  EXPECT_FALSE(was_sent("W ")) << "it does not wait";
  EXPECT_FALSE(write(carol));
  EXPECT_TRUE(was_sent("W " + one) && was_sent("W " + other)) << published_;
  EXPECT_FALSE(was_sent("W m1:a:4.") || was_sent("W m1:a:5.")) << published_;
  published_.clear();
  EXPECT_FALSE(read("m1:c:2.1::550"));
  EXPECT_FALSE(write(carol, "again"));
  EXPECT_FALSE(was_sent("W ")) << published_;
}

TEST_F(shared_scripts, no_more_than_a_hundred_holders_are_notified) {
  for (int i = 0; i < 150; ++i) EXPECT_TRUE(read("m1:a:" + std::to_string(i) + ".1r::550"));
  EXPECT_FALSE(write(carol));
  int count = 0;
  for (auto at = published_.find("W m1:"); at != std::string::npos;
       at = published_.find("W m1:", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 100);
}

TEST_F(shared_scripts, a_grant_tells_whether_others_wait_on) {
  const std::string dave = "m1:a:7.1::550";
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_FALSE(read(dave));
  EXPECT_EQ(release(alice, whole), 2);
  EXPECT_TRUE(was_sent(" 0 " + bob) && was_sent(" 0 " + dave)) << "all are in: " << published_;
  EXPECT_FALSE(write(carol));
  EXPECT_FALSE(read(alice));
  EXPECT_EQ(release(bob, "1"), 1);
  published_.clear();
  EXPECT_EQ(release(dave, "1"), 2);
  EXPECT_TRUE(was_sent(" 1 " + carol)) << published_;
  // The same behind many waiters that fit.
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(read("m1:b:" + std::to_string(i) + ".1::550"));
  EXPECT_FALSE(write(bob));
  published_.clear();
  EXPECT_EQ(release(carol, whole), 2);
  EXPECT_TRUE(was_sent(" 1 " + alice) && was_sent(" 1 m1:b:49.1::550")) << published_;
  EXPECT_FALSE(was_sent(" 0 m1:")) << published_;
}

TEST_F(shared_scripts, a_request_that_finds_room_returns_whether_others_wait) {
  const std::string dave = "m1:a:7.1::550";
  EXPECT_TRUE(write(alice));
  EXPECT_FALSE(read(bob));
  EXPECT_FALSE(write(carol));
  EXPECT_FALSE(read(dave));
  pass_ms(501);  // alice is dead
  const auto found = rw(scripts::shared_acquire, bob, "1", "again");
  EXPECT_EQ(found.items.at(0).integer, 1);
  EXPECT_EQ(found.items.at(4).integer, 1);
  EXPECT_EQ(rw(scripts::shared_acquire, bob, "1", "again").items.at(4).integer, 1);
}

// Each hold of the owner, which the requesting client does not know.
TEST_F(shared_scripts, hazard_17_force_ends_all_that_one_owner_has_and_tells_it) {
  EXPECT_EQ(semaphore(scripts::shared_acquire, alice, "2").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::shared_acquire, carol, "1").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "2").items.at(0).integer, 0);
  const auto force = [&](const std::string& owner) {
    return server_
        .call({"EVAL", std::string(scripts::shared_release.text), "4", "lock", "fence", "lock:sq",
               "lock:permits", owner, "0", "force", "1", "3"})
        .integer;
  };
  EXPECT_EQ(force("semaphore"), 0);
  EXPECT_EQ(force(bob), 0);
  EXPECT_FALSE(was_sent("R "));
  EXPECT_EQ(force(alice), 2);
  EXPECT_FALSE(holds("2 " + alice));
  EXPECT_TRUE(holds("1 " + carol) && holds("2 " + bob));
  EXPECT_TRUE(was_sent("R " + alice)) << published_;
  EXPECT_LT(published_.find("G "), published_.find("R "));
  EXPECT_EQ(force(carol), 1);
  EXPECT_TRUE(was_sent("R " + carol)) << published_;
}

}  // namespace
}  // namespace mortise::simulation::shared_scripts_test
