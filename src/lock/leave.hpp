// The last phase of a tenure: how a place in the queue or a hold is given back, also against
// resistance.
#pragma once

#include <algorithm>

#include "lock/news.hpp"
#include "lock/questions.hpp"

namespace mortise::lock {

class leave {
 public:
  // All as of a tenure. `what`: cancel, release or release_alone; `held_until`: 0 when it was not
  // held.
  void begin(step what, time_ns held_until, const operation* by, questions& to, time_ns now);
  void at_once(questions& to, time_ns now);
  news on_answer(const open_question& asked, const step_result& said, questions& to, time_ns now);
  void on_up(questions& to, time_ns now);
  news on_timer(questions& to, time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept { return std::min(ask_at_, ends_at_); }
  // Whether it may have been carried out without an answer.
  [[nodiscard]] bool is_unknown() const noexcept { return is_unknown_; }
  // By which step.
  [[nodiscard]] step asks() const noexcept { return what_; }
  [[nodiscard]] answer result() const noexcept { return result_; }

 private:
  void ask(questions& to, time_ns now, bool with_text = false);
  news refuse(const step_result& said, questions& to, time_ns now);
  news end(answer result) noexcept;

  step what_ = step::release;
  time_ns held_until_ = 0;
  time_ns began_ = 0;
  time_ns ask_at_ = time_never;  // anew, as the server refuses
  time_ns ends_at_ = 0;          // after this the server has forgotten us by itself
  bool is_unknown_ = false;
  answer result_ = answer::unknown;
};

}  // namespace mortise::lock
