// The completion queue by itself.
#include "client/event_queue.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "client/lock_handle.hpp"

namespace mortise::testing {
namespace {

using client::event;
using client::event_kind;
using client::event_node;
using client::event_queue;

std::unique_ptr<event_node> notice(std::int64_t tag) {
  auto node = std::make_unique<event_node>();
  node->told.kind = event_kind::lost;
  node->told.tag = tag;
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
  event told;
  for (std::int64_t tag = 1; tag <= 3; ++tag) {
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_EQ(queue.next(0, told), status::ok);
    EXPECT_EQ(told.tag, tag);
  }
  EXPECT_FALSE(is_readable(descriptor));
  EXPECT_EQ(queue.next(0, told), status::timed_out);
}

TEST(event_queue, is_bounded_by_what_is_open_and_unread) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  ASSERT_TRUE(queue.reserve().ok());
  ASSERT_TRUE(queue.reserve().ok());
  EXPECT_EQ(queue.reserve().code, status::limit);
  queue.deliver(notice(1));
  EXPECT_EQ(queue.reserve().code, status::limit);
  event told;
  queue.next(0, told);
  EXPECT_TRUE(queue.reserve().ok());
}

TEST(event_queue, a_wake_and_a_shutdown_end_the_wait) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  event told;
  std::thread waker([&] { queue.wake(); });
  EXPECT_EQ(queue.next(time_never, told), status::timed_out);
  waker.join();
  ASSERT_TRUE(queue.reserve().ok());
  queue.deliver(notice(1));
  queue.shut_down();
  EXPECT_EQ(queue.reserve().code, status::shut_down);
  EXPECT_EQ(queue.next(time_never, told), status::ok);
  EXPECT_EQ(queue.next(time_never, told), status::shut_down);
  EXPECT_TRUE(is_readable(queue.descriptor()));
}

TEST(event_queue, a_shutdown_waits_for_the_calls_that_are_open) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  auto call = std::make_unique<event_node>();
  call->told.kind = event_kind::unlocked;
  ASSERT_TRUE(queue.admit(*call).ok());
  queue.shut_down();
  event told;
  EXPECT_EQ(queue.next(0, told), status::timed_out);
  queue.deliver(std::move(call));
  EXPECT_EQ(queue.next(0, told), status::ok);
  EXPECT_EQ(queue.next(0, told), status::shut_down);
}

TEST(event_queue, a_freed_queue_hands_back_what_nobody_will_read) {
  event_queue queue(2);
  ASSERT_TRUE(queue.open().ok());
  ASSERT_TRUE(queue.reserve().ok());
  queue.close();
  EXPECT_TRUE(queue.deliver(notice(1)));
}

}  // namespace
}  // namespace mortise::testing
