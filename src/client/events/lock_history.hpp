// The latest lock events of a client, for listings of a lock's history. Gates add events under
// their own mutexes, and the ring has none: each event has a checksum, which shows a reader that
// another event has replaced a part of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lock/lock_event.hpp"

namespace mortise::client {

class lock_history final {
 public:
  static constexpr std::size_t capacity = 4096;

  // Throws std::bad_alloc without address space.
  lock_history();
  ~lock_history();
  lock_history(const lock_history&) = delete;
  lock_history& operator=(const lock_history&) = delete;

  // The number of a new handle, from 1 on.
  std::uint64_t new_handle() noexcept { return ++handles_; }
  // `name` identifies the lock.
  void add(std::uint64_t name, const lock::lock_event& event) noexcept;

  // The events have numbers. All from the first to before the end may be read.
  [[nodiscard]] std::uint64_t first() const noexcept {
    const auto next = end();
    return next > capacity ? next - capacity : 0;
  }
  [[nodiscard]] std::uint64_t end() const noexcept { return next_.load(); }
  // The event of this number if it is about this lock, or if `name` is 0. Nothing for an event that
  // was replaced, or that is being written.
  [[nodiscard]] std::optional<lock::lock_event> read(std::uint64_t number,
                                                     std::uint64_t name) const noexcept;

 private:
  struct ring;

  // Of its own cache line, so no member of the client waits for the writers of events.
  alignas(64) std::atomic<std::uint64_t> next_{0};
  alignas(64) std::atomic<std::uint64_t> handles_{0};
  ring& ring_;
};

}  // namespace mortise::client
