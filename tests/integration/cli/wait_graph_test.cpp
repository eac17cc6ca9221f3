// Which threads are in a deadlock, by the entries of a listing.
#include "cli/text/wait_graph.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mortise::testing::wait_graph_test {
namespace {

using cli::wait_graph;

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

// Any publisher may send a page (hazard 32).
TEST(wait_graph, hazard_32_words_of_another_form_are_omitted) {
  const auto good = holds(1) + " ";
  for (const auto* bad :
       {"", ":", "waits", "waits:2", "waits:2:102:exclusive:1",
        "waits:2:102:exclusive:1:", "waits:2:102:exclusive:1:x", "waits:2:102:exclusive:1:5000:1",
        "waits:2:102:exclusive:-1:5000", "waits:-2:102:exclusive:1:5000",
        "waits:2:102:exclusive:9999999999:5000", "keeps:2:102:exclusive:1:5000",
        "waits:2:102:exclusive:1:99999999999999999999"}) {
    EXPECT_EQ(0U, graph_of({lock("a", good + bad)}).waiting()) << bad;
  }
  EXPECT_EQ(1U, graph_of({lock("a", good + waits(2))}).waiting());
}

}  // namespace
}  // namespace mortise::testing::wait_graph_test
