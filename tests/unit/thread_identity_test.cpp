#include "base/system/thread_identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <thread>

namespace mortise::testing::thread_identity_test {
namespace {

std::uint64_t id_in_child(std::int64_t task) {
  int pipe_ends[2];
  EXPECT_EQ(0, ::pipe(pipe_ends));
  const auto child = ::fork();
  if (child == 0) {
    const auto id = caller_identity(task, true).id;
    ::_exit(::write(pipe_ends[1], &id, sizeof id) == sizeof id ? 0 : 1);
  }
  std::uint64_t id = 0;
  EXPECT_EQ(static_cast<ssize_t>(sizeof id), ::read(pipe_ends[0], &id, sizeof id));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  EXPECT_EQ(child, ::waitpid(child, nullptr, 0));
  return id;
}

TEST(thread_identity, a_task_is_the_same_on_every_thread) {
  const auto here = caller_identity(7, true);
  thread_identity there;
  std::thread([&] { there = caller_identity(7, false); }).join();
  EXPECT_EQ(here.id, there.id);
  EXPECT_EQ(7, there.number);
  EXPECT_TRUE(there.is_task);
}

TEST(thread_identity, without_a_task_a_call_that_blocks_belongs_to_its_thread) {
  const auto here = caller_identity(0, true);
  thread_identity there;
  std::thread([&] { there = caller_identity(0, true); }).join();
  EXPECT_NE(0U, here.id);
  EXPECT_NE(here.id, there.id);
  EXPECT_EQ(::gettid(), here.number);
  EXPECT_FALSE(here.is_task);
  EXPECT_EQ(0U, caller_identity(0, false).id);
}

TEST(thread_identity, many_tasks_are_different) {
  std::set<std::uint64_t> ids;
  constexpr std::int64_t count = 10'000;
  for (std::int64_t task = 1; task <= count; ++task) ids.insert(task_identity(task).id);
  for (const auto task : {INT64_MAX, INT64_MAX - 1}) ids.insert(task_identity(task).id);
  EXPECT_EQ(static_cast<std::size_t>(count) + 2, ids.size());
  EXPECT_FALSE(ids.contains(0));
}

// A forked child counts its own tasks from the same number (hazard 21).
TEST(thread_identity, hazard_21_a_forked_child_has_other_tasks_and_threads) {
  EXPECT_NE(task_identity(7).id, id_in_child(7));
  EXPECT_NE(this_thread().id, id_in_child(0));
}

}  // namespace
}  // namespace mortise::testing::thread_identity_test
