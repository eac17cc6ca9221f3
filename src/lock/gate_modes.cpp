// Holds of a part of the lock and of the whole: a reader that becomes the writer, and back.
#include <algorithm>
#include <utility>

#include "lock/gate.hpp"

namespace mortise::lock {

// Whether a hold of this protocol can change its mode.
outcome gate::check_modes() const {
  if (protocol_.can_raise) return {};
  return outcome::of(status::unsupported, "protocol: ", protocol_.name,
                     " cannot turn a reader into a writer or back; unlock, and acquire anew");
}

outcome gate::raise(owner& who, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(who); !checked.ok()) return checked;
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (who.hold_count(hold_mode::whole) > 0) {
    return outcome::of(status::already_held, "this handle holds all of the lock already");
  }
  if (who.hold_count(hold_mode::part) > 1) {
    return outcome::of(status::already_held,
                       "this handle was acquired more than once; unlock all but one first");
  }
  accept(done);
  if (!current_->raise(&done, now)) {
    retract(done);
    return unsent_outcome();
  }
  raising_ = &done;
  return {};
}

outcome gate::lower(owner& who, std::int64_t weight, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(who); !checked.ok()) return checked;
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (who.hold_count(hold_mode::whole) == 0) {
    return outcome::of(status::not_owner, "this handle does not hold all of the lock");
  }
  if (who.hold_count(hold_mode::whole) > 1 || who.hold_count(hold_mode::part) > 0) {
    return outcome::of(status::already_held,
                       "this handle was acquired more than once; unlock all but one first");
  }
  return lower_hold(who, weight, &done, now);
}

// From here on the hold counts as a part only, whatever comes of the question: every later renewal
// asks for no more than that.
outcome gate::lower_hold(owner& who, std::int64_t weight, operation* done, time_ns now) {
  if (done != nullptr) expect(*done);
  who.hold_count(hold_mode::whole) = 0;
  if (!who.has_hold_count()) who.hold_count(hold_mode::part) = 1;
  const bool is_asked = current_->lower(weight, done, now) != 0;
  if (done == nullptr) return {};
  if (is_asked) {
    extensions_.push_back({done, current_->asked_until()});
  } else {
    end(*done, unsent_outcome(), 0);
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
  holder_->hold_counts = {};
  holder_->hold_count(hold_mode::whole) = 1;
  finish_raise({});
}

void gate::finish_raise(const outcome& how) {
  if (raising_ == nullptr) return;
  end(*std::exchange(raising_, nullptr), how, how.ok() ? holder_->token : 0);
}

}  // namespace mortise::lock
