// One blocked caller of pipeline::await. It sleeps on a futex, or it leads: it reads the socket
// itself while a request submitted in its name is open.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::net {

class caller {
 public:
  // The event that a caller waits for: the answer to its own request, or any input. A caller that
  // waits for anything leads while any request is open.
  enum class wish : std::uint8_t { answer, anything };

  explicit caller(wish what = wish::answer) noexcept : wish_(what) {}
  // Waits until finish() no longer uses the object.
  ~caller() { settle(); }
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  // Ends the wait, and wakes a sleeping caller. Any thread, any number of times, but never after
  // the caller could see is_done(): the object may be destroyed then.
  void finish() noexcept;
  // The same, async-signal-safe, and wakes immediately.
  void finish_from_signal() noexcept;
  [[nodiscard]] bool is_done() const noexcept {
    return state_.load(std::memory_order_acquire) == state_done;
  }
  // The start of the call, which saves reading the clock. For its thread only, before it waits.
  void begins_at(time_ns now) noexcept { begun_ns_ = now; }
  // The user of its thread, for a layer with several connections; nullptr for none yet. For its
  // thread only.
  void lend_to(void* user) noexcept { lent_to_ = user; }
  [[nodiscard]] void* lent_to() const noexcept { return lent_to_; }
  // Waits without a connection, like pipeline::await.
  bool wait(time_ns deadline) noexcept;
  // Whether the caller belongs to the calling thread.
  [[nodiscard]] bool is_own() const noexcept {
    return ::pthread_equal(thread_.load(std::memory_order_relaxed), ::pthread_self()) != 0;
  }

  // ---- what a connection's await() consists of ----------------------------------------------
  // The waiting thread calls these, the first three and the last two without locks.
  // The start of the wait for an answer; 0 if it waits for anything. `is_early`: its call has just
  // begun.
  [[nodiscard]] time_ns request_time(bool is_early) const noexcept;
  // Whether it may take a sleep that only an answer ends. Such a sleep may miss the deadline, or an
  // event that does not come by this connection.
  static bool may_nap(time_ns request_ns, time_ns deadline) noexcept;
  // Waits for the end of `finishing`, and returns whether it is done.
  bool settle() noexcept;
  // False when the wait is over already.
  bool begin_leading(int kick_descriptor) noexcept;
  void end_leading() noexcept;
  [[nodiscard]] bool is_leading() const noexcept {
    return state_.load(std::memory_order_acquire) == state_leading;
  }
  // False when the wait is over already.
  bool begin_sleep() noexcept;
  // Sleeps until a wake-up or the deadline.
  void sleep(time_ns deadline) noexcept;

  // For its thread only: it has led since its submit.
  [[nodiscard]] bool leads_early() const noexcept { return leads_early_; }
  // For a futex_wake after the caller may be destroyed.
  [[nodiscard]] const std::atomic<std::uint32_t>* address() const noexcept { return &state_; }

 private:
  friend class leader_followers;
  friend class wake_scope;

  // A finisher sets `finishing` until it sets `done`, which keeps the caller alive meanwhile. A
  // leader sleeps in ppoll, where only its descriptor wakes it, so the descriptor must stay open.
  // Any other caller may be woken later (see wake_scope).
  static constexpr std::uint32_t state_running = 0;
  static constexpr std::uint32_t state_sleeping = 1;
  static constexpr std::uint32_t state_leading = 2;
  static constexpr std::uint32_t state_finishing = 3;
  static constexpr std::uint32_t state_done = 4;

  enum class finisher : std::uint8_t { ordinary, maybe_signal_handler };
  void end_wait(finisher origin) noexcept;

  // Another thread ends a sleep without ending the wait. False when there is no sleep.
  bool rouse() noexcept;

  const wish wish_;
  std::atomic<std::uint32_t> state_{state_running};
  std::atomic<int> kick_descriptor_{-1};
  std::atomic<pthread_t> thread_{::pthread_self()};  // the creating or leading thread
  caller* next_to_wake_ = nullptr;                   // the wake_scope's
  time_ns begun_ns_ = 0;                             // its thread's own; 0 if not set
  void* lent_to_ = nullptr;
  bool leads_early_ = false;  // its thread's own: it has led since its submit

  // Used by leader_followers, under its owner's mutex.
  std::uint64_t last_request_ = 0;  // the number of the last request in its name
  caller* previous_ = nullptr;      // in the list of followers
  caller* next_ = nullptr;
  bool is_following_ = false;
};

}  // namespace mortise::net
