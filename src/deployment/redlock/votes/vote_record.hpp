// The servers of a quorum that have, or may have, voted for one owner token. Unless the owner keeps
// these votes, a release is pending for each such server, and for no other. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "deployment/redlock/votes/vote_count.hpp"
#include "lock/step.hpp"

namespace mortise::quorum {

class vote_record {
 public:
  // A step was sent to the server. A result always follows.
  void note_sent(std::size_t server, lock::step what) noexcept {
    if (is_take(what)) {
      requested_.set(server);
      ++takes_[server];
    } else if (is_release(what)) {
      ++releases_[server];
    }
  }
  // The result of a step. A release of an earlier proposal does not release a vote that was given
  // since (hazard 16).
  void note_answer(std::size_t server, lock::step what, const lock::step_result& result,
                   bool is_of_last_proposal = true) noexcept {
    if (is_take(what) && takes_[server] > 0) --takes_[server];
    if (is_release(what) && releases_[server] > 0) --releases_[server];
    if (is_release(what) && !is_of_last_proposal) return;
    switch (result.what) {
      case lock::answer::granted:
      case lock::answer::renewed:
        granted_.set(server);
        return;
      case lock::answer::not_free:
        // An upgrade that is refused leaves the vote of the reader.
        if (what != lock::step::raise) granted_.reset(server);
        return;
      case lock::answer::not_owner:
        granted_.set(server, result.is_weaker);
        return;
      case lock::answer::released:
      case lock::answer::cancelled:
        granted_.reset(server);
        return;
      case lock::answer::broken:
      case lock::answer::unacknowledged:
      case lock::answer::unknown:
        // The step may have been executed (hazard 15).
        if (is_take(what)) granted_.set(server);
        return;
      case lock::answer::refused:
        // Only a lasting rejection ends the pending release. The vote then ends with its lease.
        if (is_release(what) && !result.is_passing && !result.details.is_retryable) {
          granted_.reset(server);
        }
        return;
      default:
        return;  // not executed
    }
  }

  // Whether the server may know the owner: each one, if no request is known.
  [[nodiscard]] bool may_know(std::size_t server) const noexcept {
    return requested_.none() || requested_.test(server);
  }
  // Also a vote whose reply is still in flight (hazard 16).
  [[nodiscard]] bool may_have(std::size_t server) const noexcept {
    return granted_.test(server) || takes_[server] > 0;
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return granted_.none() && takes_ == decltype(takes_){};
  }
  // Whether the server may have the vote, and no release is in flight.
  [[nodiscard]] bool lacks_release(std::size_t server) const noexcept {
    return may_have(server) && releases_[server] == 0;
  }

 private:
  server_set requested_;
  server_set granted_;                                  // or it is unknown
  std::array<std::uint16_t, most_servers> takes_{};     // in flight
  std::array<std::uint16_t, most_servers> releases_{};  // in flight
};

}  // namespace mortise::quorum
