// The completion queue by itself.
#include "client/events/event_queue.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "client/events/event_log.hpp"
#include "client/handles/lock_handle.hpp"

namespace mortise::testing::event_queue_test {
namespace {

using client::event;
using client::event_kind;
using client::event_node;
using client::event_queue;

std::unique_ptr<event_node> notice(std::int64_t tag) {
  auto node = std::make_unique<event_node>();
  node->content.kind = event_kind::lost;
  node->content.tag = tag;
  return node;
}

std::unique_ptr<event_node> line(std::int64_t tag) {
  auto node = std::make_unique<event_node>();
  node->content.kind = event_kind::log;
  node->content.tag = tag;
  return node;
}

std::unique_ptr<event_node> due() {
  auto node = std::make_unique<event_node>();
  node->content.kind = event_kind::stats;
  return node;
}

bool is_readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

TEST(event_queue, gives_events_in_order_and_its_descriptor_follows) {
  event_queue queue(10);
  ASSERT_TRUE(queue.open().ok());
  const int descriptor = queue.descriptor();
  EXPECT_FALSE(is_readable(descriptor));
  for (std::int64_t tag = 1; tag <= 3; ++tag) {
    ASSERT_TRUE(queue.reserve().ok());
    EXPECT_FALSE(queue.deliver(notice(tag)));
  }
  event received;
  for (std::int64_t tag = 1; tag <= 3; ++tag) {
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_EQ(queue.next(0, received), status::ok);
    EXPECT_EQ(received.tag, tag);
  }
  EXPECT_FALSE(is_readable(descriptor));
  EXPECT_EQ(queue.next(0, received), status::timed_out);
}

TEST(event_queue, is_bounded_by_what_is_open_and_unread) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  ASSERT_TRUE(queue.reserve().ok());
  ASSERT_TRUE(queue.reserve().ok());
  EXPECT_EQ(queue.reserve().code, status::limit);
  queue.deliver(notice(1));
  EXPECT_EQ(queue.reserve().code, status::limit);
  event received;
  queue.next(0, received);
  EXPECT_TRUE(queue.reserve().ok());
}

TEST(event_queue, a_wake_and_a_shutdown_end_the_wait) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  event received;
  std::thread waker([&] { queue.wake(); });
  EXPECT_EQ(queue.next(time_never, received), status::timed_out);
  waker.join();
  ASSERT_TRUE(queue.reserve().ok());
  queue.deliver(notice(1));
  queue.shut_down();
  EXPECT_EQ(queue.reserve().code, status::shut_down);
  EXPECT_EQ(queue.next(time_never, received), status::ok);
  EXPECT_EQ(queue.next(time_never, received), status::shut_down);
  EXPECT_TRUE(is_readable(queue.descriptor()));
}

TEST(event_queue, a_shutdown_waits_for_the_calls_that_are_open) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  auto call = std::make_unique<event_node>();
  call->content.kind = event_kind::unlocked;
  ASSERT_TRUE(queue.admit(*call).ok());
  queue.shut_down();
  event received;
  EXPECT_EQ(queue.next(0, received), status::timed_out);
  queue.deliver(std::move(call));
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(queue.next(0, received), status::shut_down);
}

TEST(event_queue, a_freed_queue_hands_back_what_nobody_will_read) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  ASSERT_TRUE(queue.reserve().ok());
  queue.close();
  EXPECT_TRUE(queue.deliver(notice(1)));
}

// ---- reports --------------------------------------------------------------------------------

TEST(event_queue, a_report_stands_behind_what_came_later) {
  event_queue queue(10);
  ASSERT_TRUE(queue.open().ok());
  const int descriptor = queue.descriptor();
  ASSERT_TRUE(queue.report(line(1)));
  ASSERT_TRUE(queue.reserve().ok());
  queue.deliver(notice(2));
  event received;
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(received.tag, 2);
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(received.tag, 1);
  EXPECT_FALSE(is_readable(descriptor));
}

TEST(event_queue, reports_take_no_place_and_are_few) {
  event_queue queue(1);
  ASSERT_TRUE(queue.open().ok());
  for (int i = 0; i < event_queue::longest_reports; ++i) ASSERT_TRUE(queue.report(line(i)));
  EXPECT_FALSE(queue.report(line(0)));
  EXPECT_TRUE(queue.report(due()));
  EXPECT_FALSE(queue.report(due()));  // one is enough
  EXPECT_TRUE(queue.reserve().ok());
  EXPECT_EQ(queue.reserve().code, status::limit);
  event received;
  for (int i = 0; i < event_queue::longest_reports; ++i)
    EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_TRUE(queue.report(line(0)));
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(received.kind, event_kind::stats);
  EXPECT_TRUE(queue.report(due()));
  EXPECT_EQ(queue.reserve().code, status::limit);  // reading reports has given back none
}

TEST(event_queue, a_queue_that_is_shut_down_takes_no_report_and_gives_those_it_has) {
  event_queue queue(1);
  ASSERT_TRUE(queue.open().ok());
  ASSERT_TRUE(queue.report(line(1)));
  queue.shut_down();
  EXPECT_FALSE(queue.report(line(2)));
  event received;
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(queue.next(0, received), status::shut_down);
}

// ---- the log --------------------------------------------------------------------------------

std::shared_ptr<event_queue> open_queue() {
  auto queue = std::make_shared<event_queue>(1);
  EXPECT_TRUE(queue->open().ok());
  return queue;
}

event next_line(event_queue& queue) {
  event received;
  EXPECT_EQ(queue.next(0, received), status::ok);
  EXPECT_EQ(received.kind, event_kind::log);
  return received;
}

TEST(event_log, tells_what_is_as_bad_as_its_level_or_worse) {
  client::event_log log;
  log.note(log_subject::lost, outcome::lost(reason::expired), "early");
  const auto queue = open_queue();
  ASSERT_TRUE(log.watch(queue, 7, log_level::warning).ok());
  log.note(log_subject::reconnected, outcome());
  log.note(log_subject::slow, outcome());
  log.note(log_subject::lost, outcome::lost(reason::replaced), "it");
  EXPECT_EQ(next_line(*queue).subject, log_subject::slow);
  const auto record = next_line(*queue);
  EXPECT_EQ(record.tag, 7);
  EXPECT_EQ(record.level, log_level::error);
  EXPECT_EQ(record.error.why, reason::replaced);
  EXPECT_EQ(*record.error.lock, "it");
  EXPECT_EQ(record.error.message, std::string("\"it\": ") + reason_text(reason::replaced));
  ASSERT_TRUE(log.watch(nullptr, 0, log_level::none).ok());
  log.note(log_subject::lost, outcome::lost(reason::expired), "late");
  event none;
  EXPECT_EQ(queue->next(0, none), status::timed_out);
}

TEST(event_log, leaves_out_what_comes_too_fast_and_says_how_much) {
  client::event_log log;
  const auto queue = open_queue();
  ASSERT_TRUE(log.watch(queue, 0, log_level::info).ok());
  for (int i = 0; i < client::allowance::at_once + 5; ++i) log.note(log_subject::slow, outcome());
  log.note(log_subject::refused, outcome());
  for (int i = 0; i < client::allowance::at_once; ++i) {
    const auto record = next_line(*queue);
    EXPECT_EQ(record.subject, log_subject::slow);
    EXPECT_EQ(record.dropped_records, 0);
  }
  const auto line = next_line(*queue);
  EXPECT_EQ(line.subject, log_subject::refused);
  EXPECT_EQ(line.dropped_records, 5);
}

TEST(event_log, gives_one_more_in_a_while) {
  client::allowance some;
  time_ns now = 1000 * ns_per_s;
  for (int i = 0; i < client::allowance::at_once; ++i) EXPECT_TRUE(some.take(now));
  EXPECT_FALSE(some.take(now));
  now += client::allowance::one_in_ns;
  EXPECT_TRUE(some.take(now));
  EXPECT_FALSE(some.take(now));
}

TEST(event_log, keeps_no_queue_once_it_has_ended) {
  client::event_log log;
  const auto queue = open_queue();
  ASSERT_TRUE(log.watch(queue, 0, log_level::info).ok());
  log.end();
  EXPECT_EQ(queue.use_count(), 1);
  EXPECT_EQ(log.watch(queue, 0, log_level::info).code, status::closed);
  queue->shut_down();
  client::event_log other;
  EXPECT_EQ(other.watch(queue, 0, log_level::info).code, status::shut_down);
}

}  // namespace
}  // namespace mortise::testing::event_queue_test
