// Combines the replies of N servers to one request: the Redlock algorithm, with a one-round ballot
// for fencing tokens. Pure: the coordinator passes each server's reply. It gets one result, as soon
// as no further reply can change the result.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "lock/step.hpp"

namespace mortise::quorum {

constexpr std::size_t most_servers = 31;

using server_set = std::bitset<most_servers>;

// More than half of the configured servers, even if some of them are down (hazard 25).
constexpr std::size_t needed_of(std::size_t servers) noexcept { return servers / 2 + 1; }

class vote_count {
 public:
  // A step was sent to `servers` servers at once, with `ballot` as the proposed fencing token.
  vote_count(lock::step what, std::size_t servers, std::int64_t ballot) noexcept;

  // Counts a server's first reply. Returns the result, once.
  std::optional<lock::step_result> count(std::size_t server,
                                         const lock::step_result& reply) noexcept;
  // Stops waiting for missing replies, after this time. Returns the result, unless it was returned
  // already.
  std::optional<lock::step_result> give_up(time_ns waited) noexcept;

  [[nodiscard]] std::size_t servers() const noexcept { return servers_; }
  [[nodiscard]] bool is_answered() const noexcept { return answered_.count() == servers_; }
  [[nodiscard]] bool has_answered(std::size_t server) const noexcept {
    return answered_.test(server);
  }
  // Servers that have executed the step.
  [[nodiscard]] const server_set& agreed() const noexcept { return agreed_; }
  // Servers that may have voted for this client without a reply.
  [[nodiscard]] server_set in_doubt() const noexcept;
  // Servers that replied neither yes nor no, or could not be reached.
  [[nodiscard]] const server_set& failed() const noexcept { return failed_; }
  // Servers that have voted for no client, and so could vote for this one.
  [[nodiscard]] const server_set& vacant() const noexcept { return vacant_; }
  // Whether a quorum is missing only because servers know higher fencing tokens. highest_token() is
  // the highest of them. A higher proposal may succeed at once.
  [[nodiscard]] bool is_outrun() const noexcept;
  [[nodiscard]] std::int64_t highest_token() const noexcept { return highest_token_; }
  // Whether a token is above all tokens that the servers knew when they voted.
  [[nodiscard]] bool is_above_all(std::int64_t token) const noexcept { return token > outdone_by_; }
  // Whether some servers have voted although they knew a token that is not below the ballot.
  [[nodiscard]] bool is_outdone() const noexcept { return outdone_by_ > ballot_; }
  // Whether no client is known to have a quorum: too few of the servers that reply have voted for
  // the same token.
  [[nodiscard]] bool is_split() const noexcept;

 private:
  void take_answer(std::size_t server, const lock::step_result& reply) noexcept;
  std::optional<lock::step_result> decide() noexcept;
  [[nodiscard]] lock::step_result yes() const noexcept;
  [[nodiscard]] lock::step_result no() const noexcept;
  [[nodiscard]] lock::step_result neither() const noexcept;
  [[nodiscard]] std::int64_t ms_until_free() const noexcept;
  [[nodiscard]] std::int64_t ms_until_answers() const noexcept;
  [[nodiscard]] bool is_take() const noexcept;
  // How many servers may still reply, and how many have voted for the same other token.
  [[nodiscard]] std::size_t open_count() const noexcept;
  [[nodiscard]] std::size_t most_for_another() const noexcept;

  const lock::step what_;
  const std::size_t servers_;
  const std::int64_t ballot_;
  bool is_decided_ = false;
  server_set answered_;
  server_set given_up_;  // not answered, and not waited for
  time_ns waited_ = 0;   // before they were given up
  server_set agreed_;
  server_set refused_;  // another owner has it, or it is not ours
  server_set outrun_;   // free, but only for a higher token
  server_set vacant_;
  server_set failed_;  // neither agreed nor refused
  server_set denied_;  // failed, and will reject again
  server_set broken_;  // failed, and may have executed it
  bool is_replaced_ = false;
  std::int64_t highest_token_ = 0;
  std::int64_t outdone_by_ = 0;  // a token that would have sufficed for all votes
  std::int64_t server_us_ = 0;
  std::array<std::int64_t, most_servers> token_of_{};    // of the owner of the server's vote
  std::array<std::int64_t, most_servers> ms_left_of_{};  // of that vote
  std::array<std::int64_t, most_servers> wait_ms_of_{};  // of failed servers
  lock::answer word_ = lock::answer::released;           // of servers that agree
  outcome details_;                                      // of the first that failed
};

}  // namespace mortise::quorum
