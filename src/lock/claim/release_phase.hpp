// The last phase of a claim: the release of a place in the queue or of a hold, with retries.
#pragma once

#include <algorithm>

#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

class release_phase {
 public:
  // Same contract as the functions of the same name in `claim`. `what` is cancel, release or
  // release_alone. `held_until` is 0 if the claim was not held.
  void begin(step what, time_ns held_until, const operation* requester, step_requests& requests,
             time_ns now);
  void at_once(step_requests& requests, time_ns now);
  claim_event on_answer(const open_request& request, const step_result& result,
                        step_requests& requests, time_ns now);
  void on_up(step_requests& requests, time_ns now);
  claim_event on_timer(step_requests& requests, time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept { return std::min(ask_at_, ends_at_); }
  // Whether it may have been executed without a reply.
  [[nodiscard]] bool is_unknown() const noexcept { return is_unknown_; }
  // The step of the release.
  [[nodiscard]] step what() const noexcept { return what_; }
  [[nodiscard]] answer result() const noexcept { return result_; }

 private:
  void ask(step_requests& requests, time_ns now, bool with_text = false);
  claim_event refuse(const step_result& result, step_requests& requests, time_ns now);
  claim_event end(answer result) noexcept;

  step what_ = step::release;
  time_ns held_until_ = 0;
  time_ns began_ = 0;
  time_ns ask_at_ = time_never;  // the next retry after a refusal
  time_ns ends_at_ = 0;          // from then on the server has dropped the claim by itself
  bool is_unknown_ = false;
  answer result_ = answer::unknown;
};

}  // namespace mortise::lock
