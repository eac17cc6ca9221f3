// The last phase of a claim: how a place in the queue or a hold is given back, also against
// resistance.
#pragma once

#include <algorithm>

#include "lock/claim_event.hpp"
#include "lock/step_requests.hpp"

namespace mortise::lock {

class release_phase {
 public:
  // All as of a claim. `what`: cancel, release or release_alone; `held_until`: 0 when it was not
  // held.
  void begin(step what, time_ns held_until, const operation* by, step_requests& to, time_ns now);
  void at_once(step_requests& to, time_ns now);
  claim_event on_answer(const open_request& asked, const step_result& said, step_requests& to,
                        time_ns now);
  void on_up(step_requests& to, time_ns now);
  claim_event on_timer(step_requests& to, time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept { return std::min(ask_at_, ends_at_); }
  // Whether it may have been carried out without an answer.
  [[nodiscard]] bool is_unknown() const noexcept { return is_unknown_; }
  // By which step.
  [[nodiscard]] step asks() const noexcept { return what_; }
  [[nodiscard]] answer result() const noexcept { return result_; }

 private:
  void ask(step_requests& to, time_ns now, bool with_text = false);
  claim_event refuse(const step_result& said, step_requests& to, time_ns now);
  claim_event end(answer result) noexcept;

  step what_ = step::release;
  time_ns held_until_ = 0;
  time_ns began_ = 0;
  time_ns ask_at_ = time_never;  // anew, as the server refuses
  time_ns ends_at_ = 0;          // after this the server has forgotten us by itself
  bool is_unknown_ = false;
  answer result_ = answer::unknown;
};

}  // namespace mortise::lock
