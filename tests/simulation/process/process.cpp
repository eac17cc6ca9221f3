#include "simulation/process/process.hpp"

#include <algorithm>
#include <utility>

#include "protocol/native/inbox.hpp"

namespace mortise::process_simulation {

namespace {

// The process whose code runs now, and the owner of each reactor. One at a time.
process* acting = nullptr;
std::map<net::reactor*, process*> processes;

}  // namespace

process* acting_process() { return acting; }
process& process_of(net::reactor& loop) { return *processes.at(&loop); }

process::process(world& around, const terms& made, int number, const deployment_maker& make)
    : clock(around.dice.below(1000 * ns_per_s),
            around.dice.between(-made.drift_ppm, made.drift_ppm)),
      world_(around),
      plan_(made),
      id_("client" + std::to_string(1'000'000'000 + number)) {
  processes[&loop_] = this;
  auto* const before = std::exchange(acting, this);
  servers_ = make(*this, loop_, static_cast<deployment::listener&>(*this));
  for (int name = 0; name < made.names; ++name) {
    const auto kind = name < made.rw_names ? lock::lock_kind::rw : lock::lock_kind::mutex;
    users_.push_back(std::make_unique<user>(*this, name, kind));
  }
  acting = before;
}

process::~process() {
  auto* const before = std::exchange(acting, this);
  servers_->close(0);
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

void process::post(net::task& item) {
  if (std::find(posted_.begin(), posted_.end(), &item) != posted_.end()) return;
  posted_.push_back(&item);
  world_.time.after(world_.dice.below(20 * ns_per_us), [this] { run([this] { run_posted(); }); });
}

void process::cancel(net::task& item) { std::erase(posted_, &item); }

// In order, with the tasks that are posted meanwhile.
void process::run_posted() {
  while (!posted_.empty()) {
    auto* const next = posted_.front();
    posted_.erase(posted_.begin());
    next->run();
  }
}

void process::crash() {
  world_.log(id_ + " dies");
  for (const auto& who : users_) who->on_end();
  is_dead_ = true;
}

void process::pause(time_ns until) {
  world_.log(id_ + " is paused");
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

void process::on_unacknowledged(const deployment::name_set& names, time_ns /*now*/) noexcept {
  for (const auto& who : users_) {
    if (names.has(who->named())) who->on_unacknowledged();
  }
}

void process::on_message(std::string_view text, time_ns /*now*/) noexcept {
  const auto message = protocol::read_message(text);
  if (!message || message->gate_id == 0 || message->gate_id > users_.size()) {
    return world_.violate(id_ + " hears what it does not understand: " + std::string(text));
  }
  users_[message->gate_id - 1]->on_message(*message);
}

void process::on_channel_message(std::string_view channel) noexcept {
  for (const auto& who : users_) {
    if (who->channel() == channel) who->on_free();
  }
}

}  // namespace mortise::process_simulation
