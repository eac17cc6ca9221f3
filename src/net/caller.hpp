// One blocked caller of connection::await: it sleeps on a futex, or leads, which is to read the
// socket itself while a request that was submitted in its name is open.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::net {

class caller {
 public:
  // What a caller waits for: the answer to a request of its own, or whatever comes. One that waits
  // for anything leads while any request is open.
  enum class wish : std::uint8_t { answer, anything };

  explicit caller(wish what = wish::answer) noexcept : wish_(what) {}
  // Once it has been finished, finish() has let go of it.
  ~caller() { settle(); }
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  // Marks the wait as over and wakes the caller wherever it sleeps. Any thread, any number of
  // times, but not after the caller could see is_done(): the object may be gone then.
  void finish() noexcept;
  // The same, async-signal-safe, and wakes at once.
  void finish_from_signal() noexcept;
  [[nodiscard]] bool is_done() const noexcept {
    return state_.load(std::memory_order_acquire) == state_done;
  }
  // When its call began, which saves a look at the clock. Its thread only, before it waits.
  void begins_at(time_ns now) noexcept { begun_ns_ = now; }
  // Whom its thread is lent to, for a layer that has several connections; nullptr for nobody yet.
  // Its thread's own.
  void lend_to(void* whom) noexcept { lent_to_ = whom; }
  [[nodiscard]] void* lent_to() const noexcept { return lent_to_; }
  // Waits without a connection; as connection::await.
  bool wait(time_ns deadline) noexcept;
  // Whether it stands for the calling thread.
  [[nodiscard]] bool is_own() const noexcept {
    return ::pthread_equal(thread_.load(std::memory_order_relaxed), ::pthread_self()) != 0;
  }

  // ---- what a connection's await() consists of ----------------------------------------------
  // Each of these is called by the waiting thread, the first three and the last two without locks.
  // Since when it waits for an answer; 0 where it waits for anything. `is_early`: its call has just
  // begun.
  [[nodiscard]] time_ns asked_at(bool is_early) const noexcept;
  // Whether it may sleep where nothing but an answer wakes it, which would make it late for its
  // deadline or for what does not come by this connection.
  static bool may_nap(time_ns asked_ns, time_ns deadline) noexcept;
  // Waits out a `finishing`; then whether it is done.
  bool settle() noexcept;
  // False when the wait is over already.
  bool begin_leading(int kick_descriptor) noexcept;
  void end_leading() noexcept;
  [[nodiscard]] bool is_leading() const noexcept {
    return state_.load(std::memory_order_acquire) == state_leading;
  }
  // False when the wait is over already.
  bool begin_sleep() noexcept;
  // Until somebody wakes it, or the deadline.
  void sleep(time_ns deadline) noexcept;

  // Its thread's own: it has had the lead since its submit.
  [[nodiscard]] bool leads_early() const noexcept { return leads_early_; }
  // For a futex_wake after it may be gone.
  [[nodiscard]] const std::atomic<std::uint32_t>* address() const noexcept { return &state_; }

 private:
  friend class leader_followers;
  friend class wake_scope;

  // Whoever finishes a caller and is not done with it says `finishing`, which keeps the caller
  // where it is until `done`: because it leads, and so sleeps in ppoll, where a futex does not
  // reach it but its descriptor has to be there; or because it is woken later (see wake_scope).
  static constexpr std::uint32_t state_running = 0;
  static constexpr std::uint32_t state_sleeping = 1;
  static constexpr std::uint32_t state_leading = 2;
  static constexpr std::uint32_t state_finishing = 3;
  static constexpr std::uint32_t state_done = 4;

  enum class finisher : std::uint8_t { ordinary, maybe_signal_handler };
  void end_wait(finisher by) noexcept;

  // By another thread: ends a sleep without ending the wait. False when it does not sleep.
  bool rouse() noexcept;

  const wish wish_;
  std::atomic<std::uint32_t> state_{state_running};
  std::atomic<int> kick_descriptor_{-1};
  std::atomic<pthread_t> thread_{::pthread_self()};  // that made it, or that leads
  caller* next_to_wake_ = nullptr;                   // the wake_scope's
  time_ns begun_ns_ = 0;                             // its thread's own; 0 when not told
  void* lent_to_ = nullptr;
  bool leads_early_ = false;  // its thread's own: it has had the lead since its submit

  // The leader_followers's, under its owner's mutex.
  std::uint64_t last_request_ = 0;  // the number of the last request in its name
  caller* previous_ = nullptr;      // in the list of followers
  caller* next_ = nullptr;
  bool is_following_ = false;
};

}  // namespace mortise::net
