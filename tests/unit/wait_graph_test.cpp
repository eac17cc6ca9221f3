// Which threads are in a deadlock, by the entries of a listing.
#include "protocol/listing/wait_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace mortise::testing::wait_graph_test {
namespace {

using protocol::wait_graph;

// The threads of a lock at one client.
wait_graph::entry lock(const std::string& name, const std::string& threads,
                       const std::string& kind = "mutex") {
  return {"the client", "the host", 7, "the label", name, kind, "queued " + threads};
}

std::string holds(int thread, const std::string& rest = "exclusive:1:5000") {
  return "holds:" + std::to_string(thread) + ":" + std::to_string(thread + 100) + ":" + rest;
}

std::string waits(int thread, const std::string& rest = "exclusive:1:5000") {
  return "waits:" + std::to_string(thread) + ":" + std::to_string(thread + 100) + ":" + rest;
}

wait_graph graph_of(const std::vector<wait_graph::entry>& seen, int64_t taken_ms = 5,
                    int64_t capacity = 3) {
  return {seen, taken_ms, [=](const std::string&) { return capacity; }};
}

// A wait with the option.
std::string fails(int thread, int64_t began_us, const std::string& mode = "exclusive:1") {
  return waits(thread, mode + ":5000:" + std::to_string(began_us));
}

// The number of the thread whose wait ends; 0 for none.
int64_t victim(const wait_graph::deadlock& found) {
  return found.front().wait->began_us == 0 ? 0 : found.front().thread->number;
}

std::multiset<int64_t> victims(const wait_graph& graph) {
  std::multiset<int64_t> all;
  for (const auto& found : graph.deadlocks()) all.insert(victim(found));
  return all;
}

// The numbers of the threads of a deadlock.
std::vector<int64_t> members(const wait_graph::deadlock& found) {
  std::vector<int64_t> all;
  for (const auto& one : found) all.push_back(one.thread->number);
  return all;
}

TEST(wait_graph, a_circle_is_in_the_order_of_its_waits) {
  const auto graph =
      graph_of({lock("a", holds(1) + " " + waits(3)), lock("b", holds(2) + " " + waits(1)),
                lock("c", holds(3) + " " + waits(2))});
  ASSERT_EQ(1U, graph.deadlocks().size());
  const auto& found = graph.deadlocks()[0];
  EXPECT_EQ((std::vector<int64_t>{101, 102, 103}), members(found));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& next = found[(i + 1) % found.size()];
    EXPECT_EQ(graph.at(*found[i].wait).name, graph.at(*next.hold).name);
  }
  EXPECT_EQ("the host", found[0].thread->host);
  EXPECT_EQ("the label", found[0].thread->label);
  EXPECT_EQ(3U, graph.waiting());
  EXPECT_EQ(0U, graph.behind());
}

TEST(wait_graph, a_thread_that_runs_ends_all_waits_for_it) {
  const auto graph =
      graph_of({lock("a", holds(1)), lock("b", holds(2) + " " + waits(3)), lock("a", waits(2))});
  EXPECT_TRUE(graph.deadlocks().empty());
  EXPECT_EQ(2U, graph.waiting());
  EXPECT_EQ(0U, graph.behind());
}

TEST(wait_graph, threads_behind_a_deadlock_are_counted) {
  const auto graph =
      graph_of({lock("a", holds(1) + " " + waits(2) + " " + waits(3)),
                lock("b", holds(2) + " " + waits(1)), lock("c", holds(3) + " " + waits(4))});
  ASSERT_EQ(1U, graph.deadlocks().size());
  EXPECT_EQ((std::vector<int64_t>{101, 102}), members(graph.deadlocks()[0]));
  EXPECT_EQ(2U, graph.behind());
}

// The hold of thread 1 may have ended before the wait of thread 2 began.
TEST(wait_graph, what_is_younger_than_the_listing_is_omitted) {
  const std::vector<wait_graph::entry> seen = {
      lock("a", holds(1, "exclusive:1:20") + " " + waits(2, "exclusive:1:9")),
      lock("b", holds(2, "exclusive:1:30") + " " + waits(1, "exclusive:1:10"))};
  EXPECT_EQ(1U, graph_of(seen, 9).deadlocks().size());
  EXPECT_TRUE(graph_of(seen, 10).deadlocks().empty());
}

TEST(wait_graph, readers_exclude_only_writers) {
  const auto seen = [](const char* mode) {
    return std::vector<wait_graph::entry>{
        lock("a", holds(1, "shared:1:5000") + " " + waits(2, std::string(mode) + ":1:5000"), "rw"),
        lock("b", holds(2) + " " + waits(1))};
  };
  EXPECT_TRUE(graph_of(seen("shared")).deadlocks().empty());
  EXPECT_EQ(1U, graph_of(seen("exclusive")).deadlocks().size());
}

TEST(wait_graph, permits_of_running_threads_count_as_free) {
  const std::vector<wait_graph::entry> seen = {
      lock("s", holds(1, "shared:1:5000") + " " + holds(3, "shared:1:5000"), "semaphore"),
      lock("s", waits(2, "shared:2:5000"), "semaphore"), lock("b", holds(2) + " " + waits(1))};
  EXPECT_TRUE(graph_of(seen, 5, 3).deadlocks().empty());
  EXPECT_EQ(0U, graph_of(seen, 5, 3).behind());
  EXPECT_EQ(1U, graph_of(seen, 5, 2).deadlocks().size());
}

TEST(wait_graph, locks_of_other_kinds_or_formats_are_other_locks) {
  auto other = lock("a", holds(1));
  const std::vector<wait_graph::entry> rest = {lock("b", holds(2) + " " + waits(1)),
                                               lock("a", waits(2))};
  const auto is_found = [&] { return !graph_of({other, rest[0], rest[1]}).deadlocks().empty(); };
  EXPECT_TRUE(is_found());
  other.kind = "rw";
  EXPECT_FALSE(is_found());
  other.kind = "mutex";
  other.threads.replace(0, 6, "token");
  EXPECT_FALSE(is_found());
}

// ---- which wait ends ------------------------------------------------------------------------

TEST(wait_graph, the_youngest_wait_of_a_circle_ends) {
  std::vector<wait_graph::entry> seen = {lock("a", holds(1) + " " + fails(3, 30)),
                                         lock("b", holds(2) + " " + fails(1, 50)),
                                         lock("c", holds(3) + " " + fails(2, 40))};
  // Whatever the order of the answers.
  do {
    const auto graph = graph_of(seen);
    ASSERT_EQ((std::multiset<int64_t>{101}), victims(graph));
    EXPECT_EQ((std::vector<int64_t>{101, 102, 103}), members(graph.deadlocks()[0]));
  } while (std::next_permutation(seen.begin(), seen.end(), [](const auto& one, const auto& other) {
    return one.name < other.name;
  }));
}

TEST(wait_graph, of_waits_that_began_together_that_of_the_highest_thread_ends) {
  const std::vector<wait_graph::entry> seen = {lock("a", holds(1) + " " + fails(2, 50)),
                                               lock("b", holds(2) + " " + fails(1, 50))};
  EXPECT_EQ((std::multiset<int64_t>{102}), victims(graph_of(seen)));
  EXPECT_EQ((std::multiset<int64_t>{102}), victims(graph_of({seen[1], seen[0]})));
}

TEST(wait_graph, a_wait_without_the_option_never_ends) {
  EXPECT_EQ((std::multiset<int64_t>{102}),
            victims(graph_of(
                {lock("a", holds(1) + " " + fails(2, 1)), lock("b", holds(2) + " " + waits(1))})));
  EXPECT_EQ((std::multiset<int64_t>{0}), victims(graph_of({lock("a", holds(1) + " " + waits(2)),
                                                           lock("b", holds(2) + " " + waits(1))})));
}

TEST(wait_graph, each_of_two_circles_loses_one_wait) {
  const auto graph = graph_of(
      {lock("a", holds(1) + " " + fails(2, 10)), lock("b", holds(2) + " " + fails(1, 20)),
       lock("c", holds(3) + " " + fails(4, 40)), lock("d", holds(4) + " " + fails(3, 30))});
  EXPECT_EQ((std::multiset<int64_t>{101, 104}), victims(graph));
}

// Thread 5 waits for the circle, and thread 1 for thread 5: it is in no circle.
TEST(wait_graph, a_wait_behind_a_circle_never_ends) {
  const auto graph = graph_of({lock("a", holds(2) + " " + fails(3, 30) + " " + fails(5, 99)),
                               lock("b", holds(3) + " " + fails(2, 40)),
                               lock("e", holds(5) + " " + fails(1, 98))});
  EXPECT_EQ((std::multiset<int64_t>{102}), victims(graph));
  EXPECT_EQ(2U, graph.behind());
}

TEST(wait_graph, readers_are_in_the_circle_of_a_writer) {
  const auto graph = graph_of(
      {lock("a", holds(1, "shared:1:5000") + " " + holds(2, "shared:1:5000") + " " + fails(3, 10),
            "rw"),
       lock("b", holds(3) + " " + fails(1, 20) + " " + fails(2, 30))});
  EXPECT_EQ((std::multiset<int64_t>{102}), victims(graph));
  EXPECT_EQ((std::vector<int64_t>{102, 103}), members(graph.deadlocks()[0]));
  EXPECT_EQ(1U, graph.behind());
}

// Threads 1 and 2 wait for a permit that thread 3 will release once its own circle has ended.
TEST(wait_graph, a_circle_that_another_one_keeps_waiting_does_not_end_yet) {
  const auto graph =
      graph_of({lock("s",
                     holds(1, "shared:1:5000") + " " + holds(3, "shared:1:5000") + " " +
                         fails(2, 90, "shared:1"),
                     "semaphore"),
                lock("b", holds(2) + " " + fails(1, 80)), lock("c", holds(3) + " " + fails(4, 10)),
                lock("d", holds(4) + " " + fails(3, 20))},
               5, 2);
  EXPECT_EQ((std::multiset<int64_t>{103}), victims(graph));
}

TEST(wait_graph, a_thread_that_waits_for_itself_ends) {
  const auto graph = graph_of({lock("a", holds(1) + " " + fails(1, 10))});
  EXPECT_EQ((std::multiset<int64_t>{101}), victims(graph));
  EXPECT_EQ(1U, graph.deadlocks()[0].size());
}

TEST(wait_graph, tasks_are_named_as_such) {
  const auto graph = graph_of({lock("a", "holds:1:t7:exclusive:1:5000 " + waits(2)),
                               lock("b", holds(2) + " waits:1:t7:exclusive:1:5000")});
  ASSERT_EQ(1U, graph.deadlocks().size());
  ASSERT_EQ((std::vector<int64_t>{7, 102}), members(graph.deadlocks()[0]));
  EXPECT_TRUE(graph.deadlocks()[0][0].thread->is_task);
  EXPECT_FALSE(graph.deadlocks()[0][1].thread->is_task);
}

TEST(wait_graph, only_a_capacity_that_decides_is_read) {
  std::multiset<std::string> read;
  const auto read_capacity = [&](const std::string& name) {
    read.insert(name);
    return 1;
  };
  const auto holder = holds(1, "shared:1:5000");
  wait_graph({lock("s", holder + " " + waits(2, "shared:1:5000"), "semaphore")}, 5, read_capacity);
  EXPECT_TRUE(read.empty());
  const wait_graph graph({lock("s", holder + " " + waits(2, "shared:1:5000"), "semaphore"),
                          lock("b", holds(2) + " " + waits(1))},
                         5, read_capacity);
  EXPECT_EQ((std::multiset<std::string>{"s"}), read);
  EXPECT_EQ(1U, graph.deadlocks().size());
}

// Any publisher may send a page, and the search runs on a small stack (hazard 32).
TEST(wait_graph, hazard_32_a_long_chain_needs_no_recursion) {
  constexpr int length = 50'000;
  std::vector<wait_graph::entry> seen;
  for (int i = 1; i <= length; ++i) {
    seen.push_back(lock(std::to_string(i), holds(i) + " " + fails(i % length + 1, i)));
  }
  const auto graph = graph_of(seen);
  ASSERT_EQ(1U, graph.deadlocks().size());
  EXPECT_EQ(static_cast<std::size_t>(length), graph.deadlocks()[0].size());
}

// Any publisher may send a page (hazard 32).
TEST(wait_graph, hazard_32_words_of_another_form_are_omitted) {
  const auto good = holds(1) + " ";
  for (const auto* bad : {"",
                          ":",
                          "waits",
                          "waits:2",
                          "waits:2:102:exclusive:1",
                          "waits:2:102:exclusive:1:",
                          "waits:2:102:exclusive:1:x",
                          "waits:2:102:exclusive:1:5000:x",
                          "waits:2:102:exclusive:1:5000:-1",
                          "waits:2:102:exclusive:1:5000:1:1",
                          "holds:2:102:exclusive:1:5000:1",
                          "waits:2:102:exclusive:-1:5000",
                          "waits:-2:102:exclusive:1:5000",
                          "waits:2:102:exclusive:9999999999:5000",
                          "keeps:2:102:exclusive:1:5000",
                          "waits:2:t:exclusive:1:5000",
                          "waits:t2:t:exclusive:1:5000",
                          "waits:2:tt7:exclusive:1:5000",
                          "waits:2:t-7:exclusive:1:5000",
                          "waits:2:102:exclusive:1:99999999999999999999"}) {
    EXPECT_EQ(0U, graph_of({lock("a", good + bad)}).waiting()) << bad;
  }
  EXPECT_EQ(1U, graph_of({lock("a", good + waits(2))}).waiting());
}

}  // namespace
}  // namespace mortise::testing::wait_graph_test
