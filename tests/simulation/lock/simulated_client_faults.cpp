// What happens to a simulated process and its gates: death, pauses, time.
#include <algorithm>
#include <utility>

#include "protocol/native/owner_token.hpp"
#include "simulation/harness/made_secret.hpp"
#include "simulation/lock/simulated_client.hpp"
#include "simulation/lock/user.hpp"

namespace mortise::simulation {

// ---- the process ----------------------------------------------------------------------------

void simulated_client::crash() {
  if (is_dead_) return;
  world_.log("%s: crash", id_.c_str());
  is_dead_ = true;
  is_up_ = false;
  for (auto* half : {&commands_, &messages_}) {
    if (half->link == nullptr) continue;
    // A killed process leaves its connection to the kernel. A dead host sends nothing more.
    half->link->on_input = nullptr;
    if (world_.dice.happens(500)) {
      half->link->cut();
    } else {
      half->link->close();
    }
  }
  for (auto* const who : users_) who->on_end();
}

void simulated_client::pause(time_ns until) {
  world_.log("%s: paused for %ld us", id_.c_str(), (until - world_.time.now()) / ns_per_us);
  ++world_.seen[count::pauses];
  paused_until_ = std::max(paused_until_, until);
  world_.time.at(paused_until_, [this] { resume(); });
}

void simulated_client::wake() {
  if (!is_paused()) return;
  paused_until_ = world_.time.now();
  resume();
}

// What piled up is done in any order, except that each stream stays in order.
void simulated_client::resume() {
  if (is_dead_ || is_paused() || (postponed_.empty() && !is_up_ && !is_connecting_)) return;
  world_.log("%s: resumed", id_.c_str());
  auto waiting = std::exchange(postponed_, {});
  const auto read_all = [this] {
    for (auto* half : {&commands_, &messages_}) {
      if (half->link != nullptr) read(*half);
    }
  };
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    std::swap(waiting[i],
              waiting[static_cast<std::size_t>(world_.dice.below(static_cast<int>(i) + 1))]);
  }
  const auto reads_at = world_.dice.below(static_cast<std::int64_t>(waiting.size()) + 1);
  for (std::size_t i = 0; i <= waiting.size(); ++i) {
    if (static_cast<std::int64_t>(i) == reads_at) read_all();
    if (i < waiting.size()) run(std::move(waiting[i]));
  }
}

void simulated_client::cut() {
  world_.disturb(world_.time.now() + ns_per_s);
  flap();
}

void simulated_client::flap() {
  world_.log("---- %s's connection breaks", id_.c_str());
  ++world_.seen[count::breaks];
  for (auto* half : {&commands_, &messages_}) {
    if (half->link != nullptr) half->link->cut();
  }
}

void simulated_client::stall(time_ns until) {
  for (auto* half : {&commands_, &messages_}) {
    if (half->link != nullptr) half->link->stall(until);
  }
}

void simulated_client::close() {
  if (is_over()) return;
  world_.log("%s: closes", id_.c_str());
  is_closed_ = true;
  for (auto* const who : users_) who->on_end();
  gates_.close();
  world_.time.after(ns_per_ms + world_.dice.spread(100 * ns_per_ms), [this] {
    if (is_dead_) return;
    for (const auto* const who : users_) {
      if (who->is_busy()) world_.violate(who->describe() + ": still waits after the close");
    }
    is_dead_ = true;
    is_up_ = false;
    for (auto* half : {&commands_, &messages_}) {
      if (half->link != nullptr) half->link->close();
    }
  });
}

// ---- its gates ------------------------------------------------------------------------------

simulated_gate_driver::simulated_gate_driver(simulated_client& owner, std::uint64_t id,
                                             const named_lock& of)
    : client_(owner),
      id_(id),
      name_(of.name),
      rules_(of.rules()),
      keys_(rules_.keys(name_)),
      gate_(rules_.facts, *this, *this) {}

time_ns simulated_gate_driver::local_now() const { return client_.now(); }

bool simulated_gate_driver::ask(const lock::step_request& request,
                                const lock::operation* /*by*/) noexcept {
  const bool is_sent = client_.ask(*this, request);
  if (is_sent) ++open_requests_;
  client_.world_.log("%s: sends step %d of claim %lu, ttl %ld, %s", client_.id_.c_str(),
                     static_cast<int>(request.what), request.claim_id, request.ttl_ms,
                     is_sent ? std::string(request.token).c_str() : "not sent");
  return is_sent;
}

std::string simulated_gate_driver::new_owner_token(std::string_view label,
                                                   std::int64_t grant_ttl_ms,
                                                   lock::claim_reuse reuse) {
  return protocol::make_owner_token({client_.id_, id_, ++attempts_, label, grant_ttl_ms, reuse});
}

lock::grant_secret simulated_gate_driver::new_grant_secret() noexcept {
  return made_secret(client_.id_, attempts_);
}

std::int64_t simulated_gate_driver::random_below(std::int64_t bound) noexcept {
  return client_.world_.dice.below(bound);
}

outcome simulated_gate_driver::problem() const {
  return client_.is_up_ ? outcome{} : outcome::of(status::unreachable, "not connected");
}

user& simulated_gate_driver::user_of(lock::owner& who) {
  for (auto* const candidate : client_.users_) {
    if (&candidate->owner() == &who) return *candidate;
  }
  client_.world_.violate("a notice for a handle that was freed");
  return *client_.users_.front();
}

void simulated_gate_driver::on_lost(lock::owner& who) noexcept { user_of(who).on_lost(); }

void simulated_gate_driver::on_at_risk(lock::owner& who, reason /*why*/) noexcept {
  user_of(who).on_at_risk();
}

void simulated_gate_driver::on_contended(lock::owner& holder) noexcept {
  user_of(holder).on_contended();
}

void simulated_gate_driver::observe() {
  if (client_.is_dead_) return;
  const auto now = local_now();
  for (auto* const who : client_.users_) {
    if (who->gate_driver().get() == this) who->observe(now);
  }
}

void simulated_gate_driver::plan_timer() {
  const auto next = gate_.next_timer();
  if (next >= time_never || client_.is_dead_) return;
  auto& world = client_.world_;
  const auto due = std::max(world.time.now(), client_.clock.truth_of(next));
  if (due >= timer_at_) return;
  timer_at_ = due;
  const auto lateness = 1000 + world.dice.spread(500 * ns_per_us);
  world.time.at(due + lateness, [weak = weak_from_this(), due] {
    const auto self = weak.lock();
    if (!self || self->timer_at_ != due) return;
    self->client_.run([weak] {
      if (const auto still = weak.lock()) still->on_timer();
    });
  });
}

void simulated_gate_driver::on_timer() {
  timer_at_ = time_never;
  const auto look = [](lock::gate& gate, time_ns now) { gate.on_timer(now); };
  enter(look);
  // The reactor runs other timers within their slack at the same time.
  if (client_.world_.dice.happens(300)) client_.gates_.enter_each(look);
  if (gate_.next_timer() <= local_now()) {
    client_.world_.violate(client_.id() + ": a timer stays due, which is a busy loop");
    timer_at_ = 0;  // once is enough
  }
  client_.gates_.retire_if_idle(*this);
}

void simulated_gate_driver::on_message(const protocol::message& message) {
  client_.last_gate_ = id_;
  if (message.kind == protocol::message_kind::grant) ++client_.world_.seen[count::by_message];
  if (message.kind == protocol::message_kind::contended) {
    notified_.try_emplace(std::string(message.owner), client_.world_.time.now());
  }
  enter([&](lock::gate& gate, time_ns now) { protocol::tell(gate, message, now); });
}

bool simulated_gate_driver::was_notified(std::string_view token, time_ns by) const {
  const auto found = notified_.find(token);
  return found != notified_.end() && found->second < by;
}

void simulated_gate_driver::on_answer(std::uint64_t claim_id, std::uint32_t serial,
                                      const lock::step_result& result) {
  if (client_.gates_.find(id_).get() != this) {
    client_.world_.violate("a gate was forgotten with a question open");
  }
  --open_requests_;
  enter([&](lock::gate& gate, time_ns now) { gate.on_answer(claim_id, serial, result, now); });
  client_.gates_.retire_if_idle(*this);
}

bool simulated_gate_driver::has_made(std::string_view token) const {
  return token.starts_with("m1:" + client_.id_ + ":" + std::to_string(id_) + ".");
}

}  // namespace mortise::simulation
