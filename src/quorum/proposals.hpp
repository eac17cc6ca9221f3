// The fencing tokens that a client proposes to the servers of a quorum: each above all that it has
// heard of. They are times of the servers' clocks in microseconds, so that they need nothing that
// outlives the client; its own clock counts for nothing. A wrong clock costs another question and
// never more: which proposal is accepted is for the servers to say.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "quorum/vote_count.hpp"

namespace mortise::quorum {

class proposals {
 public:
  explicit proposals(std::size_t servers) noexcept : servers_(servers) {}

  // The last of so many. The first of all is far too low, and makes the servers tell their time.
  [[nodiscard]] std::int64_t next(time_ns now, std::int64_t count = 1) noexcept {
    auto highest = is_credible(last_, now) ? last_ : 0;
    for (const auto token : told_) {
      if (is_credible(token, now)) highest = std::max(highest, token);
    }
    last_ = std::max(highest + 1, servers_us(now).value_or(0)) + count - 1;
    return last_;
  }
  // Others accept no token that is an hour ahead of their clocks (ballot.lua), so who knows of
  // such a token has a wrong clock, and is not followed.
  [[nodiscard]] bool is_credible(std::int64_t token, time_ns now) const noexcept {
    const auto middle_us = servers_us(now);
    return !middle_us || token <= *middle_us + most_ahead_us;
  }
  // A token that a server knows of.
  void note_token(std::size_t server, std::int64_t token) noexcept {
    told_.at(server) = std::max(told_.at(server), token);
  }
  // One that this client has had.
  void note_own(std::int64_t token) noexcept { last_ = std::max(last_, token); }
  // What a server's clock has said.
  void note_time(std::size_t server, std::int64_t server_us, time_ns now) noexcept {
    if (server_us > 0) ahead_us_.at(server) = server_us - now / ns_per_us;
  }

 private:
  // Less than an hour, because the clocks of those that are right differ, too.
  static constexpr std::int64_t most_ahead_us = std::int64_t{55} * 60 * 1'000'000;

  // The middle one of their clocks, which no minority can lead astray; of an even number the lower,
  // because what is too low costs a question, and what is too high is refused. Those that have not
  // told theirs count as low, so the first to answer, who may be wrong, are not believed alone.
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
  std::array<std::int64_t, most_servers> told_{};      // the highest that each has told
  std::array<std::int64_t, most_servers> ahead_us_{};  // of this client's clock; 0 is unknown
};

}  // namespace mortise::quorum
