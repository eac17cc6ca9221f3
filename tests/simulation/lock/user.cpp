#include "simulation/lock/user.hpp"

#include <algorithm>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::simulation {

namespace {

// How late a finish may be: the simulated timers are up to half a millisecond late.
constexpr time_ns lateness_ns = 2 * ns_per_ms;

}  // namespace

user::user(simulated_client& client, const named_lock& of, bool is_strict, int number,
           std::int64_t lease_ms)
    : client_(client),
      lock_(of),
      is_strict_(is_strict),
      world_(client.around()),
      label_(client.id() + " user " + std::to_string(number) + " of \"" + of.name + "\""),
      lease_ms_(lease_ms),
      reports_progress_(number % 4 == 3),
      number_(number),
      reports_contention_(number % 2 == 0),
      exports_(number % 5 == 2) {
  client_.add(*this);
  renew_handle();
}

void user::renew_handle() {
  gate_driver_ = client_.new_handle(lock_, is_strict_);
  owner_ = std::make_unique<lock::owner>();
  owner_->lease_ms = lease_ms_;
  owner_->renews = world_.dice.happens(750);
  owner_->capacity = lock_.capacity;
  owner_->is_strict = is_strict_;
  const bool may_reenter = lock_.kind != lock::lock_kind::semaphore && world_.dice.happens(300);
  owner_->is_reentrant.fill(may_reenter);
  if (world_.dice.happens(200)) owner_->max_hold_ms = lease_ms_ * world_.dice.between(1, 6);
  if (reports_progress_) owner_->progress_ms = 2 * lease_ms_;
  if (world_.dice.happens(700)) owner_->retain_ms = world_.plan.retain_ms;
  if (world_.dice.happens(300)) owner_->label = "a: label*9";
  owner_->reports_contention = reports_contention_;
  // A few users set values, some of them with each grant.
  if (number_ % 3 == 0) values_ = 1;
  if (number_ % 6 == 0 && world_.plan.has_oddities) owner_->value = label_ + " hold option";
}

void user::violate(const std::string& what) const { world_.violate(describe() + ": " + what); }

bool user::is_settled() const {
  const auto is_done = [](const auto& item) { return !item->is_accepted || item->is_finished; };
  return std::all_of(acquires_.begin(), acquires_.end(), is_done) &&
         std::all_of(others_.begin(), others_.end(), is_done);
}

// The memory of a freed handle must not be touched again.
void user::check_poison() {
  for (const auto& gone : forgotten_) {
    if (gone->hold_count(lock::hold_mode::exclusive) != poison || gone->token != poison)
      violate("a freed handle was used");
  }
}

void user::later(time_ns delay, void (user::*what)()) {
  world_.time.after(delay, [this, what] {
    client_.run([this, what] {
      if (!client_.is_over()) (this->*what)();
    });
  });
}

void user::start() { later(world_.dice.spread(2 * world_.plan.think_ns), &user::act); }

void user::act() {
  if (is_retired_ || is_busy()) return;
  acquire();
}

// ---- acquiring ------------------------------------------------------------------------------

lock::amount user::choose_amount() {
  switch (lock_.kind) {
    case lock::lock_kind::mutex:
      break;
    case lock::lock_kind::rw:
      if (world_.dice.happens(world_.plan.write_per_mille)) {
        return {lock::hold_mode::exclusive, lock::exclusive_permits};
      }
      return {lock::hold_mode::shared, 1};
    case lock::lock_kind::semaphore:
      return {lock::hold_mode::shared, world_.dice.between(1, lock_.capacity)};
  }
  return {};
}

void user::acquire() {
  auto& dice = world_.dice;
  const auto& plan = world_.plan;
  acquires_.push_back(std::make_unique<acquiring_operation>(*this));
  auto& operation = *acquires_.back();
  operation.owner = owner_.get();
  operation.amount = choose_amount();
  const auto mode = operation.amount.mode;
  operation.is_try = dice.happens(plan.try_per_mille);
  const auto now = client_.now();
  const auto timeout = plan.command_timeout_ms * ns_per_ms;
  operation.due = now + timeout;
  if (!operation.is_try) {
    operation.due = dice.happens(400)   ? time_never
                    : plan.has_oddities ? now + dice.spread(8 * timeout)
                                        : now + 8 * timeout;
  }
  adopt(operation);
  // Either the gate watches the deadline, or the caller does.
  const bool is_watched = dice.happens(500);
  if (is_watched) operation.deadline = operation.due;

  // The holds of this moment are known before the call.
  observe(now);
  const bool was_held = is_holding();
  const bool was_lost = hold_.is_active && hold_.is_over;
  const auto lost_number = hold_.number;
  wait_ = &operation;
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.acquire(operation, at);
    operation.is_accepted = result.ok();
    return result;
  });
  if (!answer.ok()) {
    if (operation.is_finished) violate("an operation was rejected and finished");
    wait_ = nullptr;
    const bool is_above = mode == lock::hold_mode::exclusive && depth(mode) == 0;
    const auto expected = was_held && !is_raising_ && (is_above || !owner_->may_reenter(mode))
                              ? status::already_held
                          : was_lost ? status::lost
                                     : status::busy;
    if (answer.code != expected) {
      violate(std::string("acquire answered ") + status_text(answer.code) + " instead of " +
              status_text(expected));
    }
    return later(ns_per_ms + dice.spread(plan.think_ns),
                 was_held || was_lost ? &user::unlock : &user::act);
  }
  // The call may report the loss, and then grant the lock to a reader that joins.
  if (was_lost && hold_.number == lost_number) hold_.is_active = false;
  if (was_held && !operation.is_finished) violate("a reentrant acquire has to wait");
  if (!is_watched && operation.due < time_never) watch_deadline(operation);
  if (plan.has_oddities && dice.happens(100)) {
    give_up_at(operation, now + dice.spread(timeout), status::cancelled);
  }
}

void user::watch_deadline(acquiring_operation& operation) {
  give_up_at(operation, operation.due, status::timed_out);
}

void user::give_up_at(acquiring_operation& operation, time_ns local, status why) {
  const auto when = client_.clock.truth_of(local);
  world_.time.at(when, [this, &operation, why] {
    client_.run([this, &operation, why] {
      if (operation.is_finished || client_.is_over()) return;
      give_up(operation, why);
    });
  });
}

void user::give_up(acquiring_operation& operation, status why) {
  gate_driver_->enter([&](lock::gate& gate, time_ns now) { gate.abandon(operation, why, now); });
  if (!operation.is_finished) violate("an abandoned acquire goes on");
}

bool user::check_finish(operation_facts& facts, const char* what) {
  if (facts.is_finished) {
    violate(std::string(what) + " finished twice");
    return false;
  }
  facts.is_finished = true;
  if (client_.is_dead()) violate(std::string(what) + " finished after the end of the process");
  const auto could = std::max(facts.due, client_.clock.read(client_.running_since()));
  if (client_.now() > could + lateness_ns) violate(std::string(what) + " outlived its deadline");
  return true;
}

void user::acquiring_operation::finish(const outcome& result, std::int64_t token) noexcept {
  if (by_.check_finish(*this, "acquire")) by_.on_acquired(*this, result, token);
}

void user::on_acquired(acquiring_operation& done, const outcome& result, std::int64_t token) {
  world_.log("%s: acquire: %s, token %ld", describe().c_str(), status_text(result.code), token);
  wait_ = nullptr;
  auto& dice = world_.dice;
  if (!result.ok()) {
    count_result(result);
    const bool is_possible =
        result.code == status::closed
            ? client_.is_over() || is_forgetting_
            : result.code != status::lost && (result.code != status::not_owner || done.adopts());
    if (!is_possible) violate(std::string("acquire ended: ") + status_text(result.code));
    if (done.is_try ? result.code == status::timed_out : result.code == status::not_acquired) {
      violate("a try timed out, or an acquire was not to wait");
    }
    return later(dice.spread(world_.plan.think_ns), &user::act);
  }
  if (is_holding()) {
    ++world_.seen[count::reentered];
    if (token != hold_.token) violate("the token changed during a hold");
    ++depth(done.amount.mode);
    return;
  }
  const bool is_in_call = !done.is_accepted;
  if (hold_.is_active && !(hold_.is_over && is_in_call)) violate("acquired over a lost hold");
  ++world_.seen[count::acquired];
  // Every token is at least the time of the first in microseconds, however the counter was lost.
  if (token < lock::least_token || token >= (std::int64_t{1} << 53))
    violate("a token out of range");
  hold_ = {};
  is_export_refused_ = false;
  hold_.is_active = true;
  depth(done.amount.mode) = 1;
  hold_.number = ++holds_;
  hold_.permits = done.amount.permits;
  hold_.token = token;
  hold_.start = hold_.granted = world_.time.now();
  hold_.accepted_at = done.accepted_at;
  hold_.valid_until = time_never;  // the gate reports it after this
  hold_.reported = client_.now();
  live_with_hold();
}

void user::count_result(const outcome& result) {
  switch (result.code) {
    case status::not_acquired:
      ++world_.seen[count::not_acquired];
      break;
    case status::timed_out:
      ++world_.seen[count::timed_out];
      break;
    case status::cancelled:
      ++world_.seen[count::cancelled];
      break;
    case status::unknown:
      ++world_.seen[count::unknown];
      break;
    case status::unreachable:
      ++world_.seen[count::unreachable];
      break;
    case status::refused:
      ++world_.seen[count::refused];
      break;
    default:
      ++world_.seen[count::other];
      break;
  }
}

}  // namespace mortise::simulation
