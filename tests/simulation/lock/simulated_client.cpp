#include "simulation/lock/simulated_client.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/native/inbox.hpp"
#include "protocol/renewal_list.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/wire.hpp"
#include "redis/resp/command.hpp"
#include "simulation/lock/user.hpp"

namespace mortise::simulation {

simulated_client::simulated_client(world& around, simulated_server& server, int number)
    : clock(around.dice.below(1000 * ns_per_s),
            around.dice.between(-around.plan.drift_ppm, around.plan.drift_ppm)),
      world_(around),
      server_(server),
      id_("c" + std::to_string(number)),
      is_resp2_(around.dice.happens(250)) {}

std::shared_ptr<simulated_gate_driver> simulated_client::new_handle(const named_lock& of,
                                                                    bool is_strict) {
  const auto& rules = of.rules();
  const bool is_shared = client::registry<simulated_gate_driver>::may_share(rules.facts, is_strict);
  auto joined =
      gates_.join(of.kind, rules.keys(of.name).front(), is_shared, [&](std::uint64_t gate_id) {
        return std::make_shared<simulated_gate_driver>(*this, gate_id, of);
      });
  for (const auto* const other : users_) {
    if (other->name() != of.name || other->gate_driver() == nullptr) continue;
    const bool may_pass_on = !is_strict && !other->is_strict();
    if (may_pass_on != (other->gate_driver() == joined)) {
      world_.violate(id_ + ": the gates of two handles are " + (may_pass_on ? "two" : "one"));
    }
  }
  return joined;
}

void simulated_client::run(std::function<void()> what) {
  if (is_dead_) return;
  if (is_paused()) {
    postponed_.push_back(std::move(what));
  } else {
    what();
  }
}

// ---- connecting -----------------------------------------------------------------------------

void simulated_client::connect() {
  if (is_dead_ || is_up_ || is_connecting_) return;
  const auto era = ++era_;
  auto* const link = server_.connect();
  auto* const second = link != nullptr && is_resp2_ ? server_.connect() : nullptr;
  if (link == nullptr) {
    world_.time.after((10 + world_.dice.spread(990)) * ns_per_ms,
                      [this] { run([this] { connect(); }); });
    return;
  }
  is_connecting_ = true;
  handshakes_left_ = 0;
  commands_.link = link;
  messages_.link = second;
  for (auto* half : {&commands_, &messages_}) {
    half->input.clear();
    half->parser.reset();
    if (half->link == nullptr) continue;
    half->link->on_input = [this, half, era] {
      if (era == era_ && !is_paused()) read(*half);
    };
  }
  greet(commands_, false);
  if (second != nullptr) greet(messages_, true);
  world_.time.after(world_.plan.command_timeout_ms * ns_per_ms, [this, era] {
    if (era == era_ && !is_up_) run([this] { fall_down(); });
  });
}

void simulated_client::greet(stream& on, bool is_for_messages) {
  std::string bytes;
  redis::command_writer writer(bytes);
  const auto inbox = protocol::inbox_channel({id_});
  if (!is_resp2_) writer.command({"HELLO", "3"});
  if (is_for_messages || !is_resp2_) writer.command({"SUBSCRIBE", inbox});
  if (!is_for_messages) {
    if (!world_.plan.kills_old_sessions) old_sessions_.clear();
    for (const auto old : old_sessions_) {
      writer.command({"CLIENT", "KILL", "ID", std::to_string(old)});
    }
    for (const auto* script : scripts::all()) writer.command({"SCRIPT", "LOAD", script->text});
    writer.command({"EVAL", scripts::seed.text, "2", protocol::server_key, protocol::fence_key,
                    has_been_up_ ? "back" : "new", "0"});
    handshakes_left_ += static_cast<int>(old_sessions_.size() + scripts::all().size()) + 1;
    if (!is_resp2_) ++handshakes_left_;
  }
  if (is_for_messages) ++handshakes_left_;
  on.link->send(std::move(bytes));
}

void simulated_client::take_handshake(const redis::value& reply) {
  if (reply.is_error()) return fall_down();
  if (--handshakes_left_ == 0) become_up();
}

void simulated_client::become_up() {
  is_connecting_ = false;
  is_up_ = has_been_up_ = true;
  old_sessions_.clear();
  known_ = server_.redis.compare_and_delete;
  for (const auto* half : {&commands_, &messages_}) {
    if (half->link != nullptr) old_sessions_.push_back(half->link->at_server().id);
  }
  last_reply_ = now();
  well_since_ = world_.time.now();
  world_.log("%s: up as session %ld", id_.c_str(), old_sessions_[0]);
  gates_.enter_each([](lock::gate& gate, time_ns now) { gate.on_up(now); });
}

void simulated_client::fall_down() {
  if (!is_up_ && !is_connecting_) return;
  world_.log("%s: down", id_.c_str());
  is_up_ = false;
  is_connecting_ = false;
  well_since_ = time_never;
  ++era_;
  for (auto* half : {&commands_, &messages_}) {
    if (half->link != nullptr) half->link->close();
    half->link = nullptr;
  }
  for (auto& broken : std::exchange(open_, {})) {
    ++world_.seen[count::broken_answers];
    lock::step_result result;
    result.what = broken.is_sent ? lock::answer::broken : lock::answer::unsent;
    broken.gate_driver->on_answer(broken.claim_id, broken.serial, result);
  }
  world_.time.after((10 + world_.dice.spread(990)) * ns_per_ms,
                    [this] { run([this] { connect(); }); });
}

// ---- sending --------------------------------------------------------------------------------

bool simulated_client::ask(simulated_gate_driver& by, const lock::step_request& step_request) {
  if (!is_up_ || is_dead_) return false;
  // A bound of the engine may be hit.
  if (world_.plan.has_oddities && world_.dice.happens(2)) return false;
  request made;
  made.gate_driver = by.shared_from_this();
  made.claim_id = step_request.claim_id;
  made.serial = step_request.serial;
  made.what = step_request.what;
  made.is_sent = false;
  made.replies_left = 1;
  made.is_renewal = protocol::renewal_list::admits(by.rules(), step_request);
  made.token = step_request.token;
  made.ttl_ms = step_request.ttl_ms;
  made.is_without_script = known_ != redis::compare_and_delete::none &&
                           protocol::is_compare_and_delete(by.rules(), step_request);
  if (made.is_without_script) {
    protocol::write_compare_and_delete(made.bytes, known_, step_request, by.keys());
  } else {
    made.replies_left = protocol::write_step(made.bytes, by.rules(), step_request, by.keys());
  }
  open_.push_back(std::move(made));
  set_trap();
  if (is_flush_planned_) return true;
  is_flush_planned_ = true;
  const auto era = era_;
  const auto delay = world_.dice.happens(800) ? 0 : world_.dice.spread(300 * ns_per_us);
  world_.time.after(delay, [this, era] {
    run([this, era] {
      is_flush_planned_ = false;
      if (era == era_) flush();
    });
  });
  return true;
}

// The worst moment for a break or a pause is while a reply is in flight.
void simulated_client::set_trap() {
  const auto& plan = world_.plan;
  if (!world_.dice.happens(plan.trap_per_mille) || world_.is_healed) return;
  const auto delay = world_.dice.below(5 * plan.latency_ns);
  const bool is_pause = world_.dice.happens(500);
  world_.time.after(delay, [this, is_pause] {
    if (is_over() || world_.is_healed) return;
    if (!is_pause) return cut();
    const auto lease = world_.plan.leases_ms.back() * ns_per_ms;
    pause(world_.time.now() + world_.dice.below(2 * lease));
  });
}

void simulated_client::flush() {
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (!open_[i].is_sent) commands_.link->send(gather(i));
  }
  plan_silence_check();
}

// The request, or one for this renewal and those behind it, as in deployment::renewal_batches.
std::string simulated_client::gather(std::size_t first) {
  auto end = first;
  while (end < open_.size() && open_[end].is_renewal && world_.dice.happens(900)) ++end;
  auto& head = open_[first];
  head.answers = std::max<std::size_t>(end - first, 1);
  protocol::renewal_list list;
  for (auto i = first; i < first + head.answers; ++i) {
    open_[i].is_sent = true;
    open_[i].sent = now();
    lock::step_request renewal;
    renewal.token = open_[i].token;
    renewal.ttl_ms = open_[i].ttl_ms;
    list.add(renewal, open_[i].gate_driver->keys());
  }
  if (head.answers == 1) return std::move(head.bytes);
  ++world_.seen[count::gathered];
  std::string bytes;
  list.write(bytes, *head.gate_driver->rules().renew_many,
             std::exchange(is_script_missing_, false));
  return bytes;
}

// A connection that is silent for long while a request is open counts as broken.
void simulated_client::plan_silence_check() {
  if (silence_era_ == era_) return;
  const auto era = silence_era_ = era_;
  const auto limit = world_.plan.command_timeout_ms * ns_per_ms;
  world_.time.after(limit + ns_per_ms, [this, era, limit] {
    run([this, era, limit] {
      if (era != era_) return;
      silence_era_ = 0;
      if (open_.empty() || !open_.front().is_sent) return;
      if (std::max(open_.front().sent, last_reply_) <= now() - limit) return fall_down();
      plan_silence_check();
    });
  });
}

// ---- receiving ------------------------------------------------------------------------------

void simulated_client::read(stream& from) {
  const auto era = era_;
  std::string bytes;
  bool has_ended = false;
  while (era == era_ && !is_dead_ && from.link->receive(bytes, has_ended)) {
    if (has_ended) return fall_down();
    last_reply_ = now();
    from.input += bytes;
    while (era == era_ && !from.input.empty()) {
      const auto result = from.parser.parse(from.input);
      if (result == redis::parse_result::incomplete) break;
      if (result == redis::parse_result::violation) {
        world_.violate("the server's reply can't be read");
        return fall_down();
      }
      take(from, from.parser.reply());
      if (era == era_) from.input.erase(0, from.parser.consumed());
    }
  }
}

void simulated_client::take(stream& from, const redis::value& reply) {
  const bool is_push = reply.type() == redis::kind::push;
  if (is_push || &from == &messages_) {
    if (reply.at(0).text() == "message") return take_message(reply);
    if (!is_push) take_handshake(reply);
    return;
  }
  if (is_up_) {
    take_answer(reply);
  } else {
    take_handshake(reply);
  }
}

void simulated_client::take_message(const redis::value& pushed) {
  const std::string text(pushed.at(2).text());
  const auto message = protocol::read_message(text);
  if (!message) return world_.violate("unreadable message: " + text);
  world_.log("%s: message %s", id_.c_str(), text.c_str());
  last_gate_ = 0;
  // The gate that should receive it, found in another way than by the code under test.
  auto meant = gates_.next(0);
  while (meant && !meant->has_made(message->owner)) meant = gates_.next(meant->id() + 1);
  gates_.deliver(*message);
  if (last_gate_ != (meant ? meant->id() : 0)) world_.violate("a message went astray: " + text);
}

void simulated_client::take_answer(const redis::value& reply) {
  if (open_.empty()) return world_.violate("a reply that nobody waits for");
  auto& first = open_.front();
  if (first.answers > 1) return take_answers(reply);
  // Of several replies the first error counts, and without an error the last reply.
  if (!first.is_decided && (reply.is_error() || first.replies_left == 1)) {
    first.is_decided = true;
    if (first.is_without_script && reply.is_error()) known_ = redis::compare_and_delete::none;
    first.result = first.is_without_script
                       ? protocol::read_compare_and_delete(reply)
                       : protocol::read_step(first.gate_driver->rules(), first.what, reply,
                                             first.gate_driver->keys());
  }
  if (--first.replies_left > 0) return;
  const auto answered = std::move(first);
  open_.pop_front();
  world_.log("%s: answer to step %d of claim %lu: %d", id_.c_str(), static_cast<int>(answered.what),
             answered.claim_id, static_cast<int>(answered.result.what));
  answered.gate_driver->on_answer(answered.claim_id, answered.serial, answered.result);
  // The server does not serve. The client leaves it and reconnects.
  if (answered.result.what == lock::answer::unsent) fall_down();
}

void simulated_client::take_answers(const redis::value& reply) {
  const auto count = open_.front().answers;
  const auto end = open_.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<request> answered(std::make_move_iterator(open_.begin()),
                                      std::make_move_iterator(end));
  open_.erase(open_.begin(), end);
  is_script_missing_ = is_script_missing_ || reply.text().starts_with("NOSCRIPT");
  bool is_unfit = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = protocol::renewal_list::read(reply, i, count);
    is_unfit = is_unfit || result.what == lock::answer::unsent;
    world_.log("%s: answer to gathered renewal %zu of claim %lu: %d", id_.c_str(), i,
               answered[i].claim_id, static_cast<int>(result.what));
    answered[i].gate_driver->on_answer(answered[i].claim_id, answered[i].serial, result);
  }
  if (is_unfit) fall_down();
}

}  // namespace mortise::simulation
