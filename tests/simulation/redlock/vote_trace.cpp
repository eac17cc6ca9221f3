#include "simulation/redlock/vote_trace.hpp"

namespace mortise::redlock_simulation {

using process_simulation::epoch_ns;
using simulation::field;
using simulation::script_argument;

vote_trace::vote_trace(const world& around, const nodes& servers, std::int64_t quarantine_ms,
                       const std::string& file)
    : world_(around),
      nodes_(servers),
      file_(file, field("simulation", "redlock") +
                      field("servers", static_cast<std::int64_t>(servers.size())) +
                      field("quarantine_ms", quarantine_ms) +
                      field("start_us", epoch_ns / ns_per_us)) {}

simulation::reply vote_trace::execute(std::size_t server, const simulation::arguments& command) {
  auto& one = nodes_.at(server)->redis;
  const auto* const script = simulation::find_script(command);
  if (script == nullptr) return one.call(command);
  const auto argument = [&](std::size_t number) { return script_argument(command, number); };
  const auto number = [&](std::size_t which) { return std::stoll(argument(which)); };
  const auto uptime_s = (one.now_us() - one.started_us) / 1'000'000;
  const auto reply = one.call(command);
  std::string event(script->name), fields = field("reply", reply);
  if (event == "seed") {
    fields += field("lowest", number(2)) + keys_of(server, command, false);
  } else if (event == "member") {
    fields += field("uptime_s", uptime_s) + keys_of(server, command, false);
  } else if (event == "ballot_take") {
    fields += field("owner", argument(1)) + field("ttl", number(2)) + field("proposal", number(4));
  } else if (event == "ballot_renew") {
    fields += field("owner", argument(1)) + field("ttl", number(2)) + field("proposal", number(3));
  } else if (event == "ballot_release") {
    fields += field("owner", argument(1)) + field("proposal", number(4));
  } else {
    return reply;
  }
  if (event.starts_with("ballot_")) {
    event.erase(0, 7);
    fields += field("key", command.at(3)) + keys_of(server, command, true);
  }
  write(server, event, fields);
  return reply;
}

std::string vote_trace::keys_of(std::size_t server, const simulation::arguments& command,
                                bool is_of_lock) const {
  auto& redis = nodes_.at(server)->redis;
  const auto number_in = [&](std::string_view key) {
    const auto* const found = redis.find(key);
    return found == nullptr ? std::int64_t{0} : std::stoll(found->text);
  };
  auto fields = field("fence", number_in(protocol::fence_key)) +
                field("quarantine", number_in(protocol::quarantine_key));
  if (!is_of_lock) return fields;
  const auto* const vote = redis.find(command.at(3));
  return fields + field("value", vote == nullptr ? "" : vote->text) +
         field("ends_ms", vote == nullptr ? 0 : vote->expires_ms) +
         field("ballot", number_in(command.at(4)));
}

void vote_trace::note_snapshot(std::size_t server) { write(server, "snapshot", {}); }

void vote_trace::note_restart(std::size_t server, std::string_view with) {
  write(server, "restart", field("with", with));
}

void vote_trace::write(std::size_t server, std::string_view event, const std::string& fields) {
  file_.write(event, world_.time.now(),
              field("server", static_cast<std::int64_t>(server)) +
                  field("us", nodes_.at(server)->redis.now_us()) + fields);
}

// ---- holds ----------------------------------------------------------------------------------

// A time, by the clock of each server.
std::string vote_trace::deadlines(time_ns deadline) const {
  std::string all;
  for (const auto& one : nodes_) {
    all += (all.empty() ? "" : ", ") + std::to_string(one->clock.read(deadline) / ns_per_ms);
  }
  return ", \"deadlines_ms\": [" + all + "]";
}

void vote_trace::note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                           time_ns deadline) {
  file_.write(
      "hold", world_.time.now(),
      field("name", name) + field("owner", owner) + field("token", token) + deadlines(deadline));
}

void vote_trace::note_deadline(const std::string& name, std::string_view owner, time_ns deadline) {
  file_.write("prolong", world_.time.now(),
              field("name", name) + field("owner", owner) + deadlines(deadline));
}

void vote_trace::note_end(const std::string& name, std::string_view owner, time_ns at) {
  file_.write("end", at, field("name", name) + field("owner", owner) + deadlines(at));
}

}  // namespace mortise::redlock_simulation
