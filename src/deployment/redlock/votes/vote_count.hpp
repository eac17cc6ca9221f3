// Combines the replies of N servers to one request: the Redlock algorithm, with a one-round ballot
// for fencing tokens. Pure: the coordinator passes each server's reply. It gets one result, as soon
// as no further reply can change the result.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "lock/step.hpp"

namespace mortise::quorum {

constexpr std::size_t most_servers = 31;

using server_set = std::bitset<most_servers>;

// More than half of the configured servers, even if some of them are down (hazard 25).
constexpr std::size_t needed_of(std::size_t servers) noexcept { return servers / 2 + 1; }

// The least value that the values of a quorum do not exceed.
inline std::int64_t of_quorum(std::array<std::int64_t, most_servers> values,
                              std::size_t servers) noexcept {
  auto* const last = values.begin() + static_cast<std::ptrdiff_t>(needed_of(servers)) - 1;
  std::nth_element(values.begin(), last, values.begin() + static_cast<std::ptrdiff_t>(servers));
  return *last;
}

// A step that requests a vote, and one that releases it.
constexpr bool is_take(lock::step what) noexcept {
  return what == lock::step::try_take || what == lock::step::acquire ||
         what == lock::step::reacquire || what == lock::step::retake;
}
// A step that a quorum grants with the proposal as the token. Without a quorum it is undone.
constexpr bool is_grantable(lock::step what) noexcept {
  return is_take(what) || what == lock::step::raise;
}
constexpr bool is_release(lock::step what) noexcept {
  return what == lock::step::release_alone || what == lock::step::release ||
         what == lock::step::cancel;
}

class vote_count {
 public:
  // A step was sent to `servers` servers at once, with `ballot` as the proposed fencing token.
  // `is_confirming`: a quorum has voted before, and only has to know the ballot.
  vote_count(lock::step what, std::size_t servers, std::int64_t ballot,
             bool is_confirming = false) noexcept;

  // Counts a server's first reply. Returns the result, once.
  std::optional<lock::step_result> count(std::size_t server,
                                         const lock::step_result& reply) noexcept;
  // Stops waiting for missing replies, after this time. Returns the result, unless it was returned
  // already.
  std::optional<lock::step_result> give_up(time_ns waited) noexcept;

  [[nodiscard]] bool is_answered() const noexcept { return answered_.count() == servers_; }
  [[nodiscard]] bool has_answered(std::size_t server) const noexcept {
    return answered_.test(server);
  }
  // Servers that have voted for no client, and so could vote for this one. Returns each once.
  server_set take_vacant() noexcept { return std::exchange(vacant_, {}); }
  [[nodiscard]] bool has_vacant() const noexcept { return vacant_.any(); }
  // Servers that may have carried out the step, or may still do so.
  [[nodiscard]] server_set may_agree() const noexcept {
    server_set others = ~answered_ | agreed_ | broken_;
    for (std::size_t server = servers_; server < most_servers; ++server) others.reset(server);
    return others;
  }
  // Whether a quorum has replied, and all other servers are connected and silent: the request to
  // one whose connection has ended fails.
  [[nodiscard]] bool is_rest_silent() const noexcept;
  // Whether a quorum is missing only because servers know higher fencing tokens. A higher proposal
  // may succeed at once.
  [[nodiscard]] bool is_outrun() const noexcept;
  // Whether a token is above all tokens that the servers knew when they voted.
  [[nodiscard]] bool is_above_all(std::int64_t token) const noexcept { return token > outdone_by_; }
  // Whether some servers have voted although they knew a token that is not below the ballot.
  [[nodiscard]] bool is_outdone() const noexcept {
    return !is_confirming_ && outdone_by_ > ballot_;
  }
  // Whether no client is known to have a quorum: too few of the servers that reply have voted for
  // the same token.
  [[nodiscard]] bool is_split() const noexcept;

 private:
  void take_answer(std::size_t server, const lock::step_result& reply) noexcept;
  std::optional<lock::step_result> decide() noexcept;
  // Whether most servers have no vote of this owner.
  [[nodiscard]] bool has_lost_quorum() const noexcept;
  [[nodiscard]] lock::step_result agreement() const noexcept;
  [[nodiscard]] lock::step_result refusal() const noexcept;
  [[nodiscard]] lock::step_result failure() const noexcept;
  [[nodiscard]] std::int64_t ms_until_free() const noexcept;
  // How many servers may still reply, and how many have voted for the same other token.
  [[nodiscard]] std::size_t open_count() const noexcept;
  [[nodiscard]] std::size_t most_for_another() const noexcept;

  const lock::step what_;
  const std::size_t servers_;
  const std::int64_t ballot_;
  const bool is_confirming_;
  bool is_decided_ = false;
  server_set answered_;
  std::optional<time_ns> waited_;  // until missing replies were given up
  server_set agreed_;
  server_set refused_;  // another owner has it, or it is not ours
  server_set lacking_;  // of these, where it is not ours
  server_set outrun_;   // free, but only for a higher token
  server_set vacant_;
  server_set denied_;  // failed, and will reject again
  server_set broken_;  // failed, and may have executed it
  bool is_replaced_ = false;
  std::int64_t outdone_by_ = 0;  // a token that would have sufficed for all votes
  std::int64_t server_us_ = 0;
  std::array<std::int64_t, most_servers> token_of_{};    // of the owner of the server's vote
  std::array<std::int64_t, most_servers> ms_left_of_{};  // of that vote
  std::array<std::int64_t, most_servers> wait_ms_of_{};  // of failed servers
  lock::answer common_ = lock::answer::released;         // the reply of servers that agree
  outcome details_;                                      // of the first that failed
};

}  // namespace mortise::quorum
