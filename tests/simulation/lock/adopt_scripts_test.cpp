// The scripts that replace the owner token of an exported hold.
#include "simulation/lock/shared_scripts.hpp"

namespace mortise::simulation::adopt_scripts_test {
namespace {

const std::string exported = "m1:a:1.1::550";
const std::string id = "m1:a:1.2::550";

class adopt_scripts : public shared_scripts {
 protected:
  reply adopt_mutex(const std::string& owner, const std::string& from = exported,
                    const std::string& ttl = "500", const std::string& mode = "keep") {
    return server_.call({"EVAL", std::string(scripts::queued_adopt.text), "3", "lock", "fence",
                         "lock:q", owner, ttl, mode, from});
  }
  reply acquire_mutex(const std::string& owner, const std::string& mode) {
    return server_.call({"EVAL", std::string(scripts::queued_acquire.text), "3", "lock", "fence",
                         "lock:q", owner, "500", mode});
  }
  bool adopt_rw(const std::string& owner, const std::string& permits,
                const std::string& from = exported, const std::string& ttl = "500",
                const std::string& mode = "keep") {
    return server_
               .call({"EVAL", std::string(scripts::shared_adopt.text), "3", "lock", "fence",
                      "lock:rq", owner, ttl, mode, permits, from})
               .items.at(0)
               .integer == 1;
  }
  std::string held() {
    const auto* const lock = server_.find("lock");
    return lock == nullptr ? "" : lock->text;
  }
};

TEST_F(adopt_scripts, hazard_17_one_of_two_adopters_has_the_hold) {
  acquire_mutex(exported, "try");
  EXPECT_EQ(adopt_mutex(bob).items.at(0).integer, 1);
  EXPECT_EQ(held(), bob);
  EXPECT_EQ(adopt_mutex(carol).items.at(0).integer, 0);
  EXPECT_EQ(held(), bob);
}

TEST_F(adopt_scripts, hazard_15_an_adoption_may_be_repeated) {
  acquire_mutex(exported, "try");
  const auto first = adopt_mutex(bob);
  const auto again = adopt_mutex(bob);
  EXPECT_EQ(again.items.at(0).integer, 1);
  EXPECT_GT(again.items.at(1).integer, first.items.at(1).integer);
}

TEST_F(adopt_scripts, hazard_15_an_adoption_can_be_undone_without_a_loss_of_time) {
  acquire_mutex(exported, "try");
  EXPECT_EQ(adopt_mutex(id, exported, "9000", "set").items.at(3).integer, 9000);
  EXPECT_EQ(adopt_mutex(bob, id).items.at(3).integer, 9000);
  EXPECT_EQ(adopt_mutex(id, bob, "0").items.at(3).integer, 9000);
  EXPECT_EQ(held(), id);
  EXPECT_EQ(adopt_mutex(id, bob, "0").items.at(0).integer, 1) << "once more";
  EXPECT_EQ(adopt_mutex(carol, bob, "0").items.at(0).integer, 0);
  EXPECT_EQ(adopt_mutex(bob, id, "700", "set").items.at(3).integer, 700);
}

TEST_F(adopt_scripts, hazard_15_an_adoption_by_a_reader_can_be_undone_without_a_loss_of_time) {
  ASSERT_TRUE(read(exported));
  ASSERT_TRUE(adopt_rw(id, "1", exported, "9000", "set"));
  ASSERT_TRUE(adopt_rw(bob, "1", id));
  ASSERT_TRUE(adopt_rw(id, "1", bob, "0"));
  pass_ms(8999);
  EXPECT_FALSE(write(carol, "try"));
  EXPECT_TRUE(adopt_rw(bob, "1", id, "100", "set"));
  pass_ms(102);
  EXPECT_TRUE(write(carol, "try"));
}

// A key that lost its counter would be refused as that of another program.
TEST_F(adopt_scripts, hazard_15_an_adoption_is_undone_again_in_the_last_ms_of_the_lease) {
  ASSERT_TRUE(read(exported));
  ASSERT_TRUE(adopt_rw(id, "1", exported, "500", "set"));
  pass_ms(500);
  EXPECT_TRUE(adopt_rw(id, "1", bob, "0"));
  EXPECT_EQ(in_use(), 1);
  pass_ms(2);
  EXPECT_TRUE(write(carol, "try"));
}

// The id may have been adopted and exported again for longer in the meantime.
TEST_F(adopt_scripts, hazard_15_a_repeated_export_ends_no_lease_earlier) {
  acquire_mutex(exported, "try");
  adopt_mutex(id, exported, "9000", "set");
  EXPECT_EQ(adopt_mutex(id, exported, "700", "set").items.at(3).integer, 9000);
  server_.call({"DEL", "lock"});
  ASSERT_TRUE(read(exported));
  ASSERT_TRUE(adopt_rw(id, "1", exported, "9000", "set"));
  ASSERT_TRUE(adopt_rw(id, "1", exported, "700", "set"));
  pass_ms(8999);
  EXPECT_FALSE(write(carol, "try"));
}

// The exporter has given up the upgrade, or its downgrade is not executed yet.
TEST_F(adopt_scripts, hazard_15_a_reader_with_the_weight_of_a_writer_is_exported_as_a_reader) {
  ASSERT_TRUE(write(exported));
  ASSERT_TRUE(adopt_rw(id, "1", exported, "500", "set"));
  EXPECT_EQ(in_use(), 1);
  EXPECT_TRUE(read(carol, "try"));
  EXPECT_TRUE(adopt_rw(bob, "1", id));
}

TEST_F(adopt_scripts, hazard_30_the_token_rises) {
  const auto before = acquire_mutex(exported, "try").items.at(1).integer;
  EXPECT_GT(adopt_mutex(bob).items.at(1).integer, before);
}

TEST_F(adopt_scripts, the_waiters_keep_their_mark) {
  acquire_mutex(exported, "try");
  acquire_mutex(carol, "wait");
  const auto adopted = adopt_mutex(bob);
  EXPECT_EQ(adopted.items.at(4).integer, 1);
  EXPECT_EQ(held(), bob + "*");
}

TEST_F(adopt_scripts, hazard_1_a_lease_that_is_over_is_not_adopted_in_the_queues_turn) {
  acquire_mutex(exported, "try");
  acquire_mutex(carol, "wait");
  pass_ms(501);
  ASSERT_EQ(held(), exported + "*") << "it is the turn of the queue";
  EXPECT_EQ(adopt_mutex(bob).items.at(0).integer, 0);
  EXPECT_EQ(held(), exported + "*");
}

TEST_F(adopt_scripts, a_free_lock_and_that_of_another_are_not_adopted) {
  EXPECT_EQ(adopt_mutex(bob).items.at(0).integer, 0);
  EXPECT_EQ(held(), "");
  acquire_mutex(carol, "try");
  EXPECT_EQ(adopt_mutex(bob).items.at(0).integer, 0);
  EXPECT_EQ(held(), carol);
}

TEST_F(adopt_scripts, hazard_17_one_of_two_adopters_reads) {
  ASSERT_TRUE(read(exported));
  ASSERT_TRUE(read(carol));
  EXPECT_TRUE(adopt_rw(bob, "1"));
  EXPECT_TRUE(adopt_rw(bob, "1")) << "once more";
  EXPECT_EQ(in_use(), 2);
  EXPECT_FALSE(holds("1 " + exported));
  EXPECT_FALSE(adopt_rw("m1:d:1.1::550", "1"));
  EXPECT_TRUE(renew(bob, "1"));
  EXPECT_FALSE(renew(exported, "1"));
}

TEST_F(adopt_scripts, hazard_17_one_of_two_adopters_writes) {
  ASSERT_TRUE(write(exported));
  EXPECT_FALSE(adopt_rw(bob, "1")) << "as a reader";
  EXPECT_TRUE(adopt_rw(bob, whole));
  EXPECT_FALSE(adopt_rw(carol, whole));
  EXPECT_FALSE(read(carol, "try"));
  EXPECT_EQ(release(bob, whole), 1);
  EXPECT_TRUE(read(carol, "try"));
}

TEST_F(adopt_scripts, hazard_1_a_lease_of_a_reader_that_is_over_is_not_adopted) {
  ASSERT_TRUE(read(exported));
  pass_ms(501);
  EXPECT_FALSE(adopt_rw(bob, "1"));
}

}  // namespace
}  // namespace mortise::simulation::adopt_scripts_test
