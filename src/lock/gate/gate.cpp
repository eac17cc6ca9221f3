#include "lock/gate/gate.hpp"

#include <algorithm>
#include <utility>

namespace mortise::lock {

gate::gate(const protocol_facts& protocol, lock_io& io, gate_listener& listener)
    : common_(protocol, io, listener) {
  static_cast<void>(idle_queue());
}

// ---- claim queues --------------------------------------------------------------------------

// A retained claim serves this acquire, or is released before the request. Otherwise the claim
// would block its own client.
claim_queue& gate::queue_for(const acquire_operation& acquire, time_ns now) {
  for (const auto& each : queues_) {
    if (each->may_take_up(acquire, now)) return *each;
  }
  for (const auto& each : queues_) each->end_retention(now);
  if (common_.protocol.kind == lock_kind::mutex) return *queues_.front();
  for (const auto& each : queues_) {
    if (each->admits(acquire, now)) return *each;
  }
  return idle_queue();
}

// Keeps an idle claim queue for the next use, but at most one at the end of the list.
claim_queue& gate::idle_queue() {
  while (queues_.size() > 1 && queues_.back()->is_idle() &&
         queues_[queues_.size() - 2]->is_idle()) {
    queues_.pop_back();
  }
  const auto idle = std::find_if(queues_.begin(), queues_.end(),
                                 [](const auto& each) { return each->is_idle(); });
  if (idle != queues_.end()) return **idle;
  queues_.push_back(std::make_unique<claim_queue>(common_));
  common_.queues = queues_.size();
  return *queues_.back();
}

claim_queue* gate::queue_of(std::string_view token) const noexcept {
  for (const auto& each : queues_) {
    if (each->claim() != nullptr && each->claim()->token() == token) return each.get();
  }
  return nullptr;
}

void gate::settle(time_ns now) {
  for (const auto& each : queues_) each->settle(now);
}

// ---- calls of users ------------------------------------------------------------------------

outcome gate::acquire(acquire_operation& acquire, time_ns now) {
  if (is_closed()) return client_freed();
  settle(now);
  auto& owner = *acquire.owner;
  if (owner.is_interrupted) return outcome::of(status::cancelled, "this handle is interrupted");
  switch (owner.state()) {
    case owner_state::acquiring:
    case owner_state::unlocking:
      return owner.busy();
    case owner_state::held: {
      if (acquire.adopts()) {
        return outcome::of(status::already_held, "this handle holds the lock; unlock it first");
      }
      auto checked = owner.queue->check_free();
      return checked.ok() ? owner.queue->acquire_again(acquire) : checked;
    }
    case owner_state::lost:
      if (owner.may_reenter(acquire.amount.mode)) {
        auto lost = outcome::lost(owner.loss);
        lost.say(lost.words(), "; unlock it as often as it was acquired");
        return lost;
      }
      break;
    case owner_state::idle:
      break;
  }
  if (acquire.adopts()) {
    // It has no turn to wait for, so no waiter of this client is before it or behind it.
    idle_queue().enter(acquire, now);
    return {};
  }
  auto& chosen = queue_for(acquire, now);
  if (acquire.is_try && chosen.is_ahead_of_tries() && !chosen.admits(acquire, now)) {
    refuse_try(acquire, chosen, now);
    return {};
  }
  stop_readers_for(acquire);
  chosen.enter(acquire, now);
  return {};
}

// A local writer that is about to wait is known before any message reports it.
void gate::stop_readers_for(const acquire_operation& acquire) {
  const bool is_writer = acquire.amount.mode == hold_mode::exclusive;
  if (acquire.is_try || !is_writer || common_.protocol.kind != lock_kind::rw) return;
  for (const auto& each : queues_) each->admit_no_more();
}

// A handle of this client holds the lock or is ahead, so no request is necessary.
void gate::refuse_try(acquire_operation& acquire, claim_queue& queue, time_ns now) {
  queue.note_taken(acquire);
  acquire.counts().acquire_answered(status::not_acquired);
  acquire.began = now;
  common_.journal.wait_began(acquire);
  common_.journal.wait_ended(acquire, status::not_acquired, now);
  acquire.finish(outcome::because(status::not_acquired, queue.obstacle()), 0);
}

outcome gate::unlock(lock::owner& owner, hold_mode mode, operation* done, time_ns now) {
  if (is_closed()) return client_freed();
  settle(now);
  const bool has_hold = owner.state() == owner_state::held || owner.state() == owner_state::lost;
  if (has_hold && !owner.has_hold(mode)) {
    return outcome::of(status::not_owner, "this handle holds the lock in the other mode");
  }
  if (owner.state() == owner_state::lost) return owner.unlock_lost(mode);
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  return owner.queue->unlock(owner, mode, done, now);
}

// ok if the owner holds and no other call is changing the hold.
outcome gate::check_held(const lock::owner& owner) const {
  if (is_closed()) return client_freed();
  auto checked = owner.check_held();
  return checked.ok() ? owner.queue->check_free() : checked;
}

outcome gate::check_held(const lock::owner& owner, time_ns now) {
  settle(now);
  return check_held(owner);
}

void gate::end_upgrade(lock::owner& owner) {
  if (owner.state() != owner_state::held || owner.queue->check_free().ok()) return;
  owner.queue->end_calls_of(owner,
                            outcome::of(status::not_owner, "the hold was unlocked meanwhile"));
}

outcome gate::extend(lock::owner& owner, std::int64_t lease_ms, operation& done, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  return checked.ok() ? owner.queue->extend(owner, lease_ms, done, now) : checked;
}

std::int64_t gate::export_lease_ms(const lock::owner& owner, time_ns now) const noexcept {
  return owner.state() == owner_state::held ? owner.queue->export_lease_ms(owner, now) : 0;
}

outcome gate::export_hold(lock::owner& owner, exported_claim& exported, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  return checked.ok() ? owner.queue->export_hold(owner, exported, now) : checked;
}

outcome gate::note_progress(lock::owner& owner, time_ns now) {
  if (is_closed()) return client_freed();
  settle(now);
  auto checked = owner.check_held();
  const bool is_needed = owner.progress_ms > 0 && owner.renews;
  if (checked.ok() && is_needed) owner.queue->note_progress(owner, now);
  return checked;
}

outcome gate::raise(lock::owner& owner, operation& done, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  if (!checked.ok()) return checked;
  // At the server a retained claim is another holder, which would block its own client.
  for (const auto& each : queues_) each->end_retention(now);
  return owner.queue->raise(owner, done, now);
}

outcome gate::lower(lock::owner& owner, std::int64_t permits, operation& done, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  return checked.ok() ? owner.queue->lower(owner, permits, done, now) : checked;
}

outcome gate::set_value(lock::owner& owner, std::string_view text, operation& done, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  return checked.ok() ? owner.queue->set_value(text, done, now) : checked;
}

// ---- giving up ------------------------------------------------------------------------------

void gate::abandon(operation& given_up, status why, time_ns now) {
  if (auto* const waiter = given_up.as_acquire()) {
    auto& owner = *waiter->owner;
    if (owner.pending == waiter) owner.queue->abandon_acquire(*waiter, why, now);
    return;
  }
  auto result =
      outcome::of(why == status::timed_out ? status::unknown : why,
                  "the server did not answer in time; the hold ends with its lease at the latest");
  result.is_ambiguous = true;
  const auto problem = common_.io.problem();
  if (!problem.ok()) result.say(result.message, "; ", problem.message);
  if (auto* const release = common_.pending_releases.of(given_up)) {
    const auto& refusal = problem.ok() ? release->claim->requests().details() : problem;
    const bool is_refused = !release->claim->release_phase()->is_sent() && !refusal.ok();
    if (why == status::timed_out && is_refused) result = refusal;
    return common_.pending_releases.end_unlock(*release, result);
  }
  for (const auto& each : queues_) {
    if (each->has_open(given_up)) return each->abandon(given_up, result, why, problem);
  }
}

bool gate::end_in_deadlock(std::uint64_t thread_id, time_ns began, const outcome& result,
                           time_ns now) {
  settle(now);
  for (const auto& each : queues_) {
    for (auto* waiter : each->waiters()) {
      if (waiter->thread.id != thread_id || waiter->began != began) continue;
      if (!waiter->fails_in_deadlock()) continue;
      each->end_acquire(*waiter, result, now);
      return true;
    }
  }
  return false;
}

void gate::interrupt(lock::owner& owner, bool is_on, time_ns now) {
  owner.is_interrupted = is_on;
  if (is_on && owner.pending != nullptr) abandon(*owner.pending, status::cancelled, now);
}

void gate::repeat_contention(lock::owner& owner) {
  if (owner.state() != owner_state::held) return;
  owner.is_contention_due = owner.reports_contention;
  owner.queue->report_contention();
}

void gate::forget(lock::owner& owner, time_ns now) {
  owner.is_freed = true;
  if (owner.pending != nullptr) abandon(*owner.pending, status::closed, now);
  if (owner.state() == owner_state::held) {
    owner.queue->end_calls_of(owner, outcome::of(status::closed));
    const auto mode =
        owner.has_hold(hold_mode::exclusive) ? hold_mode::exclusive : hold_mode::shared;
    owner.hold_once(mode);
    unlock(owner, mode, nullptr, now);
  }
  for (const auto& each : queues_) each->end_retention(now);
  common_.pending_releases.forget(owner);
  owner.enter(owner_state::idle);
  owner.is_freed = false;  // a multi may still acquire it
}

void gate::close(time_ns now) {
  common_.is_closed = true;
  for (const auto& each : queues_) each->close(now);
  common_.pending_releases.close(now);
}

// ---- events ---------------------------------------------------------------------------------

void gate::on_answer(std::uint64_t claim_id, std::uint32_t serial, const step_result& result,
                     time_ns now) {
  for (const auto& each : queues_) {
    if (each->claim() == nullptr || each->claim()->id() != claim_id) continue;
    return each->on_answer(serial, result, now);
  }
  common_.note_released(common_.pending_releases.on_answer(claim_id, serial, result, now));
}

bool gate::on_grant(const grant_message& grant, time_ns now) {
  auto* const queue = queue_of(grant.token);
  // A grant to a claim in release needs no action, because the cancel releases the lock.
  if (queue == nullptr) return false;
  // Any publisher may know the owner token (hazard 32).
  if (!queue->claim()->requests().take_secret(grant.secret)) {
    if (queue->attempt() != nullptr) queue->attempt()->on_false_grant(now);
    return false;
  }
  queue->on_grant(grant.last_token, grant.server_us, grant.others_wait, now);
  return true;
}

void gate::on_head(std::string_view token, std::int64_t ttl_ms, time_ns now) {
  auto* const queue = queue_of(token);
  if (queue != nullptr && queue->attempt() != nullptr) queue->attempt()->on_head(ttl_ms, now);
}

void gate::on_waiter(std::string_view token, time_ns now) {
  if (auto* const queue = queue_of(token)) queue->on_waiter(now);
}

void gate::on_forced(std::string_view token, time_ns now) {
  if (auto* const queue = queue_of(token)) queue->on_forced(now);
}

void gate::on_free(time_ns now) {
  for (const auto& each : queues_) {
    if (each->attempt() != nullptr) each->attempt()->on_free(now);
  }
}

void gate::on_up(time_ns now) {
  // The release of an earlier claim first. Otherwise that claim would refuse the next one.
  common_.pending_releases.on_up(now);
  for (const auto& each : queues_) each->on_up(now);
}

void gate::on_unacknowledged() noexcept {
  for (const auto& each : queues_) {
    if (each->claim() != nullptr) each->claim()->on_unacknowledged();
  }
}

void gate::on_timer(time_ns now) {
  for (const auto& each : queues_) each->on_timer(now);
  common_.note_released(common_.pending_releases.on_timer(now));
  auto& accepted = common_.operations;
  while (accepted.next_deadline() <= now) abandon(accepted.first(), status::timed_out, now);
}

time_ns gate::next_timer() const noexcept {
  auto next = std::min(common_.pending_releases.next_timer(), common_.operations.next_deadline());
  for (const auto& each : queues_) next = std::min(next, each->next_timer());
  return next;
}

time_ns gate::timer_slack(time_ns next) const noexcept {
  for (const auto& each : queues_) {
    if (each->next_timer() != next) continue;
    const auto* const held = each->claim() == nullptr ? nullptr : each->claim()->hold();
    return held == nullptr || each->is_retained() ? 0 : held->timer_slack();
  }
  return 0;
}

// ---- queries -------------------------------------------------------------------------------

bool gate::is_queued() const noexcept {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& each) { return each->is_queued(); });
}

bool gate::is_retained() const noexcept {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& each) { return each->is_retained(); });
}

bool gate::awaits_message() const noexcept {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& each) {
    return each->is_queued() || each->is_retained() || each->is_joined();
  });
}

bool gate::retains(std::string_view owner_token) const noexcept {
  const auto* const queue = queue_of(owner_token);
  return queue != nullptr && queue->is_retained();
}

bool gate::is_idle() const noexcept {
  return common_.pending_releases.is_empty() &&
         std::all_of(queues_.begin(), queues_.end(),
                     [](const auto& each) { return each->claim() == nullptr; });
}

}  // namespace mortise::lock
