// When the pending releases of one server are sent: in batches, the next after the replies to the
// last. Pauses grow while the server rejects them. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::quorum {

// A delay that doubles with each failure, up to a limit. Half of it is random, so that clients do
// not retry in step.
constexpr time_ns spread_delay(time_ns first, int failures, time_ns most,
                               std::uint64_t chance) noexcept {
  constexpr int most_doublings = 16;
  const auto most_or_first = std::max(first, most);
  const auto delay = std::min(first << std::min(failures, most_doublings), most_or_first);
  return delay / 2 + static_cast<time_ns>(chance % static_cast<std::uint64_t>(delay / 2 + 1));
}

class delivery {
 public:
  static constexpr std::size_t batch = 128;
  static constexpr time_ns first_delay_ns = 50 * ns_per_ms;
  static constexpr time_ns most_delay_ns = 2 * ns_per_s;

  // The server accepts requests again: due at once.
  void begin() noexcept {
    due_at_ = 0;
    failures_ = 0;
  }
  // There was no room for a release, or the server rejected it.
  void postpone(time_ns now, std::uint64_t chance) noexcept {
    if (due_at_ != time_never && now < due_at_) return;
    due_at_ = now + spread_delay(first_delay_ns, failures_++, most_delay_ns, chance);
  }
  // No release is pending, or there is no connection.
  void end() noexcept { due_at_ = time_never; }
  [[nodiscard]] bool is_due(time_ns now) const noexcept { return open_ == 0 && now >= due_at_; }
  // When the next batch is due. time_never if a reply or a connection comes first.
  [[nodiscard]] time_ns due_at() const noexcept { return open_ == 0 ? due_at_ : time_never; }

  void note_sent() noexcept { ++open_; }
  void note_answered() noexcept {
    if (open_ > 0) --open_;
  }
  [[nodiscard]] bool is_full() const noexcept { return open_ >= batch; }

 private:
  time_ns due_at_ = time_never;
  int failures_ = 0;
  std::size_t open_ = 0;  // requests of the batch
};

}  // namespace mortise::quorum
