// What a client knows of the servers of its quorum. All its acquisitions share this. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "base/time.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "lock/step.hpp"

namespace mortise::quorum {

class voters {
 public:
  voters(std::size_t servers, std::uint64_t seed) noexcept : count(servers), random_(seed) {}

  const std::size_t count;

  // Random delays are needed, because clients in step split the votes.
  std::uint64_t random() noexcept { return random_.next(); }
  // How long a round waits for missing replies after the first one: a twentieth of the lease,
  // within bounds. With slow servers it waits twice the recent delay of a quorum. This is at most a
  // quarter of the lease, and at most 2 s.
  [[nodiscard]] time_ns patience(time_ns lease) const noexcept {
    const auto usual = std::clamp(lease / 20, 5 * ns_per_ms, 250 * ns_per_ms);
    return std::max(usual, std::min({2 * delay_of_quorum(), lease / 4, 2 * ns_per_s}));
  }
  // The delay after which a quorum has replied lately. A slow minority does not change it.
  [[nodiscard]] time_ns delay_of_quorum() const noexcept { return of_quorum(delays_, count); }

  // The last of `tokens` new fencing tokens, above all that the client knows. Tokens are times of
  // the servers' clocks in microseconds, so no state has to outlive the client. The client's own
  // clock does not count. The very first token is far too low, so that the servers report their
  // time. A wrong clock costs only one more request, because the servers decide about a token.
  [[nodiscard]] std::int64_t next_token(time_ns now, std::int64_t tokens = 1) noexcept {
    auto highest = is_credible(last_, now) ? last_ : 0;
    for (const auto token : reported_) {
      if (is_credible(token, now)) highest = std::max(highest, token);
    }
    last_ = std::max(highest + 1, servers_us(now).value_or(0)) + tokens - 1;
    return last_;
  }
  // Servers reject a token that is an hour ahead of their clocks (ballot.lua). So a server that
  // knows such a token has a wrong clock, and is ignored.
  [[nodiscard]] bool is_credible(std::int64_t token, time_ns now) const noexcept {
    const auto middle_us = servers_us(now);
    return !middle_us || token <= *middle_us + most_ahead_us;
  }
  // A token of this client.
  void note_own(std::int64_t token) noexcept { last_ = std::max(last_, token); }

  void note_reply(std::size_t server, const lock::step_result& reply, time_ns sent,
                  time_ns now) noexcept {
    using lock::answer;
    note_time(server, reply.server_us, now);
    const bool is_late_or_lost = reply.what == answer::broken || reply.what == answer::unsent;
    if (!is_late_or_lost) note_delay(server, now - sent);
    if (reply.what == answer::not_free || reply.what == answer::granted) {
      note_token(server, reply.last_token);
    }
  }
  // A token that a server has reported.
  void note_token(std::size_t server, std::int64_t token) noexcept {
    reported_.at(server) = std::max(reported_.at(server), token);
  }
  // The time of a server's clock.
  void note_time(std::size_t server, std::int64_t server_us, time_ns now) noexcept {
    if (server_us > 0) ahead_us_.at(server) = server_us - now / ns_per_us;
  }
  // A server's delay rises at once and falls by an eighth of the difference.
  void note_delay(std::size_t server, time_ns delay) noexcept {
    auto& known = delays_.at(server);
    known = std::max(delay, known - (known - delay) / 8);
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
    const auto unknown = count - static_cast<std::size_t>(end - known.begin());
    const auto below_middle = (count - 1) / 2;
    if (unknown > below_middle) return std::nullopt;
    auto* const middle = known.begin() + (below_middle - unknown);
    std::nth_element(known.begin(), middle, end);
    return now / ns_per_us + *middle;
  }

  small_random random_;
  std::int64_t last_ = 0;                              // the last own token
  std::array<std::int64_t, most_servers> reported_{};  // the highest token of each
  std::array<std::int64_t, most_servers> ahead_us_{};  // of this client's clock, 0 is unknown
  std::array<time_ns, most_servers> delays_{};         // 0 before the first reply
};

}  // namespace mortise::quorum
