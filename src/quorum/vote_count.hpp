// What the answers of N servers to one question come to together: that of the Redlock algorithm,
// with the one-round ballot for fencing tokens. Pure; whoever asks hands it each server's answer,
// and gets one result, as soon as no further answer can change it.
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

// More than half of those that are configured, also where some of them are down (hazard 25).
constexpr std::size_t needed_of(std::size_t servers) noexcept { return servers / 2 + 1; }

class vote_count {
 public:
  // A step was asked of so many servers at once, with this fencing token proposed.
  vote_count(lock::step what, std::size_t servers, std::int64_t ballot) noexcept;

  // A server's answer, the first counts. The result, once.
  std::optional<lock::step_result> count(std::size_t server,
                                         const lock::step_result& said) noexcept;
  // The missing answers are not waited for any longer, after so much time. The result, unless it
  // was given already.
  std::optional<lock::step_result> give_up(time_ns waited) noexcept;

  [[nodiscard]] std::size_t servers() const noexcept { return servers_; }
  [[nodiscard]] bool is_answered() const noexcept { return answered_.count() == servers_; }
  [[nodiscard]] bool has_answered(std::size_t server) const noexcept {
    return answered_.test(server);
  }
  // Those that have done what was asked.
  [[nodiscard]] const server_set& agreed() const noexcept { return agreed_; }
  // Those that may have a vote of ours although they have not said so.
  [[nodiscard]] server_set in_doubt() const noexcept;
  // Those that have said neither yes nor no, or could not be asked.
  [[nodiscard]] const server_set& failed() const noexcept { return failed_; }
  // The servers that have nobody's vote, and so could have ours.
  [[nodiscard]] const server_set& vacant() const noexcept { return vacant_; }
  // Whether too few servers took a vote only because they know of higher fencing tokens, of which
  // highest_token() is the highest; a higher one may succeed at once.
  [[nodiscard]] bool is_outrun() const noexcept;
  [[nodiscard]] std::int64_t highest_token() const noexcept { return highest_token_; }
  // Whether a token is above all that those that voted had known of.
  [[nodiscard]] bool is_above_all(std::int64_t token) const noexcept { return token > outdone_by_; }
  // Whether some have voted although they had known of a token that is not below.
  [[nodiscard]] bool is_outdone() const noexcept { return outdone_by_ > ballot_; }
  // Whether nobody is known to have a quorum: too few of the servers that answer have voted for the
  // same token.
  [[nodiscard]] bool is_split() const noexcept;

 private:
  void take_answer(std::size_t server, const lock::step_result& said) noexcept;
  std::optional<lock::step_result> decide() noexcept;
  [[nodiscard]] lock::step_result yes() const noexcept;
  [[nodiscard]] lock::step_result no() const noexcept;
  [[nodiscard]] lock::step_result neither() const noexcept;
  [[nodiscard]] std::int64_t ms_until_free() const noexcept;
  [[nodiscard]] std::int64_t ms_until_answers() const noexcept;
  [[nodiscard]] bool is_take() const noexcept;
  // How many may still answer, and how many have voted for the same other.
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
  server_set refused_;  // somebody else has it, or it is not ours
  server_set outrun_;   // free, but only for a higher token
  server_set vacant_;
  server_set failed_;  // neither
  server_set denied_;  // of these, those that will say no again
  server_set broken_;  // of these, those that may have carried it out
  bool is_replaced_ = false;
  std::int64_t highest_token_ = 0;
  std::int64_t outdone_by_ = 0;  // what would have been enough for all that voted
  std::int64_t server_us_ = 0;
  std::array<std::int64_t, most_servers> token_of_{};    // of whoever has the server's vote
  std::array<std::int64_t, most_servers> ms_left_of_{};  // of that vote
  std::array<std::int64_t, most_servers> wait_ms_of_{};  // of those that failed
  lock::answer word_ = lock::answer::released;           // of those that agree
  outcome details_;                                      // of the first that failed
};

}  // namespace mortise::quorum
