#include "simulation/harness/mutex_trace.hpp"

#include "base/text/json.hpp"
#include "protocol/table.hpp"

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

// ---- the keys -------------------------------------------------------------------------------

const simulated_redis::entry* find(const mutex_place& at, std::string_view key) {
  for (auto* const one : at.servers) {
    if (const auto* const found = one->find(key); found != nullptr) return found;
  }
  return nullptr;
}

const simulated_redis::entry* find_counter(const mutex_place& at) {
  return find(at, std::string(protocol::fence_key) + at.tag);
}

// 0 also of a value that is no number, which a run outside the promise may have.
std::int64_t fence_of(const simulated_redis::entry* counter) {
  const bool is_number = counter != nullptr && !counter->text.empty() &&
                         counter->text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(counter->text) : 0;
}

std::string keys_of(const mutex_place& at, const std::string& lock_key) {
  const auto now_ms = at.servers.front()->now_ms();
  const auto* const counter = find_counter(at);
  const auto grace = counter == nullptr ? 0 : counter->expires_ms - now_ms - fence_life_ms;
  std::string fields = field("fence", fence_of(counter)) +
                       field("grace", grace > 0 && grace <= longest_grace_ms ? grace : 0);
  if (lock_key.empty()) return fields;
  const auto* const lock = find(at, lock_key);
  const auto* const queue = find(at, lock_key + ":q");
  fields += field("value", lock == nullptr ? "" : lock->text) +
            field("left", lock == nullptr ? 0 : lock->expires_ms - now_ms) +
            field("queue_left", queue == nullptr ? 0 : queue->expires_ms - now_ms);
  return fields + ", \"queue\": " + (queue == nullptr ? "[]" : list_of(queue->items));
}

}  // namespace

mutex_trace::mutex_trace(const virtual_time& time, const drifting_clock& clock,
                         const std::string& file, const std::string& fields)
    : time_(time), clock_(clock), file_(file, fields) {}

// ---- commands -------------------------------------------------------------------------------

mutex_trace::step mutex_trace::read(const session& from, const arguments& command) {
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

void mutex_trace::execute(mutex_place& at, session& from, const arguments& command,
                          const std::function<void()>& run) {
  const auto taken = read(from, command);
  if (taken.event.empty()) return run();
  note_listeners(at);
  const auto before = field("server_us", at.servers.front()->now_us()) +
                      field("fence_before", fence_of(find_counter(at)));
  messages_.clear();
  run();
  if (taken.event == "seed") note_run(at);
  if (taken.event == "renew_many") return note_renewals(at, command, before);
  auto fields = taken.arguments + before;
  if (!taken.lock_key.empty()) fields += field("key", taken.lock_key) + field("owner", taken.owner);
  fields +=
      field("reply", at.servers.front()->last_reply()) + ", \"messages\": " + list_of(messages_);
  note(at, taken.event, fields + keys_of(at, taken.lock_key));
}

// One request for many locks counts as one renewal of each, with the reply of queued_renew.
void mutex_trace::note_renewals(const mutex_place& at, const arguments& command,
                                const std::string& before) {
  const auto& results = at.servers.front()->last_reply().items;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto code = results[i].integer;
    const auto& lock_key = command.at(3 + i);
    const auto& ttl = command.at(4 + results.size() + 2 * i);
    std::string result = code == 0 ? "[0]" : code == -1 ? "[0, 1]" : "\"ERROR unreadable\"";
    if (code > 0) {
      result = "[1, 0, " + std::to_string(at.servers.front()->now_us()) + ", " + ttl +
               (code == 2 ? ", 1]" : ", 0]");
    }
    note(at, "renew",
         field("ttl", std::stoll(ttl)) + field("draw", std::int64_t{0}) + before +
             field("key", lock_key) + field("owner", command.at(3 + results.size() + 2 * i)) +
             ", \"reply\": " + result + ", \"messages\": []" + keys_of(at, lock_key));
  }
}

// ---- subscribers and servers ----------------------------------------------------------------

void mutex_trace::note_listeners(mutex_place& at) {
  std::set<std::string> present;
  for (const auto* session : at.servers.front()->sessions()) {
    if (!session->is_open) continue;
    for (std::string_view channel : session->channels) {
      if (!channel.starts_with(inbox_prefix) || !channel.ends_with(at.tag)) continue;
      channel.remove_prefix(inbox_prefix.size());
      channel.remove_suffix(at.tag.size());
      present.emplace(channel);
    }
  }
  for (const auto& client : present) {
    if (!at.listeners.contains(client)) note(at, "listens", field("client", client));
  }
  for (const auto& client : at.listeners) {
    if (!present.contains(client)) note(at, "leaves", field("client", client));
  }
  at.listeners = std::move(present);
}

// A handshake may have met another server, or another process, than the one before.
void mutex_trace::note_run(mutex_place& at) {
  if (at.servers.front()->last_reply().is_error()) return;
  const auto& run_id = at.servers.front()->run_id;
  if (!at.run_id.empty() && at.run_id != run_id) note(at, "restart", {});
  at.run_id = run_id;
}

void mutex_trace::note(const mutex_place& at, std::string_view event, const std::string& fields) {
  write(event, time_.now(), at.fields + fields);
}

// ---- holds ----------------------------------------------------------------------------------

void mutex_trace::note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                            time_ns deadline) {
  write("hold", time_.now(),
        field("name", name) + field("owner", owner) + field("token", token) +
            field("deadline_ms", server_ms(deadline)));
}

void mutex_trace::note_deadline(const std::string& name, std::string_view owner, time_ns deadline) {
  write("prolong", time_.now(),
        field("name", name) + field("owner", owner) + field("deadline_ms", server_ms(deadline)));
}

void mutex_trace::note_end(const std::string& name, std::string_view owner, time_ns at) {
  write("end", at, field("name", name) + field("owner", owner));
}

std::int64_t mutex_trace::server_ms(time_ns truth) const { return clock_.read(truth) / ns_per_ms; }

void mutex_trace::write(std::string_view event, time_ns at, const std::string& fields) {
  file_.write(event, at, field("ms", server_ms(at)) + fields);
}

}  // namespace mortise::simulation
