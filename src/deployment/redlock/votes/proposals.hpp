// Fencing tokens that a client proposes to the servers of a quorum, each above all tokens that it
// knows. Tokens are times of the servers' clocks in microseconds, so no state has to outlive the
// client. The client's own clock does not count. A wrong clock costs only one more request, because
// the servers decide which proposal is accepted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "deployment/redlock/votes/vote_count.hpp"

namespace mortise::quorum {

class proposals {
 public:
  explicit proposals(std::size_t servers) noexcept : servers_(servers) {}

  // The last of `count` new tokens. The very first token is far too low, so that the servers report
  // their time.
  [[nodiscard]] std::int64_t next(time_ns now, std::int64_t count = 1) noexcept {
    auto highest = is_credible(last_, now) ? last_ : 0;
    for (const auto token : told_) {
      if (is_credible(token, now)) highest = std::max(highest, token);
    }
    last_ = std::max(highest + 1, servers_us(now).value_or(0)) + count - 1;
    return last_;
  }
  // Servers reject a token that is an hour ahead of their clocks (ballot.lua). So a server that
  // knows such a token has a wrong clock, and is ignored.
  [[nodiscard]] bool is_credible(std::int64_t token, time_ns now) const noexcept {
    const auto middle_us = servers_us(now);
    return !middle_us || token <= *middle_us + most_ahead_us;
  }
  // A token that a server has reported.
  void note_token(std::size_t server, std::int64_t token) noexcept {
    told_.at(server) = std::max(told_.at(server), token);
  }
  // A token of this client.
  void note_own(std::int64_t token) noexcept { last_ = std::max(last_, token); }
  // The time of a server's clock.
  void note_time(std::size_t server, std::int64_t server_us, time_ns now) noexcept {
    if (server_us > 0) ahead_us_.at(server) = server_us - now / ns_per_us;
  }

 private:
  // Less than an hour, because correct clocks also differ.
  static constexpr std::int64_t most_ahead_us = std::int64_t{55} * 60 * 1'000'000;

  // The median of the servers' clocks, which no minority can falsify. Of an even number the lower
  // one: a low token costs a request, and a high token is rejected. Unknown clocks count as low, so
  // the first replies, which may be wrong, are not believed alone.
  [[nodiscard]] std::optional<std::int64_t> servers_us(time_ns now) const noexcept {
    std::array<std::int64_t, most_servers> known{};
    auto* const end = std::copy_if(ahead_us_.begin(), ahead_us_.end(), known.begin(),
                                   [](std::int64_t ahead) { return ahead != 0; });
    const auto untold = servers_ - static_cast<std::size_t>(end - known.begin());
    const auto below_middle = (servers_ - 1) / 2;
    if (untold > below_middle) return std::nullopt;
    auto* const middle = known.begin() + (below_middle - untold);
    std::nth_element(known.begin(), middle, end);
    return now / ns_per_us + *middle;
  }

  std::size_t servers_;
  std::int64_t last_ = 0;
  std::array<std::int64_t, most_servers> told_{};      // the highest token that each has reported
  std::array<std::int64_t, most_servers> ahead_us_{};  // of this client's clock, 0 is unknown
};

}  // namespace mortise::quorum
