// The last phase of a claim: the release of a place in the queue or of a hold, with retries.
#pragma once

#include <algorithm>

#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

class release_phase {
 public:
  // Sends the request. `what` is cancel, release or release_alone. `held_until` is 0 if the claim
  // was not held. The server may keep the hold until `lasts_until`.
  release_phase(step_requests& requests, step what, time_ns held_until, time_ns lasts_until,
                const operation* requester, time_ns now);

  // As in `claim`.
  void at_once(time_ns now);
  claim_event on_answer(const open_request& request, const step_result& result, time_ns now);
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept { return std::min(ask_at_, ends_at_); }
  // Whether the server may have received the request, and whether the request is in flight now.
  [[nodiscard]] bool is_sent() const noexcept { return is_unknown_ || requests_.open() > 0; }
  [[nodiscard]] bool is_in_flight() const noexcept { return requests_.open(what_) > 0; }
  [[nodiscard]] answer result() const noexcept { return result_; }

 private:
  void ask(time_ns now, bool with_text = false);
  bool is_decided_by(const open_request& earlier, const step_result& result) noexcept;
  claim_event refuse(const step_result& result, time_ns now);
  claim_event end(answer result) noexcept;

  step_requests& requests_;
  step what_;
  const time_ns held_until_;
  const time_ns began_;
  time_ns ask_at_ = time_never;  // the next retry after a refusal
  const time_ns ends_at_;        // from then on the server has dropped the claim by itself
  bool is_unknown_ = false;
  answer result_ = answer::unknown;
};

}  // namespace mortise::lock
