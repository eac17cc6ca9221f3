// The client's one I/O thread: descriptors (epoll), timers (CLOCK_BOOTTIME) and posted tasks.
//
// All callbacks run on that thread, without any lock of the reactor held, and must not block. Other
// threads post tasks, schedule timers and change the events of a descriptor.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/fifo.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/timer_heap.hpp"

struct epoll_event;

namespace mortise::net {

// Notified when a descriptor is ready.
class event_handler {
 public:
  virtual ~event_handler() = default;
  // `events` as from epoll_wait: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR.
  virtual void on_ready(std::uint32_t events) noexcept = 0;
};

// Work for the reactor's thread. Its owner keeps it alive while it is posted.
class task : public fifo_link<task> {
 public:
  task() = default;
  virtual ~task() = default;
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  virtual void run() noexcept = 0;

 private:
  friend class reactor;
  bool is_posted_ = false;
};

class reactor {
 public:
  reactor() = default;
  // Stops it.
  ~reactor();
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;

  // Starts the thread. status::no_memory or status::limit when the system refuses.
  [[nodiscard]] outcome start();
  // Ends the thread and waits for it. Not from the thread itself. Posted tasks and scheduled timers
  // never run afterwards. May be called again.
  void stop() noexcept;
  [[nodiscard]] bool is_current_thread() const noexcept;

  // Any thread. `events` as for epoll, level-triggered; may be 0. add returns 0 or the errno.
  int add(int descriptor, std::uint32_t events, event_handler& handler) noexcept;
  void modify(int descriptor, std::uint32_t events, event_handler& handler) noexcept;
  // Stops events until the descriptor is added again, except events in progress.
  void pause(int descriptor) noexcept;
  // For the reactor's thread only, before the descriptor is closed. The handler is not called
  // afterwards.
  void remove(int descriptor, event_handler& handler) noexcept;

  // Any thread. Scheduling again moves the timer. With a slack it may run earlier by that much,
  // together with a timer that is due: one wake-up and one write then serve many.
  void schedule(timer& item, time_ns at_ns, time_ns slack_ns = 0) noexcept;
  // Any thread. Afterwards on_timer is not running, unless this is the reactor's thread.
  void cancel(timer& item) noexcept;

  // Runs the task once, soon, and before the thread sleeps again. Any thread. Costs a system call
  // only while the reactor sleeps. A task that is already posted stays posted.
  void post(task& item) noexcept;
  // Any thread. Afterwards the task is not running, unless this is the reactor's thread.
  void cancel(task& item) noexcept;

 private:
  static void* enter(void* self) noexcept;
  void run() noexcept;
  void run_tasks() noexcept;
  void run_timers() noexcept;
  void sleep_and_dispatch() noexcept;
  void arm_clock(time_ns at_ns) noexcept;
  void kick() const noexcept;
  outcome open_descriptors();
  void close_descriptors() noexcept;

  int epoll_fd_ = -1;
  int wake_fd_ = -1;
  int clock_fd_ = -1;
  pthread_t thread_{};
  bool is_started_ = false;
  std::atomic<bool> is_stopping_{false};

  // The events of the current batch that are not dispatched yet; the thread's own.
  epoll_event* batch_ = nullptr;
  int batch_size_ = 0;
  bool are_timers_due_ = false;  // more than one turn runs; the thread's own

  std::mutex mutex_;
  std::condition_variable has_run_;
  int waiting_for_run_ = 0;
  const void* running_ = nullptr;  // the running task or timer
  bool is_asleep_ = false;
  fifo<task> tasks_;
  timer_heap timers_;
  time_ns clock_armed_for_ = time_never;
};

}  // namespace mortise::net
