// How the only holder of a claim queue changes its mode: a reader becomes the writer, and back.
#include "lock/queue/claim_queue.hpp"

#include <utility>

namespace mortise::lock {

// Whether a hold of this protocol can change its mode.
outcome claim_queue::check_modes() const {
  if (gate_.protocol.can_raise) return {};
  return outcome::of(status::unsupported, gate_.protocol.subject, gate_.protocol.name,
                     " cannot upgrade or downgrade a hold; unlock, and acquire again");
}

outcome claim_queue::raise(lock::owner& owner, operation& done, time_ns now) {
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (auto checked = owner.check_single(hold_mode::shared); !checked.ok()) return checked;
  if (!holders_.is_one()) {
    // The server knows only one reader, and would upgrade it although other readers share it.
    done.finish(outcome::of(status::not_acquired, "other holders share the lock"), 0);
    return {};
  }
  gate_.operations.accept(done);
  done.broken_before = current_->broken();
  if (!current_->raise(&done, now) && gate_.has_connection()) {
    gate_.operations.retract(done);
    return gate_.io.lack();
  }
  raising_ = &done;
  return {};
}

outcome claim_queue::lower(lock::owner& owner, std::int64_t permits, operation& done, time_ns now) {
  if (auto checked = check_modes(); !checked.ok()) return checked;
  if (auto checked = owner.check_single(hold_mode::exclusive); !checked.ok()) return checked;
  return lower_hold(owner, permits, &done, now);
}

// From now on the hold is shared, whatever the result of the request. Each later renewal asks for
// no more.
outcome claim_queue::lower_hold(lock::owner& owner, std::int64_t permits, operation* done,
                                time_ns now) {
  if (done != nullptr) {
    extensions_.accept(*done);
    done->broken_before = current_->broken();
  }
  owner.count_hold_end(now);
  owner.count_hold(hold_mode::shared, now);
  owner.hold_count(hold_mode::exclusive) = 0;
  if (owner.holds() == 0) owner.hold_count(hold_mode::shared) = 1;
  const bool is_sent = current_->lower(permits, done, now) != 0;
  if (done == nullptr) return {};
  if (is_sent || !gate_.has_connection()) {
    extensions_.add(*done, owner, current_->requested_until());
  } else {
    gate_.operations.end(*done, gate_.io.lack());
  }
  return {};
}

void claim_queue::raised(time_ns now) {
  auto& holder = *holders_.first();
  if (holder.hold_count(hold_mode::exclusive) > 0) return;  // an earlier reply has done it
  if (raising_ == nullptr) {
    // The caller has given up, with the result that the hold stays shared.
    current_->lower(1, nullptr, now);
    return;
  }
  is_shared_ = false;  // also after a downgrade: no other reader may share a writer's token
  holder.token = current_->take_token();
  holder.hold_once(hold_mode::exclusive);
  holder.count_hold_end(now);
  holder.count_hold(hold_mode::exclusive, now);
  finish_raise({});
}

void claim_queue::finish_raise(const outcome& result) {
  if (raising_ == nullptr) return;
  gate_.operations.end(*std::exchange(raising_, nullptr), result,
                       result.ok() ? holders_.first()->token : 0);
}

}  // namespace mortise::lock
