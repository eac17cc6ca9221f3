// Topologies of servers that are behind: partitioned from the others, or stopped and continued.
#include "unit/router_fixture.hpp"

namespace mortise::testing::cluster_claims_test {
namespace {

using cluster::endpoint;
using end = cluster::attachment::end;
using phase = cluster::router::phase;

class cluster_claims : public routers {
 protected:
  // a:1 or b:2 has the first half, by a claim of this epoch; d:4 has the second half.
  void report(int server, const endpoint& master, std::int64_t epoch) {
    ways.on_topology(server, {{0, 8191, master, {}, epoch}, {8192, 16383, d, {}, 1}}, now);
  }
  // Everything is connected. `master` has the first half, and the slot is not in use.
  void begin(const endpoint& master, std::int64_t epoch) {
    ways.on_up(0, now);
    ways.on_topology(0, {{0, 8191, master, {a, b}, epoch}, {8192, 16383, d, {}, 1}}, now);
    for (const auto& where : {b, d}) {
      ways.connect(number_at(where));
      ways.on_up(number_at(where), now);
    }
    take();
  }
  void begin_attached(const endpoint& master, std::int64_t epoch) {
    begin(master, epoch);
    ways.use(slot, now);
    end_attachments(end::attached);
    ASSERT_EQ(phase::attached, ways.phase_of(slot));
    take();
  }
  [[nodiscard]] int owner() const { return ways.owner_of(slot); }

  const endpoint a{"a", 1};
  const endpoint b{"b", 2};
  const endpoint d{"d", 4};
};

TEST_F(cluster_claims, hazard_10_another_server_moves_no_slot_that_is_attached) {
  begin_attached(b, 0);
  report(number_at(d), a, 0);
  expect("");
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
  EXPECT_EQ(number_at(b), owner());
}

TEST_F(cluster_claims, a_server_that_another_contradicts_is_asked_itself) {
  begin_attached(b, 0);
  report(number_at(d), a, 0);
  wait();
  expect("ask " + std::to_string(number_at(b)));
  report(number_at(b), b, 0);
  expect("");
  const auto before = now;
  while (take().find("ask") == std::string::npos) wait();
  EXPECT_GE(now - before, 40 * ns_per_s) << "that settles it";
}

TEST_F(cluster_claims, a_server_is_believed_about_its_own_slots) {
  begin_attached(b, 0);
  report(number_at(b), a, 0);
  expect("100 is away, attach 100 at 0");
}

TEST_F(cluster_claims, a_silent_server_does_not_keep_its_slots) {
  begin_attached(b, 0);
  ways.on_overdue(number_at(b), now);
  take();
  report(number_at(d), a, 0);
  EXPECT_EQ(0, ways.server_of(slot));
}

TEST_F(cluster_claims, a_newer_claim_moves_a_slot_that_is_attached) {
  begin_attached(b, 5);
  report(number_at(d), a, 6);
  expect("100 is away, attach 100 at 0");
}

TEST_F(cluster_claims, an_equal_claim_does_not) {
  begin_attached(b, 5);
  report(number_at(d), a, 5);
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
}

TEST_F(cluster_claims, hazard_10_an_older_claim_is_not_used_for_other_slots_either) {
  begin(b, 7);
  report(number_at(d), a, 5);
  EXPECT_EQ(number_at(b), owner());
  EXPECT_EQ((std::vector<int>{number_at(b), number_at(d)}), ways.masters());
  ways.use(slot, now);
  EXPECT_EQ(number_at(b), ways.server_of(slot));
}

TEST_F(cluster_claims, after_an_older_claim_the_next_server_is_asked) {
  begin(b, 7);
  report(number_at(d), a, 5);
  const auto before = now;
  wait();
  EXPECT_EQ(0U, take().find("ask"));
  EXPECT_LE(now - before, 2 * ns_per_s);
}

// Less and less often: the others may be behind for hours.
TEST_F(cluster_claims, servers_that_stay_behind_are_not_asked_all_the_time) {
  begin(b, 7);
  int count = 0;
  for (const auto until = now + 60 * ns_per_s; now < until;) {
    report(number_at(d), a, 5);
    EXPECT_EQ(number_at(b), owner());
    report(number_at(b), b, 7);
    wait();
    if (take().find("ask") != std::string::npos) ++count;
  }
  EXPECT_LE(count, 10);
}

TEST_F(cluster_claims, a_claim_with_an_unknown_epoch_is_used) {
  begin(b, 7);
  report(number_at(d), a, 0);
  EXPECT_EQ(0, owner());
}

TEST_F(cluster_claims, an_older_claim_is_used_where_the_known_owner_is_lost) {
  begin(b, 7);
  fail(number_at(b));
  report(number_at(d), a, 5);
  EXPECT_EQ(0, owner());
}

// CLUSTER RESET HARD begins with epoch 0 again.
TEST_F(cluster_claims, a_cluster_that_was_made_anew_is_believed_after_a_while) {
  begin(b, 7);
  const auto before = now;
  while (owner() != 0 && now < before + 60 * ns_per_s) {
    report(number_at(d), a, 2);
    wait();
    take();
  }
  EXPECT_EQ(0, owner());
  EXPECT_GE(now - before, 5 * ns_per_s);
  EXPECT_LE(now - before, 20 * ns_per_s);
  report(number_at(d), b, 3);
  EXPECT_EQ(number_at(b), owner()) << "its epochs count from now on";
}

}  // namespace
}  // namespace mortise::testing::cluster_claims_test
