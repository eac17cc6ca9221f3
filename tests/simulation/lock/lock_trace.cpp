#include "simulation/lock/lock_trace.hpp"

#include "base/text/json.hpp"
#include "lock/lease.hpp"
#include "protocol/table.hpp"
#include "simulation/lock/simulated_server.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

namespace {

constexpr std::string_view inbox_prefix = "mortise:inbox:";
// fence.lua, FENCE_LIFE; grace_period.lua, CHANGED.
constexpr std::int64_t fence_life_ms = 7'776'000'000;
constexpr std::int64_t longest_grace_ms = 5000;

std::string list_of(const auto& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ", ";
    append_json(out, text);
  }
  return out + ']';
}

}  // namespace

lock_trace::lock_trace(const world& around, simulated_server& server, const std::string& file)
    : world_(around),
      server_(server),
      file_(file, field("simulation", "lock") +
                      field("seed", static_cast<std::int64_t>(around.plan.seed)) +
                      ", \"exclusive\": " + (around.plan.is_exclusive ? "true" : "false") +
                      field("start_us", server.redis.now_us())),
      run_id_(server.redis.run_id) {
  server_.redis.on_published = [this](const std::string& text) { messages_.push_back(text); };
}

lock_trace::~lock_trace() { server_.redis.on_published = nullptr; }

// ---- commands -------------------------------------------------------------------------------

lock_trace::step lock_trace::read(const session& from, const arguments& command) const {
  if (command[0] == "EXEC") {
    if (from.queued.size() != 2 || from.queued[0].size() < 6) return {};
    const auto& set = from.queued[0];
    return {"take_free", set[1], set[2], field("ttl", std::stoll(set[5]))};
  }
  if (command[0] == "DELEX") return {"delete", command[1], command[3], {}};
  if (command[0] == "DELIFEQ") return {"delete", command[1], command[2], {}};
  const auto* const script = find_script(command);
  if (script == nullptr) return {};
  const auto argument = [&](std::size_t number) { return script_argument(command, number); };
  if (script->name == "seed") {
    return {"seed", {}, {}, field("known", argument(1)) + field("lowest", argument(2))};
  }
  if (!script->name.starts_with("queued_")) return {};
  step made{std::string(script->name.substr(7)), command.at(3), argument(1), {}};
  if (made.event == "query" || made.event == "value") return {};
  if (made.event == "acquire") {
    made.arguments = field("ttl", std::stoll(argument(2))) + field("mode", argument(3));
  }
  if (made.event == "renew") {
    made.arguments = field("ttl", std::stoll(argument(2))) + field("draw", std::stoll(argument(3)));
  }
  return made;
}

void lock_trace::execute(session& from, const arguments& command) {
  const auto taken = read(from, command);
  if (taken.event.empty()) return server_.watch.execute(from, command);
  note_listeners();
  if (run_id_ != server_.redis.run_id) {
    run_id_ = server_.redis.run_id;
    write("restart", world_.time.now(), {});
  }
  const auto fence_before = fence();
  const auto now_us = server_.redis.now_us();
  messages_.clear();
  server_.watch.execute(from, command);
  if (taken.event == "renew_many") return note_renewals(command, now_us, fence_before);
  std::string fields = taken.arguments + field("server_us", now_us);
  if (!taken.lock_key.empty()) fields += field("key", taken.lock_key) + field("owner", taken.owner);
  fields += field("fence_before", fence_before) + field("reply", server_.redis.last_reply()) +
            ", \"messages\": " + list_of(messages_);
  write(taken.event, world_.time.now(), fields + keys_of(taken.lock_key));
}

// One request for many locks counts as one renewal of each, with the reply of queued_renew.
void lock_trace::note_renewals(const arguments& command, std::int64_t now_us,
                               std::int64_t fence_before) {
  const auto& results = server_.redis.last_reply().items;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto code = results[i].integer;
    const auto& lock_key = command.at(3 + i);
    const auto& ttl = command.at(4 + results.size() + 2 * i);
    std::string result = code == 0 ? "[0]" : code == -1 ? "[0, 1]" : "\"ERROR unreadable\"";
    if (code > 0) {
      result = "[1, 0, " + std::to_string(now_us) + ", " + ttl + (code == 2 ? ", 1]" : ", 0]");
    }
    write("renew", world_.time.now(),
          field("ttl", std::stoll(ttl)) + field("draw", std::int64_t{0}) +
              field("server_us", now_us) + field("key", lock_key) +
              field("owner", command.at(3 + results.size() + 2 * i)) +
              field("fence_before", fence_before) + ", \"reply\": " + result +
              ", \"messages\": []" + keys_of(lock_key));
  }
}

void lock_trace::note_listeners() {
  std::set<std::string> present;
  for (const auto* session : server_.redis.sessions()) {
    if (!session->is_open) continue;
    for (const auto& channel : session->channels) {
      if (channel.starts_with(inbox_prefix)) present.insert(channel.substr(inbox_prefix.size()));
    }
  }
  for (const auto& client : present) {
    if (!listeners_.contains(client)) write("listens", world_.time.now(), field("client", client));
  }
  for (const auto& client : listeners_) {
    if (!present.contains(client)) write("leaves", world_.time.now(), field("client", client));
  }
  listeners_ = std::move(present);
}

// ---- the keys -------------------------------------------------------------------------------

// 0 also of a value that is no number, which a run outside the promise may have.
std::int64_t lock_trace::fence() const {
  const auto* const found = server_.redis.find("mortise:fence");
  const bool is_number = found != nullptr && !found->text.empty() &&
                         found->text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(found->text) : 0;
}

std::string lock_trace::keys_of(const std::string& lock_key) const {
  auto& redis = server_.redis;
  const auto* const counter = redis.find("mortise:fence");
  const auto grace = counter == nullptr ? 0 : counter->expires_ms - redis.now_ms() - fence_life_ms;
  std::string fields =
      field("fence", fence()) + field("grace", grace > 0 && grace <= longest_grace_ms ? grace : 0);
  if (lock_key.empty()) return fields;
  const auto* const lock = redis.find(lock_key);
  const auto* const queue = redis.find(lock_key + ":q");
  fields += field("value", lock == nullptr ? "" : lock->text) +
            field("left", lock == nullptr ? 0 : lock->expires_ms - redis.now_ms()) +
            field("queue_left", queue == nullptr ? 0 : queue->expires_ms - redis.now_ms());
  return fields + ", \"queue\": " + (queue == nullptr ? "[]" : list_of(queue->items));
}

// ---- holds ----------------------------------------------------------------------------------

void lock_trace::note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                           time_ns deadline) {
  write("hold", world_.time.now(),
        field("name", name) + field("owner", owner) + field("token", token) +
            field("deadline_ms", server_ms(deadline)));
}

void lock_trace::note_deadline(const std::string& name, std::string_view owner, time_ns deadline) {
  write("prolong", world_.time.now(),
        field("name", name) + field("owner", owner) + field("deadline_ms", server_ms(deadline)));
}

void lock_trace::note_end(const std::string& name, std::string_view owner, time_ns at) {
  write("end", at, field("name", name) + field("owner", owner));
}

std::int64_t lock_trace::server_ms(time_ns truth) const {
  return server_.clock.read(truth) / ns_per_ms;
}

void lock_trace::write(std::string_view event, time_ns at, const std::string& fields) {
  file_.write(event, at, field("ms", server_ms(at)) + fields);
}

}  // namespace mortise::simulation
