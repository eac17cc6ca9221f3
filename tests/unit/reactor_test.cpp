#include "net/reactor.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace mortise::net::reactor_test {
namespace {

constexpr auto generous = std::chrono::seconds(20);

// Counts, and lets a test wait for a count.
class counter {
 public:
  void add() {
    const std::lock_guard guard(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, generous, [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard guard(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

struct counting_timer final : timer {
  void on_timer(time_ns now) noexcept override {
    fired_at = now;
    fired.add();
  }
  counter fired;
  time_ns fired_at = 0;
};

struct counting_task final : task {
  void run() noexcept override { ran.add(); }
  counter ran;
};

struct noting_timer final : timer {
  void on_timer(time_ns) noexcept override {}
  int number = 0;
};

TEST(timer_heap, gives_timers_in_order_through_any_changes) {
  std::mt19937 chance(7);
  std::deque<noting_timer> timers(500);
  std::vector<time_ns> when(timers.size(), -1);
  timer_heap heap;
  for (int round = 0; round < 20000; ++round) {
    const auto i = chance() % timers.size();
    if (chance() % 3 != 0) {
      when[i] = static_cast<time_ns>(chance() % 1000);
      heap.insert(timers[i], when[i]);
    } else {
      when[i] = -1;
      heap.remove(timers[i]);
    }
    EXPECT_EQ(timer_heap::contains(timers[i]), when[i] >= 0);
  }
  std::vector<time_ns> expected;
  std::copy_if(when.begin(), when.end(), std::back_inserter(expected),
               [](time_ns at) { return at >= 0; });
  std::sort(expected.begin(), expected.end());
  for (const auto at : expected) {
    EXPECT_EQ(heap.earliest(), at);
    EXPECT_EQ(heap.take_due(at - 1), nullptr);
    EXPECT_NE(heap.take_due(at), nullptr);
  }
  EXPECT_TRUE(heap.is_empty());
  EXPECT_EQ(heap.earliest(), time_never);
}

// Timers with a slack share places in the heap, and each is found, moved and removed all the same.
TEST(timer_heap, rounds_timers_with_a_slack_down_by_less_than_a_share) {
  std::mt19937 chance(11);
  std::deque<noting_timer> timers(300);
  std::vector<time_ns> when(timers.size(), -1);
  timer_heap heap;
  constexpr time_ns slack = 640;
  for (int round = 0; round < 20000; ++round) {
    const auto i = chance() % timers.size();
    if (chance() % 3 != 0) {
      when[i] = static_cast<time_ns>(chance() % 3000);
      heap.insert(timers[i], when[i], chance() % 4 == 0 ? 0 : slack);
    } else {
      when[i] = -1;
      heap.remove(timers[i]);
    }
    EXPECT_EQ(timer_heap::contains(timers[i]), when[i] >= 0);
  }
  std::set<const timer*> taken;
  for (time_ns now = 0; now < 3000; ++now) {
    while (const auto* const due = heap.take_due(now)) {
      const auto i = static_cast<std::size_t>(
          std::find_if(timers.begin(), timers.end(), [&](const auto& one) { return &one == due; }) -
          timers.begin());
      EXPECT_LE(now, when[i]);
      EXPECT_GT(now, when[i] - slack / 64);
      taken.insert(due);
    }
  }
  EXPECT_TRUE(heap.is_empty());
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(std::count_if(
                              when.begin(), when.end(), [](time_ns at) { return at >= 0; })));
}

TEST(timer_heap, gives_a_timer_early_only_within_its_slack) {
  timer_heap heap;
  noting_timer renewal;
  noting_timer deadline;
  heap.insert(renewal, 10'000, 1'000);
  EXPECT_EQ(heap.take_due(9'500), nullptr);
  EXPECT_EQ(heap.take_due(8'990, true), nullptr);
  EXPECT_EQ(heap.take_due(9'030, true), &renewal);
  heap.insert(deadline, 10'000);
  EXPECT_EQ(heap.take_due(9'999, true), nullptr);
  EXPECT_EQ(heap.take_due(10'000, true), &deadline);
}

class reactor_test : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(loop_.start().ok()); }
  reactor loop_;
};

TEST_F(reactor_test, runs_a_posted_task_on_its_thread) {
  struct where final : task {
    explicit where(reactor& of) : loop(of) {}
    void run() noexcept override {
      was_there = loop.is_current_thread();
      ran.add();
    }
    reactor& loop;
    bool was_there = false;
    counter ran;
  } item(loop_);
  loop_.post(item);
  ASSERT_TRUE(item.ran.wait_for(1));
  EXPECT_TRUE(item.was_there);
  EXPECT_FALSE(loop_.is_current_thread());
}

TEST_F(reactor_test, wakes_up_for_a_posted_task) {
  struct counted final : task {
    void run() noexcept override { ran.add(); }
    counter ran;
  } item;
  for (int round = 1; round <= 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // its thread is asleep by then
    loop_.post(item);
    ASSERT_TRUE(item.ran.wait_for(round));
  }
}

TEST_F(reactor_test, runs_a_task_that_posts_itself_again_and_still_sees_descriptors) {
  struct forever final : task {
    explicit forever(reactor& of) : loop(of) {}
    void run() noexcept override {
      ran.add();
      if (!is_over.load()) loop.post(*this);
    }
    reactor& loop;
    std::atomic<bool> is_over{false};
    counter ran;
  } item(loop_);
  loop_.post(item);
  ASSERT_TRUE(item.ran.wait_for(100));
  counting_timer soon;
  loop_.schedule(soon, boot_now());
  EXPECT_TRUE(soon.fired.wait_for(1));
  item.is_over = true;
  loop_.cancel(item);
}

TEST_F(reactor_test, fires_timers_in_order_and_never_early) {
  std::deque<counting_timer> timers(20);
  const time_ns start = boot_now();
  for (std::size_t i = 0; i < timers.size(); ++i) {
    loop_.schedule(timers[i], start + static_cast<time_ns>(timers.size() - i) * ns_per_ms);
  }
  for (std::size_t i = 0; i < timers.size(); ++i) {
    ASSERT_TRUE(timers[i].fired.wait_for(1));
    EXPECT_GE(timers[i].fired_at, start + static_cast<time_ns>(timers.size() - i) * ns_per_ms);
  }
}

TEST_F(reactor_test, runs_timers_within_their_slack_together_with_a_due_one) {
  std::deque<counting_timer> timers(100);
  const time_ns start = boot_now();
  const time_ns hour = 3600 * ns_per_s;
  for (auto& item : timers) loop_.schedule(item, start + hour, 2 * hour);
  counting_timer exact;
  counting_timer due;
  loop_.schedule(exact, start + 2 * hour);
  EXPECT_EQ(timers.front().fired.count(), 0);
  loop_.schedule(due, start);
  ASSERT_TRUE(due.fired.wait_for(1));
  counting_task after;
  loop_.post(after);
  ASSERT_TRUE(after.ran.wait_for(1));
  const auto fired = std::count_if(timers.begin(), timers.end(),
                                   [](auto& item) { return item.fired.count() == 1; });
  EXPECT_EQ(fired, 31) << "in all 32 in one turn";
  EXPECT_EQ(exact.fired.count(), 0);
  for (auto& item : timers) loop_.cancel(item);
  loop_.cancel(static_cast<timer&>(exact));
}

TEST_F(reactor_test, runs_all_due_timers_though_one_turn_has_a_limit) {
  std::deque<counting_timer> timers(1000);
  const time_ns start = boot_now();
  for (auto& item : timers) loop_.schedule(item, start);
  for (auto& item : timers) ASSERT_TRUE(item.fired.wait_for(1));
}

TEST_F(reactor_test, moves_and_cancels_timers) {
  counting_timer moved;
  counting_timer cancelled;
  const time_ns start = boot_now();
  loop_.schedule(moved, start + 3600 * ns_per_s);
  loop_.schedule(cancelled, start + 5 * ns_per_ms);
  loop_.cancel(cancelled);
  loop_.schedule(moved, start + 20 * ns_per_ms);
  ASSERT_TRUE(moved.fired.wait_for(1));
  EXPECT_EQ(cancelled.fired.count(), 0);
}

TEST_F(reactor_test, cancel_waits_for_a_timer_that_is_running) {
  struct slow final : timer {
    void on_timer(time_ns) noexcept override {
      started.add();
      go_on.wait_for(1);
      is_finished = true;
    }
    counter started;
    counter go_on;
    bool is_finished = false;  // unsynchronised: cancel() is what orders it
  } item;
  loop_.schedule(item, boot_now());
  ASSERT_TRUE(item.started.wait_for(1));
  std::thread releaser([&] { item.go_on.add(); });
  loop_.cancel(static_cast<timer&>(item));
  EXPECT_TRUE(item.is_finished);
  releaser.join();
}

TEST_F(reactor_test, a_timer_may_schedule_itself) {
  struct ticking final : timer {
    explicit ticking(reactor& of) : loop(of) {}
    void on_timer(time_ns now) noexcept override {
      ticks.add();
      loop.schedule(*this, now + ns_per_ms);
    }
    reactor& loop;
    counter ticks;
  } item(loop_);
  loop_.schedule(item, boot_now());
  EXPECT_TRUE(item.ticks.wait_for(5));
  loop_.cancel(item);
}

struct ready_handler final : event_handler {
  void on_ready(std::uint32_t events) noexcept override {
    last_events = events;
    std::uint64_t value = 0;
    EXPECT_EQ(::read(descriptor, &value, sizeof value), static_cast<ssize_t>(sizeof value));
    calls.add();
  }
  int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<std::uint32_t> last_events{0};
  counter calls;
};

TEST_F(reactor_test, tells_when_a_descriptor_is_ready_and_only_then) {
  ready_handler handler;
  const std::uint64_t one = 1;
  ASSERT_EQ(loop_.add(handler.descriptor, 0, handler), 0);
  ASSERT_EQ(::write(handler.descriptor, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  counting_task passed;
  loop_.post(passed);
  ASSERT_TRUE(passed.ran.wait_for(1));
  EXPECT_EQ(handler.calls.count(), 0);
  loop_.modify(handler.descriptor, EPOLLIN, handler);
  ASSERT_TRUE(handler.calls.wait_for(1));
  EXPECT_EQ(handler.last_events.load(), static_cast<std::uint32_t>(EPOLLIN));
  EXPECT_NE(loop_.add(handler.descriptor, 0, handler), 0);
  loop_.stop();
  ::close(handler.descriptor);
}

TEST_F(reactor_test, stands_many_threads_at_once) {
  std::deque<counting_task> tasks(8);
  std::deque<counting_timer> timers(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 2000; ++round) {
        loop_.post(tasks[i]);
        loop_.schedule(timers[i], boot_now() + round % 3 * ns_per_us);
        if (round % 7 == 0) loop_.cancel(tasks[i]);
        if (round % 5 == 0) loop_.cancel(timers[i]);
      }
      loop_.post(tasks[i]);
      loop_.schedule(timers[i], boot_now());
      EXPECT_TRUE(tasks[i].ran.wait_for(1));
      EXPECT_TRUE(timers[i].fired.wait_for(1));
      loop_.cancel(tasks[i]);
      loop_.cancel(timers[i]);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(reactor, stops_with_things_pending) {
  counting_timer later;
  counting_task item;
  reactor loop;
  ASSERT_TRUE(loop.start().ok());
  loop.schedule(later, boot_now() + 3600 * ns_per_s);
  loop.post(item);
  loop.stop();
  loop.stop();
  EXPECT_EQ(later.fired.count(), 0);
}

}  // namespace
}  // namespace mortise::net::reactor_test
