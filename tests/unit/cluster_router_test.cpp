// The routing of a client in a cluster. The test decides the replies of the servers, and their
// times.
#include "unit/router_fixture.hpp"

namespace mortise::testing::cluster_router_test {
namespace {

using cluster::attachment;
using cluster::endpoint;
using cluster::router;
using end = attachment::end;
using phase = router::phase;

TEST_F(routers, nothing_is_asked_of_a_slot_before_it_has_attached) {
  know();
  ways.use(slot, now);
  expect("attach 100 at 0");
  EXPECT_EQ(phase::attaching, ways.phase_of(slot));
  EXPECT_TRUE(ways.problem(slot).ok());
  end_attachment(end::attached);
  expect("100 is here at 0");
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
}

TEST_F(routers, a_server_without_memory_for_it_is_added_with_the_next_topology) {
  ways.on_up(0, now);
  expect("ask 0");
  has_no_memory = true;
  EXPECT_THROW(report_topology(0, "a"), std::bad_alloc);
  wait();
  expect("ask 0");
  report_topology(0, "a");
  expect("add b:2 as 1, add c:3 as 2, add d:4 as 3");
}

TEST_F(routers, a_server_is_connected_to_once_it_is_needed) {
  know();
  ways.use(far, now);
  expect("connect 3");
  ways.on_up(3, now);
  expect("attach 16000 at 3");
}

TEST_F(routers, a_slot_without_a_user_when_its_server_comes_up_is_not_forgotten) {
  know();
  ways.use(far, now);
  expect("connect 3");
  ways.stop_using(far);
  ways.on_up(3, now);
  ways.use(far, now);
  expect("attach 16000 at 3");
}

TEST_F(routers, an_attempt_that_ends_without_a_result_is_repeated) {
  know();
  ways.use(slot, now);
  expect("attach 100 at 0");
  // Only the connection for acknowledgements has broken.
  end_attachment(end::broken);
  wait();
  EXPECT_NE(std::string::npos, take().find("attach 100 at 0"));
  has_no_memory = true;
  EXPECT_THROW(end_attachment(end::moved, {"e", 5}), std::bad_alloc);
  wait();
  EXPECT_NE(std::string::npos, take().find("attach 100 at 0"));
  end_attachment(end::attached);
  expect("100 is here at 0");
}

TEST_F(routers, a_slot_that_has_moved_attaches_where_it_is_now) {
  know_and_use();
  ways.on_moved(slot, 0, {"d", 4}, now);
  expect("100 is away, connect 3");
  EXPECT_EQ(phase::attaching, ways.phase_of(slot));
  ways.on_up(3, now);
  expect("attach 100 at 3, ask 3");
  end_attachment(end::attached);
  expect("100 is here at 3");
  // A late reply of the old server.
  ways.on_moved(slot, 0, {"d", 4}, now);
  expect("");
}

TEST_F(routers, servers_that_send_each_other_are_not_followed_for_ever) {
  know_and_use();
  ways.on_up(3, now);
  expect("");
  ways.on_moved(slot, 0, {"d", 4}, now);
  int hops = 0;
  while (ways.phase_of(slot) == phase::attaching && hops < 100) {
    const auto next = ways.server_of(slot) == 3 ? endpoint{"a", 1} : endpoint{"d", 4};
    end_attachment(end::moved, next);
    ++hops;
  }
  EXPECT_LT(hops, 10);
  EXPECT_EQ(phase::detached, ways.phase_of(slot));
  EXPECT_NE(std::string::npos, ways.problem(slot).words().find("name each other"));
}

// By word of a server, by a failover probe and by the topology; not by a connection that broke.
TEST_F(routers, a_new_owner_of_a_slot_is_reported) {
  know_and_use();
  ways.use(another, now);
  end_attachment(end::attached);
  EXPECT_EQ(0, owner_changes(slot) + owner_changes(another)) << "nothing was held before";
  fail(0);
  ways.on_up(0, now);
  end_attachment(end::attached);
  EXPECT_EQ(0, owner_changes(slot) + owner_changes(another));
  ways.on_topology(0, {{8192, 16383, {"d", 4}, {}}}, now);  // the server knows no owner of the slot
  EXPECT_EQ(0, owner_changes(slot));
  ways.on_moved(slot, 0, {"d", 4}, now);
  EXPECT_EQ(1, owner_changes(slot));
  EXPECT_EQ(0, owner_changes(another));
  report_topology(0, "b");
  EXPECT_EQ(1, owner_changes(another));
}

TEST_F(routers, without_further_replies_the_router_asks_where_the_slot_is) {
  know_and_use();
  ways.on_unsubscribed(slot, 0, now);
  expect("100 is away, attach 100 at 0");
}

TEST_F(routers, a_slot_on_its_way_is_tried_again) {
  know_and_use();
  ways.on_unsubscribed(slot, 0, now);
  expect("100 is away, attach 100 at 0");
  end_attachment(end::again);
  expect("100 is away");
  wait();
  expect("attach 100 at 0");
}

// CLUSTERDOWN, while a master is missing.
TEST_F(routers, one_slot_asks_for_all_that_a_server_has_refused) {
  constexpr int many = 500;
  know();
  for (int number = 0; number < many; ++number) ways.use(number, now);
  EXPECT_EQ(many, end_attachments(end::later));
  take();
  const auto first = refuse_attachments(now + ns_per_s, end::later);
  EXPECT_GE(first, 4) << "a failover takes a second or two";
  EXPECT_LE(first, 20);
  refuse_attachments(now + 30 * ns_per_s, end::later);
  EXPECT_LE(refuse_attachments(now + 10 * ns_per_s, end::later), 10) << "less and less often";
  // One of them attaches, and all others come at once.
  while (open_.empty()) {
    take();
    wait();
  }
  EXPECT_EQ(1, end_attachments(end::attached));
  take();
  wait();
  EXPECT_EQ(many - 1, end_attachments(end::attached));
  for (int number = 0; number < many; ++number) EXPECT_EQ(phase::attached, ways.phase_of(number));
}

// Requests meet MOVED, too.
TEST_F(routers, slots_that_a_server_no_longer_serves_wait_together) {
  know_and_use();
  ways.use(another, now);
  end_attachments(end::attached);
  ways.on_unserved(slot, 0, now);
  ways.on_unserved(another, 0, now);
  take();
  wait();
  EXPECT_EQ(1U, open_.size());
  EXPECT_LE(refuse_attachments(now + ns_per_s, end::later), 20);
}

// One that is refused for a reason of its own keeps no other from attaching.
TEST_F(routers, slots_that_were_refused_take_turns) {
  know();
  ways.use(slot, now);
  ways.use(another, now);
  end_attachments(end::later);
  take();
  std::vector<int> tried;
  while (tried.size() < 4) {
    wait();
    take();
    for (const auto& one : std::exchange(open_, {})) {
      tried.push_back(one.slot);
      end_attachment(one, end::later, {});
    }
  }
  EXPECT_EQ((std::vector<int>{slot, another, slot, another}), tried);
}

// Nothing is carried out there for as long as its keys are at two servers.
TEST_F(routers, a_slot_that_is_being_moved_is_asked_again_less_and_less_often) {
  know_and_use();
  time_ns pause = 0;
  for (int turn = 0; turn < 8; ++turn) {
    const auto before = now;
    ways.on_migrating(slot, now);
    ways.on_migrating(slot, now);  // another of its locks
    wait();
    expect("100 again");
    EXPECT_EQ(phase::attached, ways.phase_of(slot));
    EXPECT_GE(now - before, pause);
    pause = now - before;
  }
  EXPECT_GE(pause, 100 * ns_per_ms);
  EXPECT_LE(pause, ns_per_s);
  ways.on_unsubscribed(slot, 0, now);
  end_attachment(end::attached);
  take();
  const auto before = now;
  ways.on_migrating(slot, now);
  wait();
  expect("100 again");
  EXPECT_LT(now - before, pause);
}

TEST_F(routers, a_failover_probe_finds_out_which_replica_has_taken_over) {
  know_and_use();
  ways.use(another, now);
  expect("attach 101 at 0");
  end_attachment(end::attached);
  expect("101 is here at 0");
  fail(0);
  expect("100 is away, 101 is away");
  wait();
  expect("connect 1");
  ways.on_up(1, now);
  expect("ask 1");
  wait();  // the other replica
  expect("connect 2");
  wait();
  expect("attach 100 at 1");
  end_attachment(end::moved, {"a", 1});  // not yet
  expect("");
  ways.on_up(2, now);
  wait();
  expect("attach 100 at 2");
  end_attachment(end::attached);
  // All that the one had is the other's.
  expect("attach 100 at 2, attach 101 at 2");
}

// Behind NAT, connecting takes until its limit. Callers need the address that it tries.
TEST_F(routers, a_slot_whose_server_is_out_of_reach_has_a_problem_that_names_the_address) {
  know();
  ways.use(far, now);
  expect("connect 3");
  const auto since = now;
  while (ways.phase_of(far) == phase::attaching && now < since + 10 * patience_ns) {
    now = std::max(now, ways.next_timer());
    ways.on_timer(now);
  }
  EXPECT_LE(now - since, 2 * patience_ns);
  const auto problem = ways.problem(far);
  const auto words = problem.words();
  EXPECT_NE(std::string::npos, words.find("d:4")) << words;
  EXPECT_NE(std::string::npos, words.find("cluster-announce-ip")) << words;
  take();
  ways.on_up(3, now);
  EXPECT_EQ(phase::attaching, ways.phase_of(far));
  end_attachment(end::attached);
  fail(3);
  EXPECT_EQ(std::string::npos, ways.problem(far).words().find("cluster-announce-ip"));
}

// The seed has died, and the map is older than its replica.
TEST_F(routers, any_server_of_the_map_is_asked_when_the_seed_is_lost) {
  ways.on_up(0, now);
  expect("ask 0");
  report_topology_of({{0, 8191, {"a", 1}, {}}, {8192, 16383, {"d", 4}, {}}});
  expect("add d:4 as 1");
  ways.use(slot, now);
  end_attachment(end::attached);
  take();
  fail(0);
  expect("100 is away");
  wait();
  expect("connect 1");
  ways.on_up(1, now);
  expect("ask 1");
  report_topology_of({{0, 8191, {"b", 2}, {}}, {8192, 16383, {"d", 4}, {}}});
  expect("add b:2 as 2, connect 2");
  ways.on_up(2, now);
  expect("attach 100 at 2");
}

// One after the other: a client of a large cluster that is cut off from all of it connects to few.
TEST_F(routers, a_server_that_was_sought_and_is_not_there_is_left_for_the_next) {
  ways.on_up(0, now);
  report_topology_of(
      {{0, 8191, {"a", 1}, {}}, {8192, 9999, {"d", 4}, {}}, {10000, 16383, {"e", 5}, {}}});
  ways.use(slot, now);
  end_attachment(end::attached);
  take();
  fail(0);
  take();
  wait();
  expect("connect 1");
  fail(1);
  wait();
  expect("disconnect 1, connect 2");
  const auto before = now;
  wait();  // it neither comes up nor fails
  expect("disconnect 2, connect 1");
  EXPECT_GE(now - before, patience_ns);
}

TEST_F(routers, a_silent_server_is_left_once_another_has_taken_over) {
  know_and_use();
  ways.on_overdue(0, now);
  wait();
  expect("connect 1");
  EXPECT_EQ(phase::attached, ways.phase_of(slot));
  ways.on_up(1, now);
  expect("ask 1");
  report_topology(1, "b");
  expect("leave 0, 100 is away, attach 100 at 1");
}

TEST_F(routers, whoever_answers_is_not_asked_again_and_again_while_a_server_is_silent) {
  know_and_use();
  const auto since = now;
  int count = 0;
  for (ways.on_overdue(0, now); now < since + 2 * ns_per_s; ways.on_timer(now)) {
    ways.on_overdue(0, now);
    const auto text = take();
    if (text.find("connect 1") != std::string::npos) ways.on_up(1, now);
    if (text.find("ask 1") != std::string::npos) {
      ++count;
      report_topology(1, "a");
    }
    now = std::max(now + 1, ways.next_timer());
  }
  EXPECT_LE(count, 4);
}

TEST_F(routers, a_server_that_was_only_slow_is_looked_after_no_more) {
  know_and_use();
  ways.on_overdue(0, now);
  wait();
  expect("connect 1");
  for (const auto later = now + 4 * patience_ns; now < later;) {
    now = std::max(now, ways.next_timer());
    ways.on_timer(now);
    if (take().find("ask 0") != std::string::npos) report_topology(0, "a");
  }
  take();
  const auto before = now;
  wait();
  EXPECT_GE(now - before, 40 * ns_per_s);
}

TEST_F(routers, a_slot_that_was_refused_is_not_asked_for_all_the_time) {
  know();
  ways.use(slot, now);
  expect("attach 100 at 0");
  end_attachment(end::refused);
  expect("100 is away");
  EXPECT_EQ(status::refused, ways.problem(slot).code);
  const auto before = now;
  do {
    wait();
  } while (ways.phase_of(slot) == phase::detached && take().find("attach") == std::string::npos);
  EXPECT_GE(now - before, ns_per_s);
}

TEST_F(routers, who_is_asked_for_the_topology_has_so_long_to_answer) {
  know_and_use();
  ways.on_up(3, now);
  ways.on_moved(slot, 0, {"d", 4}, now);
  end_attachment(end::attached);
  expect("100 is away, connect 3, attach 100 at 3, 100 is here at 3");
  const auto before = now;
  wait();
  expect("ask 3");
  EXPECT_GE(now, before + 100 * ns_per_ms);  // at most so often
  const auto asked_at = now;
  wait();
  expect("ask 0");
  EXPECT_GE(now, asked_at + patience_ns);
}

TEST_F(routers, a_server_that_is_not_needed_any_more_is_left) {
  know_and_use();
  report_topology(0, "b");
  expect("100 is away, connect 1");
  const auto since = now;
  ways.on_up(1, now);
  end_attachment(end::attached);
  take();
  report_topology(1, "b");  // what was asked of the one before may be answered yet
  expect("");
  wait();
  expect("disconnect 0");
  EXPECT_GE(now - since, 4 * patience_ns);
  ways.on_down(0, outcome::of(status::unreachable, "not needed"), now);
  expect("");
  report_topology(1, "a");
  expect("100 is away, connect 0");
  ways.on_up(0, now);
  expect("attach 100 at 0");
}

TEST_F(routers, a_replica_is_left_once_its_master_is_well) {
  know_and_use();
  ways.on_up(3, now);
  fail(0);
  take();
  wait();
  ways.on_up(1, now);
  report_topology(3, "a");
  now += 5 * patience_ns;
  report_topology(3, "a");
  EXPECT_EQ(std::string::npos, take().find("disconnect")) << "it may follow";
  ways.on_up(0, now);
  end_attachment(end::attached);
  take();
  report_topology(3, "a");
  expect("");
  now += 4 * patience_ns;
  ways.on_timer(now);
  EXPECT_NE(std::string::npos, take().find("disconnect 1"));
}

// A URL that names a replica only.
TEST_F(routers, who_is_the_only_one_to_ask_is_not_left) {
  ways.on_up(0, now);
  for (int turn = 0; turn < 3; ++turn) {
    report_topology(0, "b");
    now += 5 * patience_ns;
    ways.on_timer(now);
  }
  EXPECT_EQ(std::string::npos, take().find("disconnect"));
  ways.use(far, now);
  ways.on_up(3, now);
  take();
  report_topology(3, "b");
  now += 4 * patience_ns;
  ways.on_timer(now);
  EXPECT_NE(std::string::npos, take().find("disconnect 0"));
}

TEST_F(routers, a_slot_that_nobody_has_has_a_problem) {
  ways.on_up(0, now);
  expect("ask 0");
  ways.on_topology(0, {{0, 99, {"a", 1}, {}}}, now);
  ways.use(slot, now);
  EXPECT_EQ(status::unreachable, ways.problem(slot).code);
  EXPECT_EQ(0, ways.owner_of(99));
  EXPECT_EQ(cluster::no_server, ways.owner_of(slot));
}

TEST_F(routers, the_topology_is_asked_for_from_time_to_time) {
  know_and_use();
  const auto before = now;
  wait();
  expect("ask 0");
  EXPECT_GE(now - before, 45 * ns_per_s);
  EXPECT_LE(now - before, 60 * ns_per_s);
}

}  // namespace
}  // namespace mortise::testing::cluster_router_test
