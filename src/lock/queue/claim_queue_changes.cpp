// The changes of a hold in a claim queue: its mode, its value and its export.
#include "lock/queue/claim_queue.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/probe.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

// ---- upgrades and downgrades ---------------------------------------------------------------

// Whether a hold of this protocol can change its mode.
outcome claim_queue::check_modes() const {
  if (gate_.protocol.can_raise) return {};
  return outcome::of(status::unsupported, "protocol: ", gate_.protocol.name,
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
  calls_.accept(done, current_->requests().broken());
  if (!hold().raise(&done, now) && gate_.has_connection()) {
    gate_.operations.retract(done);
    return gate_.io.lack();
  }
  calls_.add(done, sole_call::upgrade);
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
  if (done != nullptr) calls_.accept(*done, current_->requests().broken());
  owner.hold_count(hold_mode::exclusive) = 0;
  if (owner.holds() == 0) owner.hold_count(hold_mode::shared) = 1;
  gate_.journal.changed(event_kind::downgraded, owner, now);
  owner.count_hold_end(now);
  owner.count_hold(hold_mode::shared, now);
  const bool is_sent = hold().lower(permits, done, now) != 0;
  if (done == nullptr) return {};
  if (is_sent || !gate_.has_connection()) {
    calls_.add(*done, owner, hold().least_target());
  } else {
    gate_.operations.end(*done, gate_.io.lack());
  }
  return {};
}

void claim_queue::raised(time_ns now) {
  auto& holder = *holders_.first();
  if (holder.hold_count(hold_mode::exclusive) > 0) return;  // an earlier reply has done it
  if (!calls_.has(sole_call::upgrade)) {
    // The caller has given up, with the result that the hold stays shared.
    hold().lower(1, nullptr, now);
    return;
  }
  sharing_.stop();
  holder.token = hold().take_token();
  holder.hold_once(hold_mode::exclusive);
  gate_.journal.changed(event_kind::upgraded, holder, now);
  holder.count_hold_end(now);
  holder.count_hold(hold_mode::exclusive, now);
  calls_.finish(sole_call::upgrade, {}, holder.token);
}

// ---- the value ------------------------------------------------------------------------------

// Without memory the hold has no value.
void claim_queue::set_value_of(const lock::owner& holder, time_ns now) noexcept try {
  if (!holder.value.empty()) current_->set_value(holder.value, nullptr, now);
} catch (const std::bad_alloc&) {
  return;
}

outcome claim_queue::set_value(std::string_view text, operation& done, time_ns now) {
  if (!gate_.protocol.has_values) {
    return outcome::of(status::unsupported, "protocol: ", gate_.protocol.name,
                       " stores no values; use a handle with protocol=queued, not on redlock:");
  }
  if (!holders_.is_one()) {
    return outcome::of(status::unsupported,
                       "other readers of this client share the hold, which has one value; give the "
                       "handle the option fair=strict");
  }
  if (calls_.has(sole_call::value)) {
    return outcome::because(status::busy,
                            "another call on this handle sets the value; wait for it");
  }
  // Allocates first: an operation is accepted completely or not at all.
  std::string copy(text);
  calls_.accept(done, current_->requests().broken());
  if (!current_->set_value(std::move(copy), &done, now) && gate_.has_connection()) {
    gate_.operations.retract(done);
    return gate_.io.lack();
  }
  calls_.add(done, sole_call::value);
  return {};
}

// ---- export ---------------------------------------------------------------------------------

// The server keeps the hold until its lease ends, and this client forgets it. So this client
// neither renews nor releases what another one may have adopted, not even by its death. A request
// in flight names the exporter's owner token, which the caller replaces at the server (hazards 16
// and 17).
outcome claim_queue::export_hold(lock::owner& owner, exported_claim& exported, time_ns now) {
  if (owner.holds() > 1) {
    return outcome::of(status::already_held,
                       "this handle was acquired more than once; unlock all but one first");
  }
  if (!holders_.is_one()) {
    return outcome::of(status::busy,
                       "other readers of this client share the hold; give the handle the option "
                       "fair=strict");
  }
  if (auto problem = gate_.io.problem(); !problem.ok()) return problem;
  auto amount = current_->requests().amount();
  amount.mode = current_->mode();
  // Allocates first: an export happens completely or not at all.
  exported = {
      gate_.io.new_owner_token(
          owner.label, server_ttl_ms(grant_ms(owner.lease_ms), owner.drift_ppm), claim_reuse::none),
      current_->token(), amount, owner.token, export_lease_ms(owner, now)};
  // The value is that of its owner token.
  if (current_->value().exists()) current_->set_value({}, nullptr, now);
  gate_.journal.exported(owner, now);
  owner.hold_counts = {};
  owner.count_hold_end(now);
  owner.counts_of_hold->released(statistics::release::handed_over);
  holders_.remove(owner);
  owner.enter(owner_state::idle);
  end_calls_of(owner, outcome::of(status::not_owner, "the hold was exported meanwhile"));
  is_refilling_ = false;
  sharing_.end_claim();
  current_.reset();
  start_next(now);
  return {};
}

}  // namespace mortise::lock
