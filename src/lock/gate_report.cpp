#include "lock/gate_report.hpp"

#include <algorithm>

#include "lock/gate.hpp"

namespace mortise::lock {

gate_report gate::report(time_ns now) const {
  gate_report told;
  told.traffic = traffic_;
  told.waiters = waiters_.size();
  if (!waiters_.empty()) {
    const auto& first = *waiters_.front();
    told.waited_ns = now - first.began;
    told.mode = first.wanted.mode;
    told.label = first.owner->label;
  }
  if (is_retained() && now < retained_until_) {
    told.is_retained = true;
    told.mode = current_->mode();
    told.left_ns = retained_until_ - now;
  }
  if (holder_ == nullptr || !lasts(*holder_, now)) return told;
  told.is_held = true;
  told.mode = holder_->has_hold(hold_mode::whole) ? hold_mode::whole : hold_mode::part;
  told.label = holder_->label;
  told.token = holder_->token;
  // A writer has all that there is of a lock that counts none.
  told.weight = weight() == whole_weight ? 1 : weight();
  told.held_ns = now - holder_->held_since;
  told.left_ns = std::max<time_ns>(0, valid_until(*holder_) - now);
  return told;
}

}  // namespace mortise::lock
