#include "quorum_simulation/process.hpp"

#include <utility>

#include "base/random.hpp"

namespace mortise::quorum_simulation {

namespace {

// Whose code runs now, whose clock and dice that reads, and who has which reactor. One at a time.
process* acting = nullptr;
std::map<net::reactor*, process*> processes;

}  // namespace

}  // namespace mortise::quorum_simulation

// ---- what the library asks of the machine: the linker leads it here ---------------------------

extern "C" {
using mortise::quorum_simulation::acting;
using mortise::quorum_simulation::processes;

mortise::time_ns borrowed_boot_now() __asm__("__wrap__ZN7mortise8boot_nowEv");
mortise::time_ns borrowed_boot_now() { return acting == nullptr ? 0 : acting->now(); }

std::uint64_t borrowed_random_number() __asm__("__wrap__ZN7mortise13random_numberEv");
std::uint64_t borrowed_random_number() {
  return acting == nullptr ? 1 : acting->around().dice.next();
}

void borrowed_schedule(
    mortise::net::reactor* loop, mortise::net::timer& item,
    mortise::time_ns at) __asm__("__wrap__ZN7mortise3net7reactor8scheduleERNS0_5timerEl");
void borrowed_schedule(mortise::net::reactor* loop, mortise::net::timer& item,
                       mortise::time_ns at) {
  processes.at(loop)->schedule(item, at);
}

void borrowed_cancel(mortise::net::reactor* loop, mortise::net::timer& item) __asm__(
    "__wrap__ZN7mortise3net7reactor6cancelERNS0_5timerE");
void borrowed_cancel(mortise::net::reactor* loop, mortise::net::timer& item) {
  processes.at(loop)->cancel(item);
}
}

namespace mortise::quorum_simulation {

// ---- a process --------------------------------------------------------------------------------

process::process(world& around, const plan& made, std::vector<std::unique_ptr<node>>& nodes,
                 std::vector<testing::hold_record>& history, int number)
    : clock(around.dice.below(1000 * ns_per_s),
            around.dice.between(-made.drift_ppm, made.drift_ppm)),
      world_(around),
      plan_(made),
      history_(history),
      id_("client" + std::to_string(1'000'000'000 + number)) {
  processes[&loop_] = this;
  auto* const before = std::exchange(acting, this);
  std::vector<deployment::single_url> urls(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    urls[i].place = "node " + std::to_string(i);
    urls[i].make = [this, &nodes, i](net::reactor& /*loop*/, const settings& /*terms*/,
                                     std::string_view client_id, deployment::listener& hears) {
      const protocol::membership as{std::string(client_id), static_cast<std::int64_t>(i),
                                    static_cast<std::int64_t>(nodes.size()), plan_.quarantine_ms};
      auto one = std::make_unique<connection>(
          world_, *nodes[i], hears, as, [this](auto what) { run(std::move(what)); }, clock);
      connections_.push_back(one.get());
      return one;
    };
  }
  settings terms;
  terms.quarantine_ms = made.quarantine_ms;
  terms.drift_ppm = 100'000;
  servers_ =
      deployment::make_quorum(urls, loop_, terms, id_, static_cast<deployment::listener&>(*this));
  for (int name = 0; name < made.names; ++name) {
    const auto kind = name < made.rw_names ? lock::lock_kind::rw : lock::lock_kind::mutex;
    users_.push_back(std::make_unique<user>(*this, name, kind));
  }
  acting = before;
}

process::~process() {
  auto* const before = std::exchange(acting, this);
  users_.clear();
  servers_.reset();
  acting = before;
  processes.erase(&loop_);
}

void process::start() {
  run([this] {
    static_cast<void>(servers_->begin());
    for (const auto& who : users_) who->start();
  });
}

void process::run(std::function<void()> what) {
  if (is_dead_) return;
  if (!is_well()) return postponed_.push_back(std::move(what));
  auto* const before = std::exchange(acting, this);
  what();
  acting = before;
}

void process::schedule(net::timer& item, time_ns at) {
  const auto number = timers_[&item] = next_timer_++;
  world_.time.at(clock.truth_of(at) + world_.dice.spread(ns_per_ms / 2), [this, &item, number] {
    run([this, &item, number] {
      const auto known = timers_.find(&item);
      if (known == timers_.end() || known->second != number) return;
      timers_.erase(known);
      item.on_timer(now());
    });
  });
}

void process::cancel(net::timer& item) { timers_.erase(&item); }

void process::crash() {
  world_.say(id_ + " dies");
  for (const auto& who : users_) who->on_end();
  is_dead_ = true;
  for (auto* const each : connections_) each->leave();
}

void process::pause(time_ns until) {
  world_.say(id_ + " is paused");
  paused_until_ = std::max(paused_until_, until);
  world_.time.at(paused_until_, [this] { resume(); });
}

void process::wake() {
  paused_until_ = world_.time.now();
  resume();
}

// In order, so that each connection stays in order.
void process::resume() {
  if (!is_well()) return;
  for (auto& what : std::exchange(postponed_, {})) run(std::move(what));
}

void process::cut(std::size_t node) {
  run([this, node] { connections_[node]->cut(); });
}

void process::retire() {
  run([this] {
    for (const auto& who : users_) who->retire();
  });
}

bool process::is_idle() const {
  return std::all_of(users_.begin(), users_.end(), [](auto& who) { return who->is_idle(); });
}

void process::on_up(const deployment::name_set& names, time_ns /*now*/) noexcept {
  for (const auto& who : users_) {
    if (names.has(who->named())) who->on_up();
  }
}

void process::on_said(std::string_view channel) noexcept {
  for (const auto& who : users_) {
    if (who->channel() == channel) who->on_free();
  }
}

// ---- a user -----------------------------------------------------------------------------------

user::user(process& of, int number, lock::lock_kind kind)
    : of_(of),
      number_(static_cast<std::uint64_t>(number) + 1),
      name_("name " + std::to_string(number)),
      rules_(kind == lock::lock_kind::rw ? protocol::ballot_rw() : protocol::ballot()),
      keys_(rules_.keys(name_)),
      gate_(rules_.facts, static_cast<lock::link&>(*this),
            static_cast<lock::gate_listener&>(*this)) {
  owner_.lease_ms = of.terms().lease_ms;
  if (kind == lock::lock_kind::rw) owner_.limit = lock::whole_weight;
}

std::string user::channel() const { return rules_.channel(name_); }

template <class Step>
auto user::enter(Step&& step) {
  struct at_end {
    user& self;
    ~at_end() { self.settle(); }
  } const end{*this};
  return step(gate_, of_.now());
}

// What the gatekeeper does after each step: the deadline of the hold, the channel, the timer.
void user::settle() {
  const auto now = of_.now();
  if (is_holding_ && gate_.is_held(owner_, now)) valid_until_ = gate_.valid_until(owner_);
  if (gate_.is_queued() != is_listening_) {
    is_listening_ = !is_listening_;
    if (is_listening_) {
      of_.servers().listen(named(), channel());
    } else {
      of_.servers().unlisten(named(), channel());
    }
  }
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

void user::later(time_ns delay, void (user::*what)()) {
  of_.around().time.after(delay, [this, what] { of_.run([this, what] { (this->*what)(); }); });
}

void user::start() { later(of_.around().dice.spread(of_.terms().think_ns), &user::acquire); }

void user::acquire() {
  if (is_retired_ || is_acquiring_ || is_holding_) return;
  auto& dice = of_.around().dice;
  owner = &owner_;
  is_try = dice.happens(200);
  wanted = {};
  if (is_rw()) {
    wanted = {lock::hold_mode::part, 1};
    if (dice.happens(of_.terms().write_per_mille)) {
      wanted = {lock::hold_mode::whole, lock::whole_weight};
    }
  }
  granted_before_ = of_.around().granted[name_].highest_token;
  const auto timeout = (is_try ? 1 : 8) * 3000 * ns_per_ms;
  deadline = dice.happens(300) ? of_.now() + dice.spread(timeout) : of_.now() + timeout;
  is_acquiring_ = true;
  const auto how = enter([&](lock::gate& gate, time_ns now) { return gate.acquire(*this, now); });
  if (how.ok()) return;
  is_acquiring_ = false;
  later(of_.terms().think_ns + ns_per_ms, &user::acquire);
}

void user::finish(const outcome& how, std::int64_t token) noexcept {
  is_acquiring_ = false;
  auto& world = of_.around();
  world.say(of_.id() + " " + name_ + ": " + status_text(how.code) + " " + std::to_string(token));
  if (!how.ok()) return later(ns_per_ms + world.dice.spread(of_.terms().think_ns), &user::acquire);
  is_holding_ = true;
  token_ = token;
  auto& [highest, last] = world.granted[name_];
  last = world.time.now();
  // Hazard 30. Of those that are granted at the same time readers may have the same.
  if (token <= granted_before_) world.violate(name_ + ": a token is not above one before");
  highest = std::max(highest, token);
  held_from_ = world.time.now();
  const auto longest = world.dice.happens(100) ? 3 * to_ns(owner_.lease_ms) : of_.terms().hold_ns;
  later(is_retired_ ? 0 : world.dice.spread(longest), &user::unlock);
}

bool user::holds() const { return is_holding_ && of_.now() < valid_until_; }

void user::end_hold(time_ns at) {
  if (!std::exchange(is_holding_, false)) return;
  at = std::max(held_from_, std::min(at, of_.clock.truth_of(valid_until_)));
  last_held_ = at;
  of_.record({name_, of_.id(), token_, held_from_, at, wanted.weight, owner_.limit});
}

void user::unlock() {
  end_hold(of_.around().time.now());
  enter([&](lock::gate& gate, time_ns now) {
    return gate.unlock(owner_, wanted.mode, nullptr, now);
  });
  later(of_.around().dice.spread(of_.terms().think_ns), &user::acquire);
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
  of_.around().say(of_.id() + " " + name_ + ": lost");
  end_hold(of_.around().time.now());
}

void user::on_up() {
  enter([](lock::gate& gate, time_ns now) { gate.on_up(now); });
}

void user::on_free() {
  enter([](lock::gate& gate, time_ns now) { gate.on_free(now); });
}

bool user::ask(const lock::question& asked, const lock::operation* by) noexcept {
  if (idle_.empty()) {
    inquiries_.push_back(of_.servers().new_inquiry(*this, named()));
    idle_.push_back(inquiries_.back().get());
  }
  auto* const next = idle_.back();
  next->tenure = asked.tenure;
  next->serial = asked.serial;
  if (next->send(asked, rules_, keys_, by) != status::ok) return false;
  idle_.pop_back();
  return true;
}

void user::on_verdict(deployment::inquiry& answered, const lock::verdict& said,
                      time_ns /*now*/) noexcept {
  if (said.last_token != 0) of_.servers().note_token(named(), said.last_token);
  idle_.push_back(&answered);
  enter([&](lock::gate& gate, time_ns now) {
    gate.on_answer(answered.tenure, answered.serial, said, now);
  });
}

std::string user::new_owner_token(std::string_view label, std::int64_t grant_ttl_ms) {
  return rules_.owner_token({of_.id(), number_, ++attempts_, label, grant_ttl_ms});
}

std::int64_t user::random_below(std::int64_t bound) noexcept {
  return of_.around().dice.below(bound);
}

outcome user::problem() const { return of_.servers().problem(named()); }

}  // namespace mortise::quorum_simulation
