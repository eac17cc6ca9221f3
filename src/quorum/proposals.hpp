// The fencing tokens that a client proposes to the servers of a quorum: each above all that it has
// heard of. They are times of the servers' clocks in microseconds, so that they need nothing that
// outlives the client. A wrong clock costs another question and never more: which proposal is
// accepted is for the servers to say.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "quorum/tally.hpp"

namespace mortise::quorum {

class proposals {
 public:
  // The last of so many. `wall_us` counts as long as no server has told its time.
  [[nodiscard]] std::int64_t next(time_ns now, std::int64_t wall_us,
                                  std::int64_t count = 1) noexcept {
    highest_ = std::max(highest_ + 1, servers_us(now).value_or(wall_us)) + count - 1;
    return highest_;
  }
  // A token that a server knows of.
  void note_token(std::int64_t token) noexcept { highest_ = std::max(highest_, token); }
  // What a server's clock has said.
  void note_time(std::size_t server, std::int64_t server_us, time_ns now) noexcept {
    if (server_us > 0) ahead_us_.at(server) = server_us - now / ns_per_us;
  }

 private:
  // The middle one of their clocks, which no single one can lead astray.
  [[nodiscard]] std::optional<std::int64_t> servers_us(time_ns now) const noexcept {
    std::array<std::int64_t, most_servers> known{};
    auto* const end = std::copy_if(ahead_us_.begin(), ahead_us_.end(), known.begin(),
                                   [](std::int64_t ahead) { return ahead != 0; });
    if (end == known.begin()) return std::nullopt;
    auto* const middle = known.begin() + (end - known.begin()) / 2;
    std::nth_element(known.begin(), middle, end);
    return now / ns_per_us + *middle;
  }

  std::int64_t highest_ = 0;
  std::array<std::int64_t, most_servers> ahead_us_{};  // of this client's clock; 0 is unknown
};

}  // namespace mortise::quorum
