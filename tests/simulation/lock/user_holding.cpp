// A user while it holds, and how its holds end.
#include <algorithm>
#include <utility>

#include "lock/lease.hpp"
#include "simulation/lock/lock_trace.hpp"
#include "simulation/lock/user.hpp"

namespace mortise::simulation {

// ---- what the library reports about the hold --------------------------------------------------

void user::observe(time_ns local_now) {
  const auto& gate = gate_driver_->gate();
  const bool is_held = gate.is_held(*owner_, local_now);
  if (!hold_.is_active) {
    if (is_held) violate("held without a grant");
    return;
  }
  if (!hold_.is_over && local_now >= hold_.valid_until) {
    end_hold(client_.clock.truth_of(hold_.valid_until));
  }
  if (hold_.is_over) {
    if (is_held) violate("a hold came back after its end");
    return;
  }
  if (!is_held) return violate("a hold ended before its deadline and nobody was told");
  if (hold_.valid_until == time_never) check_sharing();
  const auto valid_until = gate.valid_until(*owner_);
  trace_deadline(valid_until);
  check_progress(valid_until);
  if (hold_.valid_until < time_never && valid_until < hold_.valid_until) {
    violate("the deadline of a hold moved back");
  }
  hold_.valid_until = valid_until;
  for (const auto mode : {lock::hold_mode::exclusive, lock::hold_mode::shared}) {
    if (owner_->hold_count(mode) != depth(mode)) violate("a hold is counted wrongly");
  }
  if (owner_->token != hold_.token) violate("the token changed during a hold");
  if (hold_.promised > valid_until) violate("an extension was promised and not given");
}

// No renewal reaches beyond the last report. Another holder of the claim may have extended it.
void user::check_progress(time_ns valid_until) const {
  if (!reports_progress_ || !owner_->renews) return;
  const auto limit = hold_.reported + (owner_->progress_ms + lease_ms_) * ns_per_ms;
  if (valid_until > std::max(limit, gate_driver_->extended_until) + ns_per_ms) {
    violate("renewed without progress");
  }
}

void user::note_progress() {
  if (is_busy()) return;
  observe(client_.now());
  const bool was_held = is_holding();
  if (was_held) hold_.reported = client_.now();
  const auto answer = gate_driver_->enter(
      [&](lock::gate& gate, time_ns now) { return gate.note_progress(*owner_, now); });
  world_.log("%s: progress: %s", describe().c_str(), status_text(answer.code));
  if (answer.ok() != was_held) violate("progress of a hold that is over, or not of one that lasts");
}

// Of a hold that has just begun: readers of a client may share one claim, but none that came after
// a waiter for it was known.
void user::check_sharing() {
  if (lock_.kind != lock::lock_kind::rw) return;
  const auto& gate = gate_driver_->gate();
  const auto claim = gate.owner_token(*owner_);
  if (gate_driver_->was_notified(claim, hold_.accepted_at))
    violate("a reader entered before the waiters");
  for (auto* const other : client_.users()) {
    const bool is_here = other->gate_driver() == gate_driver_ && other != this;
    if (!is_here || gate.owner_token(other->owner()) != claim) continue;
    if (is_strict_) violate("a strict reader shares");
    ++world_.seen[count::shared];
    return;
  }
}

void user::end_hold(time_ns at) {
  if (hold_.is_over) return;
  hold_.is_over = true;
  last_held_ = at;
  record_hold(at);
  if (!hold_.claim.empty()) world_.trace->note_end(name(), hold_.claim, at);
}

void user::trace_deadline(time_ns valid_until) {
  if (world_.trace == nullptr || lock_.kind != lock::lock_kind::mutex) return;
  if (valid_until == hold_.valid_until) return;
  const auto deadline = client_.clock.truth_of(valid_until);
  if (!hold_.claim.empty()) return world_.trace->note_deadline(name(), hold_.claim, deadline);
  hold_.claim = gate_driver_->gate().owner_token(*owner_);
  world_.trace->note_hold(name(), hold_.claim, hold_.token, deadline);
}

void user::record_hold(time_ns end) {
  world_.history.push_back(
      {name(), describe(), hold_.token, hold_.start, end, hold_.permits, lock_.capacity});
}

void user::change_hold(std::int64_t permits, lock::hold_mode mode) {
  record_hold(world_.time.now());
  hold_.start = world_.time.now();
  hold_.permits = permits;
  if (hold_.depth[0] + hold_.depth[1] == 1) {
    hold_.depth = {};
    depth(mode) = 1;
  }
}

void user::on_lost() {
  world_.log("%s: told that the hold is lost", describe().c_str());
  ++world_.seen[count::lost];
  if (!hold_.is_active || hold_.is_loss_reported) return violate("a loss was told without a hold");
  hold_.is_loss_reported = true;
  if (hold_.is_over) return;
  const auto now = client_.now();
  if (now < hold_.valid_until && world_.plan.is_exclusive) {
    violate("lost before the deadline although the server kept its data");
  }
  end_hold(std::min(world_.time.now(), client_.clock.truth_of(hold_.valid_until)));
}

void user::on_at_risk() {
  ++world_.seen[count::at_risk];
  // Where a reply takes a large part of the lease, or of a grant's lease, a risk is nothing
  // unusual.
  const bool is_near = world_.plan.latency_ns * 25 < lock::grant_ms(lease_ms_) * ns_per_ms;
  if (!world_.plan.has_faults() && owner_->renews && is_near) {
    const auto held_for = client_.clock.read(world_.time.now()) - client_.clock.read(hold_.granted);
    const bool is_at_end = owner_->max_hold_ms >= 0 &&
                           held_for + 2 * lease_ms_ * ns_per_ms > owner_->max_hold_ms * ns_per_ms;
    const bool is_stalled =
        reports_progress_ && client_.now() >= hold_.reported + owner_->progress_ms * ns_per_ms;
    if (!is_at_end && !is_stalled) violate("at risk although nothing was wrong");
  }
}

void user::on_contended() {
  ++world_.seen[count::contended];
  if (!owner_->reports_contention) violate("waiters were reported without a request");
  if (!hold_.is_active) violate("waiters were reported without a hold");
  if (std::exchange(hold_.is_contended, true)) violate("waiters were reported twice in a hold");
}

void user::on_end() {
  if (hold_.is_active) {
    observe(client_.now());
    end_hold(world_.time.now());
  }
  hold_.is_active = false;
}

// ---- holding --------------------------------------------------------------------------------

void user::live_with_hold() {
  auto& dice = world_.dice;
  const auto& plan = world_.plan;
  auto length = plan.kind == "contended" ? plan.hold_ns : dice.spread(plan.hold_ns);
  if (plan.has_oddities && dice.happens(80)) length = dice.spread(3 * lease_ms_ * ns_per_ms);
  if (plan.has_oddities && dice.happens(150)) later(dice.below(length + 1), &user::extend);
  if (plan.has_oddities && dice.happens(150)) later(dice.below(length + 1), &user::act_again);
  if (plan.has_oddities && values_ > 0) later(dice.below(length + 1), &user::set_value);
  // What an old connection had still under way can undo an upgrade, unless it was killed.
  if (lock_.kind == lock::lock_kind::rw && plan.has_oddities && plan.kills_old_sessions) {
    for (auto changes = dice.below(4); changes > 0; --changes) {
      later(dice.below(length + 1), &user::change_mode);
    }
  }
  if (reports_progress_) later(length / 2, &user::note_progress);
  const auto way_out = plan.has_oddities && dice.happens(30) ? &user::forget : &user::unlock;
  later(length, way_out);
}

void user::act_again() {
  if (hold_.is_active && !is_busy() && !is_retired_ && !is_raising_) acquire();
}

// A hold that no user continues, as its exporter died. In a trace nothing adopts.
bool user::may_export() const {
  return exports_ && !is_export_refused_ && world_.plan.has_oddities && world_.trace == nullptr &&
         is_holding() && hold_.depth[0] + hold_.depth[1] == 1;
}

void user::export_hold() {
  observe(client_.now());
  lock::exported_claim claim;
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns now) {
    auto exported = gate.export_hold(*owner_, claim, now);
    if (exported.ok()) {
      end_hold(world_.time.now());
      hold_.is_active = false;
    }
    return exported;
  });
  world_.log("%s: export: %s", describe().c_str(), status_text(answer.code));
  if (!answer.ok()) {
    is_export_refused_ = true;
    return unlock();
  }
  world_.exported.push_back({lock_.name, std::move(claim)});
  later(world_.dice.spread(world_.plan.think_ns), &user::act);
}

// Most ids are used twice, and some after the end of their hold.
void user::adopt(acquiring_operation& operation) {
  if (hold_.is_active) return;
  for (auto& each : world_.exported) {
    if (each.name != lock_.name || each.adoptions == 0) continue;
    --each.adoptions;
    operation.adopted = each.claim.owner_token;
    operation.amount = each.claim.amount;
    if (!operation.is_try)
      operation.due = client_.now() + world_.plan.command_timeout_ms * ns_per_ms;
    operation.is_try = true;
    return;
  }
}

void user::unlock() {
  if (is_busy()) return;
  if (may_export()) return export_hold();
  if (is_raising_) return later(ns_per_ms, &user::unlock);
  observe(client_.now());
  const bool was_held = is_holding();
  const bool was_lost = hold_.is_active && hold_.is_over;
  others_.push_back(std::make_unique<other_operation>(*this, purpose::unlock));
  auto& operation = *others_.back();
  const auto now = client_.now();
  const auto timeout = world_.plan.command_timeout_ms * ns_per_ms;
  operation.due =
      now + (world_.plan.has_oddities && world_.dice.happens(100) ? world_.dice.spread(timeout)
                                                                  : timeout);
  operation.deadline = operation.due;
  operation.valid_before = was_held ? hold_.valid_until : 0;
  const bool is_last = hold_.depth[0] + hold_.depth[1] <= 1;
  const auto mode = depth(lock::hold_mode::exclusive) > 0 &&
                            (depth(lock::hold_mode::shared) == 0 || world_.dice.happens(500))
                        ? lock::hold_mode::exclusive
                        : lock::hold_mode::shared;
  if (was_held && is_last) end_hold(world_.time.now());
  if (depth(mode) > 0) --depth(mode);
  if (was_held && !is_last && mode == lock::hold_mode::exclusive && depth(mode) == 0) {
    change_hold(1, lock::hold_mode::shared);  // it goes on reading
  }
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.unlock(*owner_, mode, &operation, at);
    operation.is_accepted = result.ok();
    return result;
  });
  if (is_last) hold_.is_active = false;
  world_.log("%s: unlock: %s", describe().c_str(), status_text(answer.code));
  if (!answer.ok() && operation.is_finished) violate("an operation was rejected and finished");
  const auto expected = was_held ? status::ok : was_lost ? status::lost : answer.code;
  if (answer.code != expected) {
    violate(std::string("unlock answered ") + status_text(answer.code) + " instead of " +
            status_text(expected));
  }
  const auto pause = world_.dice.happens(300) ? 0 : world_.dice.spread(world_.plan.think_ns);
  later(pause, hold_.is_active ? &user::unlock : &user::act);
}

void user::extend() {
  if (is_busy() || is_raising_) return;
  observe(client_.now());
  const bool was_held = is_holding();
  others_.push_back(std::make_unique<other_operation>(*this, purpose::extend));
  auto& operation = *others_.back();
  operation.due = client_.now() + world_.plan.command_timeout_ms * ns_per_ms;
  operation.deadline = operation.due;
  const auto lease = world_.dice.happens(300) ? 0 : world_.dice.between(50, 2 * lease_ms_ + 50);
  operation.target = client_.now() + (lease == 0 ? lease_ms_ : lease) * ns_per_ms;
  operation.hold = hold_.number;
  gate_driver_->extended_until = std::max(gate_driver_->extended_until, operation.target);
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.extend(*owner_, lease, operation, at);
    operation.is_accepted = result.ok();
    return result;
  });
  world_.log("%s: extend: %s", describe().c_str(), status_text(answer.code));
  if (!answer.ok() && operation.is_finished) violate("an operation was rejected and finished");
  const bool is_expected =
      was_held ? answer.ok() || answer.code == status::unreachable || answer.code == status::limit
               : !answer.ok();
  if (!is_expected) violate(std::string("extend answered ") + status_text(answer.code));
}

void user::set_value() {
  if (is_busy() || is_raising_ || !hold_.is_active) return;
  observe(client_.now());
  const bool was_held = is_holding();
  others_.push_back(std::make_unique<other_operation>(*this, purpose::value));
  auto& operation = *others_.back();
  operation.due = client_.now() + world_.plan.command_timeout_ms * ns_per_ms;
  operation.deadline = operation.due;
  operation.hold = hold_.number;
  const auto text = world_.dice.happens(200) ? "" : value_start() + std::to_string(++values_);
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.set_value(*owner_, text, operation, at);
    operation.is_accepted = result.ok();
    return result;
  });
  world_.log("%s: value: %s", describe().c_str(), status_text(answer.code));
  if (!answer.ok() && operation.is_finished) violate("an operation was rejected and finished");
  // Other readers may share the hold, and another call may set its value.
  if (!was_held && answer.ok()) violate("a value was accepted without a hold");
}

void user::on_value(const other_operation& done, const outcome& result) {
  if (!result.ok()) return count_result(result);
  ++world_.seen[count::values];
  if (hold_.number != done.hold) violate("a value of a hold that is over was set");
}

void user::other_operation::finish(const outcome& result, std::int64_t token) noexcept {
  static constexpr std::array names{"unlock", "extend", "raise", "lower", "value"};
  const auto* const name = names[static_cast<std::size_t>(why_)];
  by_.world_.log("%s: %s finished: %s", by_.describe().c_str(), name, status_text(result.code));
  if (by_.check_finish(*this, name)) by_.on_other(*this, result, token);
}

void user::on_unlocked(const other_operation& done, const outcome& result) {
  if (result.ok()) {
    ++world_.seen[count::unlocked];
  } else {
    count_result(result);
  }
  if (result.code == status::lost && client_.now() < done.valid_before &&
      world_.plan.is_exclusive) {
    violate("the server had lost a hold that was still valid");
  }
}

void user::on_other(other_operation& done, const outcome& result, std::int64_t token) {
  if (done.why_ == purpose::unlock) return on_unlocked(done, result);
  if (done.why_ == purpose::raise) return on_raised(result, token);
  if (done.why_ == purpose::value) return on_value(done, result);
  if (!result.ok()) return count_result(result);
  if (done.why_ == purpose::lower) {
    ++world_.seen[count::downgraded];
    return;
  }
  ++world_.seen[count::extended];
  if (!is_holding() || hold_.number != done.hold) {
    violate("an extension of a hold that is over succeeded");
  } else {
    hold_.promised = std::max(hold_.promised, done.target);
  }
}

void user::forget() {
  if (is_busy()) return;
  ++world_.seen[count::forgotten];
  observe(client_.now());
  if (hold_.is_active) end_hold(world_.time.now());
  is_forgetting_ = true;
  gate_driver_->enter([&](lock::gate& gate, time_ns now) { gate.forget(*owner_, now); });
  is_forgetting_ = false;
  client_.gates().release(*std::exchange(gate_driver_, nullptr));
  hold_ = {};
  forgotten_.push_back(std::move(owner_));
  forgotten_.back()->hold_count(lock::hold_mode::exclusive) = poison;
  forgotten_.back()->token = poison;
  renew_handle();
  later(world_.dice.spread(world_.plan.think_ns), &user::act);
}

}  // namespace mortise::simulation
