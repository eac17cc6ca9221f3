#include "simulation/process/process_user.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "protocol/protocols.hpp"
#include "simulation/harness/made_secret.hpp"
#include "simulation/process/process.hpp"

namespace mortise::process_simulation {

namespace {

const protocol::table& rules_at(deployment::deployment& servers, lock::lock_kind kind) {
  const auto* rules = protocol::find(kind, "queued");
  if (!servers.choose_rules(kind, *rules, rules).ok()) std::abort();
  return *rules;
}

protocol::key_set keys_at(deployment::deployment& servers, const protocol::table& rules,
                          const std::string& name) {
  auto keys = rules.keys(name);
  if (!servers.place(keys).ok()) std::abort();
  return keys;
}

}  // namespace

user::user(process& of, int number, lock::lock_kind kind)
    : of_(of),
      number_(static_cast<std::uint64_t>(number) + 1),
      name_("name " + std::to_string(number)),
      rules_(rules_at(of.servers(), kind)),
      keys_(keys_at(of.servers(), rules_, name_)),
      gate_(rules_.facts, static_cast<lock::lock_io&>(*this),
            static_cast<lock::gate_listener&>(*this)) {
  owner_.lease_ms = of.plan().lease_ms;
  if (kind == lock::lock_kind::rw) owner_.capacity = lock::exclusive_permits;
}

std::string user::channel() const {
  return rules_.channel == nullptr ? std::string() : rules_.channel(keys_.front());
}

template <class Step>
auto user::enter(Step&& step) {
  struct at_end {
    user& self;
    ~at_end() { self.settle(); }
  } const end{*this};
  return step(gate_, of_.now());
}

// What the gate_driver does after each step: the deadline of the hold, the channel, the timer.
void user::settle() {
  const auto now = of_.now();
  if (is_holding_ && gate_.is_held(owner_, now)) {
    valid_until_ = gate_.valid_until(owner_);
    trace_deadline();
  }
  listen_while_queued();
  const auto next = gate_.next_timer();
  if (next >= time_never) return;
  auto& world = of_.around();
  const auto due = std::max(world.time.now(), of_.clock.truth_of(next));
  if (due >= timer_at_) return;
  timer_at_ = due;
  world.time.at(due + 1000 + world.dice.spread(500 * ns_per_us), [this, due] {
    of_.run([this, due] {
      if (timer_at_ != due) return;
      timer_at_ = time_never;
      enter([](lock::gate& gate, time_ns at) { gate.on_timer(at); });
    });
  });
}

void user::listen_while_queued() {
  if (rules_.channel == nullptr || gate_.is_queued() == is_listening_) return;
  is_listening_ = !is_listening_;
  if (is_listening_) return of_.servers().listen(named(), channel());
  of_.servers().unlisten(named(), channel());
}

void user::later(time_ns delay, void (user::*what)()) {
  of_.around().time.after(delay, [this, what] { of_.run([this, what] { (this->*what)(); }); });
}

void user::start() { later(of_.around().dice.spread(of_.plan().think_ns), &user::acquire); }

void user::acquire() {
  if (is_retired_ || is_acquiring_ || is_holding_) return;
  auto& dice = of_.around().dice;
  owner = &owner_;
  is_try = dice.happens(200);
  amount = {};
  if (is_rw()) {
    amount = {lock::hold_mode::shared, 1};
    if (dice.happens(of_.plan().write_per_mille)) {
      amount = {lock::hold_mode::exclusive, lock::exclusive_permits};
    }
  }
  // Where a server lost what it has granted, others may have had higher ones than this one knows.
  granted_before_ = highest_before();
  const auto timeout = (is_try ? 1 : 8) * 3000 * ns_per_ms;
  deadline = dice.happens(300) ? of_.now() + dice.spread(timeout) : of_.now() + timeout;
  is_acquiring_ = true;
  const auto result =
      enter([&](lock::gate& gate, time_ns now) { return gate.acquire(*this, now); });
  if (result.ok()) return;
  is_acquiring_ = false;
  later(of_.plan().think_ns + ns_per_ms, &user::acquire);
}

std::int64_t user::highest_before() const {
  return of_.around().is_exclusive ? of_.around().granted[name_].highest_token : seen_;
}

void user::finish(const outcome& result, std::int64_t token) noexcept {
  is_acquiring_ = false;
  auto& world = of_.around();
  world.log(of_.id() + " " + name_ + ": " + status_text(result.code) + " " + std::to_string(token));
  if (!result.ok())
    return later(ns_per_ms + world.dice.spread(of_.plan().think_ns), &user::acquire);
  is_holding_ = true;
  take_token(token);
  held_from_ = world.time.now();
  const auto longest = world.dice.happens(100) ? 3 * to_ns(owner_.lease_ms) : of_.plan().hold_ns;
  later(is_retired_ ? 0 : world.dice.spread(longest), &user::unlock);
  if (!is_rw() || !world.dice.happens(of_.plan().change_per_mille)) return;
  for (int i = 0; i < 3; ++i) later(world.dice.spread(longest), &user::change_mode);
}

// Hazard 30. Of those that are granted at the same time readers may have the same.
void user::take_token(std::int64_t token) {
  auto& world = of_.around();
  auto& [highest, last] = world.granted[name_];
  last = world.time.now();
  if (token <= granted_before_) world.violate(name_ + ": a token is not above one before");
  highest = std::max(highest, token);
  seen_ = std::max(seen_, token);
  token_ = token;
}

bool user::holds() const { return is_holding_ && of_.now() < valid_until_; }

void user::end_hold(time_ns at) {
  if (std::exchange(is_holding_, false)) record_hold(at);
}

void user::trace_deadline() {
  auto* const trace = of_.around().trace;
  if (trace == nullptr || is_rw()) return;
  const auto until = of_.clock.truth_of(valid_until_);
  if (std::exchange(is_traced_, true)) return trace->note_deadline(name_, owner_token_, until);
  trace->note_hold(name_, owner_token_, token_, until);
}

void user::record_hold(time_ns end) {
  end = std::max(held_from_, std::min(end, of_.clock.truth_of(valid_until_)));
  if (std::exchange(is_traced_, false)) of_.around().trace->note_end(name_, owner_token_, end);
  of_.around().history.push_back(
      {name_, of_.id(), token_, held_from_, end, amount.permits, owner_.capacity});
}

void user::hold_as(const lock::amount& changed) {
  record_hold(of_.around().time.now());
  held_from_ = of_.around().time.now();
  amount = changed;
}

void user::change_mode() {
  if (!holds() || is_retired_ || is_changing_) return;
  is_changing_ = true;
  change_.deadline = of_.now() + of_.around().dice.spread(5 * ns_per_s);
  outcome result;
  if (amount.mode == lock::hold_mode::shared) {
    granted_before_ = highest_before();
    result = enter([&](lock::gate& gate, time_ns now) { return gate.raise(owner_, change_, now); });
  } else {
    // From the call on it only reads.
    hold_as({lock::hold_mode::shared, 1});
    result =
        enter([&](lock::gate& gate, time_ns now) { return gate.lower(owner_, 1, change_, now); });
  }
  if (!result.ok()) is_changing_ = false;
}

void user::mode_change::finish(const outcome& result, std::int64_t token) noexcept {
  by_.is_changing_ = false;
  auto& world = by_.of_.around();
  const bool is_upgrade = by_.amount.mode == lock::hold_mode::shared && token != 0;
  world.log(by_.of_.id() + " " + by_.name_ + ": change: " + status_text(result.code) + " " +
            std::to_string(token));
  if (!result.ok() || !is_upgrade || !by_.is_holding_) return;
  by_.hold_as({lock::hold_mode::exclusive, lock::exclusive_permits});
  by_.take_token(token);
}

void user::unlock() {
  // No hold is unlocked during its upgrade.
  if (is_changing_) {
    enter([&](lock::gate& gate, time_ns now) { gate.abandon(change_, status::cancelled, now); });
  }
  end_hold(of_.around().time.now());
  enter([&](lock::gate& gate, time_ns now) {
    return gate.unlock(owner_, amount.mode, nullptr, now);
  });
  later(of_.around().dice.spread(of_.plan().think_ns), &user::acquire);
}

void user::retire() {
  is_retired_ = true;
  if (is_acquiring_) {
    enter([&](lock::gate& gate, time_ns now) { gate.abandon(*this, status::cancelled, now); });
  }
  if (is_holding_) unlock();
}

void user::on_end() { end_hold(of_.around().time.now()); }

void user::on_lost(lock::owner& /*loser*/) noexcept {
  of_.around().log(of_.id() + " " + name_ + ": lost");
  ++of_.around().lost;
  end_hold(of_.around().time.now());
}

void user::on_unacknowledged() {
  enter([](lock::gate& gate, time_ns) { gate.on_unacknowledged(); });
}

void user::on_up() {
  enter([](lock::gate& gate, time_ns now) { gate.on_up(now); });
}

void user::on_free() {
  enter([](lock::gate& gate, time_ns now) { gate.on_free(now); });
}

void user::on_message(const protocol::message& message) {
  note_token(message.last_token);
  enter([&](lock::gate& gate, time_ns now) { protocol::tell(gate, message, now); });
}

void user::note_token(std::int64_t token) {
  if (token != 0) of_.servers().note_token(named(), token);
}

bool user::ask(const lock::step_request& request, const lock::operation* by) noexcept {
  if (idle_.empty()) {
    requests_.push_back(of_.servers().new_request(*this, named()));
    idle_.push_back(requests_.back().get());
  }
  auto* const next = idle_.back();
  next->claim_id = request.claim_id;
  next->serial = request.serial;
  if (next->send(request, rules_, keys_, by) != status::ok) return false;
  idle_.pop_back();
  return true;
}

void user::on_result(deployment::lock_request& answered, const lock::step_result& result,
                     time_ns /*now*/) noexcept {
  note_token(result.last_token);
  idle_.push_back(&answered);
  enter([&](lock::gate& gate, time_ns now) {
    gate.on_answer(answered.claim_id, answered.serial, result, now);
  });
}

std::string user::new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                                  lock::claim_reuse reuse) {
  owner_token_ = rules_.owner_token({of_.id(), number_, ++attempts_, label, grant_ttl_ms, reuse});
  return owner_token_;
}

lock::grant_secret user::new_grant_secret() noexcept {
  return simulation::made_secret(of_.id(), attempts_);
}

std::int64_t user::random_below(std::int64_t bound) noexcept {
  return of_.around().dice.below(bound);
}

outcome user::problem() const { return of_.servers().problem(named()); }

}  // namespace mortise::process_simulation
