// The ring of a client's lock events.
#include "client/events/lock_history.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace mortise::testing::lock_history_test {
namespace {

using client::lock_history;

// An event whose fields all follow from one number.
lock::lock_event event_of(std::int64_t number) {
  lock::lock_event event;
  event.kind = lock::event_kind::released;
  event.mode = lock::hold_mode::shared;
  event.code = static_cast<std::int32_t>(-number);
  event.permits = number;
  event.handle = static_cast<std::uint64_t>(number);
  event.token = number;
  event.at = number;
  event.since = number;
  return event;
}

bool is_whole(const lock::lock_event& event) {
  const auto number = event.token;
  return event.at == number && event.since == number && event.permits == number &&
         event.code == -number && event.handle == static_cast<std::uint64_t>(number) &&
         event.kind == lock::event_kind::released && event.mode == lock::hold_mode::shared;
}

TEST(lock_history, returns_each_event_as_it_was_added) {
  const auto history = std::make_unique<lock_history>();
  EXPECT_FALSE(history->read(0, 0));
  constexpr std::int64_t count = 1000;  // in several chunks
  for (std::int64_t i = 0; i < count; ++i) history->add(i % 2 == 0 ? 7 : 9, event_of(i));
  EXPECT_EQ(0U, history->first());
  ASSERT_EQ(static_cast<std::uint64_t>(count), history->end());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    const auto event = history->read(number, 0);
    ASSERT_TRUE(event) << i;
    EXPECT_EQ(i, event->token);
    EXPECT_TRUE(is_whole(*event)) << i;
    EXPECT_EQ(i % 2 == 0, history->read(number, 7).has_value());
    EXPECT_EQ(i % 2 != 0, history->read(number, 9).has_value());
  }
}

TEST(lock_history, keeps_only_the_latest_events) {
  const auto history = std::make_unique<lock_history>();
  constexpr auto capacity = static_cast<std::int64_t>(lock_history::capacity);
  for (std::int64_t i = 0; i < capacity + 10; ++i) history->add(7, event_of(i));
  EXPECT_EQ(10U, history->first());
  EXPECT_FALSE(history->read(9, 7));
  for (std::int64_t i = 10; i < capacity + 10; ++i) {
    const auto event = history->read(static_cast<std::uint64_t>(i), 7);
    ASSERT_TRUE(event) << i;
    EXPECT_EQ(i, event->token);
  }
  EXPECT_FALSE(history->read(history->end(), 7));
}

TEST(lock_history, numbers_handles_from_1) {
  lock_history history;
  EXPECT_EQ(1U, history.new_handle());
  EXPECT_EQ(2U, history.new_handle());
}

// Gates of many threads add at the same time, and a listing reads meanwhile.
TEST(lock_history, never_returns_a_part_of_an_event) {
  const auto history = std::make_unique<lock_history>();
  constexpr int writers = 4;
  constexpr std::int64_t each = 1'000'000;
  std::vector<std::jthread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      for (std::int64_t i = 0; i < each; ++i) history->add(7, event_of(i * writers + writer));
    });
  }
  // The slots that are replaced at this moment.
  while (history->end() < writers * each) {
    for (std::uint64_t before = 0; before < 8; ++before) {
      const auto next = history->end() - before;
      if (next < lock_history::capacity) continue;
      const auto event = history->read(next - lock_history::capacity, 7);
      ASSERT_TRUE(!event || is_whole(*event)) << next;
    }
  }
  threads.clear();
  std::uint64_t kept = 0;
  for (auto number = history->first(); number < history->end(); ++number) {
    const auto event = history->read(number, 7);
    if (event) ++kept;
    ASSERT_TRUE(!event || is_whole(*event)) << number;
  }
  EXPECT_GT(kept, lock_history::capacity / 2);
}

}  // namespace
}  // namespace mortise::testing::lock_history_test
