#include "lock/claim/hold_value.hpp"

#include <utility>

namespace mortise::lock {

bool hold_value::ask(const operation* requester, time_ns now, bool with_text) {
  if (!requests_.ask(
          {.what = step::set_value, .requester = requester, .with_text = with_text, .value = text_},
          now))
    return false;
  serial_ = requests_.serial();
  return true;
}

bool hold_value::set(std::string text, const operation* requester, time_ns now) {
  text_ = std::move(text);
  may_exist_ = true;
  return ask(requester, now);
}

void hold_value::remove(time_ns now) {
  if (!exists()) return;
  text_.clear();
  ask(nullptr, now);
}

claim_event hold_value::on_answer(const open_request& request, const step_result& result,
                                  time_ns now) {
  // A later request decides.
  if (request.serial != serial_) return claim_event::none;
  switch (result.what) {
    case answer::value_set:
      may_exist_ = !text_.empty();
      return claim_event::value_set;
    case answer::no_script:
      if (ask(nullptr, now, true)) return claim_event::none;
      [[fallthrough]];
    case answer::refused:
    case answer::unknown:
      requests_.keep_details(result);
      return claim_event::value_failed;
    default:
      return claim_event::none;  // the next renewal sends it again
  }
}

}  // namespace mortise::lock
