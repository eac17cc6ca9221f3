// Servers that leave the cluster: pods that come back under new addresses, for weeks.
#include <set>
#include <sstream>

#include "unit/router_fixture.hpp"

namespace mortise::testing::cluster_forgotten_test {
namespace {

using cluster::endpoint;
using end = cluster::attachment::end;
using phase = cluster::router::phase;

constexpr time_ns forget_ns = 60 * ns_per_s;

class forgotten_servers : public routers {
 protected:
  // The map of a cluster whose first master and its replica have these addresses. The master before
  // has ended.
  void report_first(const endpoint& master, const endpoint& replica) {
    const auto before = ways.server_of(slot);
    if (before != cluster::no_server && number_at(master) != before) fail(before);
    ways.on_topology(number_at(stable), {{0, 8191, master, {replica}}, {8192, 16383, stable, {}}},
                     now);
  }
  // The servers that the client connects to come up. Those that it leaves go down.
  void serve() {
    for (const auto& line : lines()) {
      const auto number = std::stoi("0" + line.substr(line.rfind(' ') + 1));
      if (line.starts_with("connect")) ways.on_up(number, now);
      if (line.starts_with("disconnect")) fail(number);
    }
    end_attachments(end::attached);
  }
  // The same until all timers of this time have passed.
  void serve_for(time_ns duration) {
    const auto until = now + duration;
    serve();
    while (ways.next_timer() < until) {
      now = std::max(now, ways.next_timer());
      ways.on_timer(now);
      serve();
    }
    now = until;
  }
  void begin() {
    ways.on_up(0, now);
    ways.on_topology(0, {{0, 8191, {"a", 1}, {{"b", 2}}}, {8192, 16383, stable, {}}}, now);
    ways.use(slot, now);
    ways.use(far, now);
    serve();
  }

  const endpoint stable{"d", 4};

 private:
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    std::istringstream text(take());
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
};

TEST_F(forgotten_servers, addresses_that_come_and_go_for_weeks_do_not_add_up) {
  begin();
  for (int turn = 0; turn < 2500; ++turn) {
    const endpoint master{"pod" + std::to_string(turn), 1};
    const endpoint replica{"pod" + std::to_string(turn), 2};
    report_first(master, replica);
    serve_for(forget_ns + ns_per_s);
    ASSERT_EQ(phase::attached, ways.phase_of(slot)) << turn;
    ASSERT_EQ(number_at(master), ways.server_of(slot)) << turn;
  }
  EXPECT_LE(addresses.size(), 12U);
}

TEST_F(forgotten_servers, a_number_is_reused_only_when_nothing_refers_to_the_server) {
  begin();
  // The slot stays at a server that the map no longer lists, because no other server has the slot.
  ways.on_topology(number_at(stable), {{8192, 16383, stable, {}}}, now);
  serve_for(2 * forget_ns);
  ways.on_topology(number_at(stable), {{8192, 16383, stable, {{"new", 1}}}}, now);
  EXPECT_NE(-1, number_at({"a", 1})) << "a seed, and the server of a slot in use";
  EXPECT_EQ(-1, number_at({"b", 2})) << "a replica that nothing needs";
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
}

TEST_F(forgotten_servers, a_seed_keeps_its_number) {
  begin();
  report_first({"x", 1}, {"y", 1});
  serve_for(2 * forget_ns);
  report_first({"x", 1}, {"z", 1});
  EXPECT_EQ(0, number_at({"a", 1}));
  EXPECT_EQ(-1, number_at({"b", 2}));
}

TEST_F(forgotten_servers, a_server_that_left_a_moment_ago_keeps_its_number) {
  begin();
  report_first({"x", 1}, {"y", 1});
  serve_for(forget_ns / 2);
  report_first({"x", 1}, {"z", 1});
  EXPECT_NE(-1, number_at({"b", 2}));
}

TEST_F(forgotten_servers, a_map_does_not_take_the_number_of_a_server_that_it_lists) {
  begin();
  serve_for(2 * forget_ns);
  const auto replica = number_at({"b", 2});
  report_first({"x", 1}, {"b", 2});
  EXPECT_EQ(replica, number_at({"b", 2}));
}

// The replicas of the earlier server prove nothing about this one.
TEST_F(forgotten_servers, hazard_7_a_slot_that_was_at_a_forgotten_server_gets_another_owner) {
  begin();
  report_first({"x", 1}, {"y", 1});
  serve_for(4 * ns_per_s);
  const auto number = number_at({"x", 1});
  ASSERT_EQ(number, ways.server_of(slot));
  ways.stop_using(slot);
  report_first({"z", 1}, {"z", 2});
  serve_for(2 * forget_ns);
  owner_changes(slot);
  report_first({"z", 1}, {"other", 1});  // takes the number of the replica that left first
  report_first({"next", 1}, {"z", 2});
  ASSERT_EQ(number, number_at({"next", 1}));
  EXPECT_EQ(1, owner_changes(slot));
  EXPECT_EQ(cluster::no_server, ways.server_of(slot));
  ways.use(slot, now);
  EXPECT_EQ(number, ways.server_of(slot));
  EXPECT_EQ(0, owner_changes(slot)) << "reported already";
  serve();
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
}

// Its address may belong to a server of another cluster by now.
TEST_F(forgotten_servers, a_forgotten_server_is_not_sought_when_all_others_are_lost) {
  begin();
  report_first({"x", 1}, {"y", 1});
  serve_for(2 * forget_ns);
  report_first({"x", 1}, {"y", 1});
  std::set<int> sought;
  const auto note = [&] {
    std::istringstream text(take());
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("connect")) sought.insert(std::stoi(line.substr(8)));
    }
  };
  fail(number_at(stable));
  fail(number_at({"x", 1}));
  for (const auto until = now + forget_ns; ways.next_timer() < until;) {
    now = std::max(now, ways.next_timer());
    ways.on_timer(now);
    note();
    for (const auto one : sought) fail(one);
  }
  EXPECT_EQ(1U, sought.count(0)) << "a seed";
  EXPECT_EQ(1U, sought.count(number_at({"y", 1}))) << "a replica of the map";
  EXPECT_EQ(0U, sought.count(number_at({"b", 2})));
}

}  // namespace
}  // namespace mortise::testing::cluster_forgotten_test
