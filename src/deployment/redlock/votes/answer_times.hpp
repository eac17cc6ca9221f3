// The times in which the servers of a quorum reply. A vote waits as long as the network needs.
// Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/time.hpp"
#include "deployment/redlock/votes/vote_count.hpp"

namespace mortise::quorum {

class answer_times {
 public:
  explicit answer_times(std::size_t servers) noexcept : servers_(servers) {}

  // A server's time rises at once and falls by an eighth of the difference.
  void note(std::size_t server, time_ns took) noexcept {
    auto& known = of_[server];
    known = std::max(took, known - (known - took) / 8);
  }
  // The time in which a quorum has replied lately. A slow minority does not change it.
  [[nodiscard]] time_ns of_quorum() const noexcept {
    auto times = of_;
    auto* const last = times.begin() + static_cast<std::ptrdiff_t>(needed_of(servers_)) - 1;
    std::nth_element(times.begin(), last, times.begin() + static_cast<std::ptrdiff_t>(servers_));
    return *last;
  }

 private:
  const std::size_t servers_;
  std::array<time_ns, most_servers> of_{};  // 0 before the first reply
};

}  // namespace mortise::quorum
