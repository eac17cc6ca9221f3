// How a gate's holder changes its mode: a reader that becomes the writer, and back.
#include "lock/gate.hpp"

#include <utility>

namespace mortise::lock {

// Whether a hold of this protocol can change its mode.
outcome gate::check_modes() const {
  if (protocol_.can_raise) return {};
  return outcome::of(status::unsupported, protocol_.subject, protocol_.name,
                     " cannot turn a reader into a writer or back; unlock, and acquire anew");
}

outcome gate::raise(lock::owner& owner, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (auto checked = owner.check_single(hold_mode::part); !checked.ok()) return checked;
  operations_.accept(done);
  done.broken_before = current_->broken();
  if (!current_->raise(&done, now) && has_connection()) {
    operations_.retract(done);
    return world_.lack();
  }
  raising_ = &done;
  return {};
}

outcome gate::lower(lock::owner& owner, std::int64_t weight, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (auto checked = owner.check_single(hold_mode::whole); !checked.ok()) return checked;
  return lower_hold(owner, weight, &done, now);
}

// From here on the hold counts as a part only, whatever comes of the question: every later renewal
// asks for no more than that.
outcome gate::lower_hold(lock::owner& owner, std::int64_t weight, operation* done, time_ns now) {
  if (done != nullptr) {
    extensions_.accept(*done);
    done->broken_before = current_->broken();
  }
  owner.count_hold_end(now);
  owner.count_hold(hold_mode::part, now);
  owner.hold_count(hold_mode::whole) = 0;
  if (owner.holds() == 0) owner.hold_count(hold_mode::part) = 1;
  const bool is_asked = current_->lower(weight, done, now) != 0;
  if (done == nullptr) return {};
  if (is_asked || !has_connection()) {
    extensions_.add(*done, current_->asked_until());
  } else {
    operations_.end(*done, world_.lack());
  }
  return {};
}

void gate::raised(time_ns now) {
  if (holder_->hold_count(hold_mode::whole) > 0) return;  // by the answer to an earlier question
  if (raising_ == nullptr) {
    // Who asked has given up, and was told that this handle goes on with a part.
    current_->lower(1, nullptr, now);
    return;
  }
  holder_->token = current_->take_token();
  holder_->hold_once(hold_mode::whole);
  holder_->count_hold_end(now);
  holder_->count_hold(hold_mode::whole, now);
  finish_raise({});
}

void gate::finish_raise(const outcome& how) {
  if (raising_ == nullptr) return;
  operations_.end(*std::exchange(raising_, nullptr), how, how.ok() ? holder_->token : 0);
}

}  // namespace mortise::lock
