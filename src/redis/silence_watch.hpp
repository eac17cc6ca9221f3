// Detects a silent server. While requests are open, periodic looks check whether a request of an
// earlier look is still open and nothing was received since. After a third of the limit or half a
// second, whichever is shorter, the answers are overdue. After the whole limit the server is
// silent. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::redis {

class silence_watch {
 public:
  enum class state { well, overdue, silent };

  explicit silence_watch(time_ns limit_ns) noexcept
      : limit_ns_(limit_ns), overdue_ns_(std::min(limit_ns / 3, longest_patience_ns)) {}

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  [[nodiscard]] time_ns period_ns() const noexcept {
    return std::min(limit_ns_, 3 * longest_patience_ns) / 8;
  }
  [[nodiscard]] time_ns limit_ns() const noexcept { return limit_ns_; }
  // From now on the owner calls look() periodically.
  void begin(std::uint64_t submitted, time_ns now) noexcept {
    is_on_ = true;
    mark_ = submitted;
    mark_ns_ = look_ns_ = now;
  }
  void end() noexcept { is_on_ = false; }
  // How long the server has been silent.
  state look(std::uint64_t submitted, std::uint64_t answered, time_ns received_ns,
             time_ns now) noexcept {
    // After missed looks it was this process that did not run. The server is not to blame for
    // unread input.
    const bool was_suspended = now - look_ns_ > 2 * period_ns();
    look_ns_ = now;
    if (was_suspended || answered >= mark_) {
      mark_ = submitted;
      mark_ns_ = now;
    }
    const auto silence_ns = now - std::max(mark_ns_, received_ns);
    if (silence_ns >= limit_ns_) return state::silent;
    return silence_ns >= overdue_ns_ ? state::overdue : state::well;
  }

 private:
  // Independent of the length of calls: another server may serve by then.
  static constexpr time_ns longest_patience_ns = ns_per_s / 2;

  const time_ns limit_ns_;
  const time_ns overdue_ns_;
  bool is_on_ = false;
  // Requests up to number mark_ were all submitted by mark_ns_.
  std::uint64_t mark_ = 0;
  time_ns mark_ns_ = 0;
  time_ns look_ns_ = 0;
};

}  // namespace mortise::redis
