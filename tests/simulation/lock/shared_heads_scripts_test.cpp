// The head of a queue of readers, writers or permits while others hold. A live head keeps its
// place, and a dead or silent one loses it.
#include "simulation/lock/shared_scripts.hpp"

namespace mortise::simulation::shared_heads_scripts_test {
namespace {

class shared_heads_scripts : public shared_scripts {
 protected:
  // Lets time pass. Readers continue to read.
  void pass_while_alice_reads(std::int64_t ms) {
    for (; ms > 0; ms -= 400) {
      pass_ms(std::min<std::int64_t>(ms, 400));
      EXPECT_TRUE(renew(alice, "1"));
    }
  }
  std::int64_t place_of(const std::string& owner, const std::string& permits) {
    return rw(scripts::shared_acquire, owner, permits, "again").items.at(4).integer;
  }
  std::int64_t queue_ttl() { return server_.call({"PTTL", "lock:rq"}).integer; }
};

TEST_F(shared_heads_scripts, a_dead_writer_is_passed_by_a_try) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol, "try")) << "it lives";
  die("b");
  EXPECT_TRUE(read(carol, "try"));
  EXPECT_EQ(server_.find("lock:rq"), nullptr);
}

TEST_F(shared_heads_scripts, a_dead_writer_is_passed_by_a_newcomer_that_waits) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  die("b");
  EXPECT_TRUE(read(carol, "wait"));
}

TEST_F(shared_heads_scripts, all_the_dead_at_the_head_are_passed_at_once) {
  EXPECT_TRUE(read(alice));
  for (const auto* attempt : {"1", "2", "3"}) {
    EXPECT_FALSE(write("m1:b:1." + std::string(attempt) + "::550"));
    EXPECT_FALSE(read("m1:b:2." + std::string(attempt) + "::550"));
  }
  die("b");
  EXPECT_TRUE(read(carol, "try"));
}

TEST_F(shared_heads_scripts, behind_the_dead_the_living_are_before_a_newcomer) {
  const std::string dave = "m1:a:7.1::550";
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(write(dave));
  die("b");
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_TRUE(was_sent(" " + dave)) << "it is the head and has to know: " << published_;
  EXPECT_EQ(place_of(dave, whole), 0);
}

TEST_F(shared_heads_scripts, a_writer_that_looks_is_passed_by_nobody) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol));
  for (int round = 0; round < 20; ++round) {
    pass_while_alice_reads(1450);
    EXPECT_FALSE(read("m1:c:2.1::550", "try"));
    EXPECT_FALSE(read(carol, "again"));
    EXPECT_FALSE(write(bob, "again"));
  }
  EXPECT_EQ(release(alice, "1"), 2);
  EXPECT_TRUE(holds(whole + " " + bob));
}

TEST_F(shared_heads_scripts, a_silent_writer_is_asked_and_then_passed) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol));
  pass_while_alice_reads(1999);
  published_.clear();
  EXPECT_FALSE(read(carol, "again"));
  EXPECT_FALSE(was_sent(bob)) << published_;
  pass_ms(1);
  EXPECT_FALSE(read(carol, "again"));
  EXPECT_TRUE(was_sent("N 0 " + bob)) << published_;
  pass_while_alice_reads(999);
  EXPECT_FALSE(read(carol, "again"));
  pass_ms(1);
  EXPECT_TRUE(read(carol, "again"));
  // Should it live after all, it waits on behind all others.
  EXPECT_FALSE(write("m1:c:3.1::550"));
  EXPECT_EQ(place_of(bob, whole), 1);
}

TEST_F(shared_heads_scripts, a_writer_that_answers_keeps_its_place) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  for (int round = 0; round < 5; ++round) {
    pass_while_alice_reads(4000);  // such as when the server hangs
    EXPECT_FALSE(read(carol, "try"));
    pass_while_alice_reads(900);
    EXPECT_FALSE(write(bob, "again"));
  }
  EXPECT_EQ(place_of(bob, whole), 0);
}

// The life of the queue also says when its head sent something.
TEST_F(shared_heads_scripts, a_head_is_asked_after_the_clock_was_set_back) {
  for (const std::int64_t back_ms : {40'000, 100'000, 3'600'000}) {
    server_.call({"DEL", "lock", "lock:rq"});
    EXPECT_TRUE(read(alice));
    EXPECT_FALSE(write(bob));
    EXPECT_FALSE(read(carol));
    pass_ms(-back_ms);
    published_.clear();
    EXPECT_FALSE(read(carol, "again")) << back_ms;
    EXPECT_TRUE(was_sent("N 0 " + bob)) << back_ms << published_;
    pass_while_alice_reads(999);
    EXPECT_FALSE(read(carol, "again")) << back_ms;
    pass_ms(1);
    EXPECT_TRUE(read(carol, "again")) << back_ms << ", it has not answered";
  }
}

TEST_F(shared_heads_scripts, all_that_a_silent_client_has_at_the_head_is_passed_at_once) {
  EXPECT_TRUE(read(alice));
  for (const auto* attempt : {"1", "2", "3"}) {
    EXPECT_FALSE(write("m1:b:1." + std::string(attempt) + "::550"));
  }
  EXPECT_FALSE(read(carol));
  EXPECT_FALSE(write("m1:b:1.4::550"));
  pass_while_alice_reads(5000);
  EXPECT_TRUE(read(carol, "again"));
  EXPECT_EQ(server_.call({"LLEN", "lock:rq"}).integer, 1);
}

TEST_F(shared_heads_scripts, whoever_was_silent_for_long_is_passed_by_a_single_try) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  pass_while_alice_reads(5000);
  EXPECT_TRUE(read(carol, "try"));
}

TEST_F(shared_heads_scripts, only_its_own_looks_keep_a_head_alive) {
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(read(carol));
  for (int look = 0; look < 2; ++look) {
    pass_while_alice_reads(1400);
    EXPECT_FALSE(read(carol, "again"));
  }
  pass_while_alice_reads(1400);
  EXPECT_TRUE(read(carol, "again"));
}

TEST_F(shared_heads_scripts, a_new_head_has_as_long_as_the_one_before) {
  const std::string dave = "m1:a:7.1::550";
  EXPECT_TRUE(read(alice));
  EXPECT_FALSE(write(bob));
  EXPECT_FALSE(write(dave));
  pass_while_alice_reads(5000);
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_EQ(queue_ttl(), 300'000) << "bob was passed";
  pass_while_alice_reads(1999);
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_EQ(place_of(dave, whole), 0);
  EXPECT_EQ(queue_ttl(), 300'000);
  // A head that gives up leaves as much to the next.
  EXPECT_FALSE(read(carol));
  pass_while_alice_reads(1000);
  EXPECT_EQ(cancel(dave, whole), 1);
  EXPECT_TRUE(holds("1 " + carol));
}

TEST_F(shared_heads_scripts, those_for_permits_are_passed_alike) {
  const auto acquire = [&](const std::string& owner, const char* permits, const char* mode) {
    return server_
               .call({"EVAL", std::string(scripts::shared_acquire.text), "4", "lock", "fence",
                      "lock:sq", "lock:permits", owner, "60000", mode, permits, "3"})
               .items.at(0)
               .integer == 1;
  };
  const std::string dave = "m1:a:7.1::550";
  EXPECT_TRUE(acquire(alice, "1", "wait"));
  EXPECT_FALSE(acquire(bob, "3", "wait"));
  EXPECT_FALSE(acquire(dave, "3", "wait"));
  EXPECT_FALSE(acquire(carol, "1", "try"));
  pass_ms(5000);  // bob is silent
  EXPECT_FALSE(acquire(carol, "1", "try")) << "dave is before it now";
  die("a");
  EXPECT_TRUE(acquire(carol, "1", "try"));
}

// A holder has died, and the next to come is a try.
TEST_F(shared_heads_scripts, what_a_dead_holder_leaves_is_for_the_head) {
  const std::string dave = "m1:a:7.1::550";
  EXPECT_EQ(semaphore(scripts::shared_acquire, alice, "1").items.at(0).integer, 1);
  pass_ms(400);
  EXPECT_EQ(semaphore(scripts::shared_acquire, dave, "1").items.at(0).integer, 1);
  EXPECT_EQ(semaphore(scripts::shared_acquire, bob, "2").items.at(0).integer, 0);
  pass_ms(101);  // alice's lease is over
  EXPECT_EQ(server_
                .call({"EVAL", std::string(scripts::shared_acquire.text), "4", "lock", "fence",
                       "lock:sq", "lock:permits", carol, "500", "try", "1", "3"})
                .items.at(0)
                .integer,
            0);
  EXPECT_TRUE(holds("2 " + bob));
}

}  // namespace
}  // namespace mortise::simulation::shared_heads_scripts_test
