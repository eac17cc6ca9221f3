#include "protocol/health/server_probe.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text/decimal.hpp"
#include "protocol/own_name.hpp"
#include "redis/resp/command.hpp"

namespace mortise::protocol {

namespace {

// Never written.
constexpr std::string_view checked_key = "{mortise:health}";
constexpr std::string_view key_at_place = "mortise:health";
constexpr std::string_view checked_channel = "mortise:inbox:health";
constexpr std::string_view no_script = "0000000000000000000000000000000000000000";
// An ID that no client has.
constexpr std::string_view no_client = "9007199254740991";
constexpr std::string_view some_keys = "100";
constexpr std::size_t longest_info = 64U << 10U;

// The words of a command.
class words {
 public:
  template <class... Word>
  constexpr words(const Word&... word)
      : list_{std::string_view(word)...}, count_(sizeof...(word)) {}
  constexpr operator std::span<const std::string_view>() const { return {list_.data(), count_}; }
  [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<std::string_view, 5> list_;
  std::size_t count_;
};

// A right and its trial. Trials are in a transaction that is never executed. Even an executed trial
// would leave no data.
struct trial {
  used_right right;
  words command = {};  // empty when the right is detected otherwise
};

constexpr trial trials[] = {
    {{"ping", false}, {"PING"}},
    {{"select", false}, {"SELECT"}},  // the number of the database follows
    {{"info", false}},
    {{"client|kill", false}},
    // A connection without this right is not established: see handshake.
    {{"subscribe", true}},
    {{"publish", false}, {"PUBLISH", checked_channel, ""}},
    {{"pubsub|numsub", false}, {"PUBSUB", "NUMSUB", checked_channel}},
    {{"multi", true}},
    {{"exec", true}},
    {{"eval", true}},
    {{"evalsha", true}, {"EVALSHA", no_script, "0"}},
    {{"script|load", false}, {"SCRIPT", "LOAD", "return 1"}},
    {{"get", true}, {"GET", checked_key}},
    {{"set", true}, {"SET", checked_key, "", "XX"}},
    {{"mget", false}, {"MGET", checked_key}},
    {{"incr", true}, {"INCR", checked_key}},
    {{"incrby", true}, {"INCRBY", checked_key, "0"}},
    {{"pttl", true}, {"PTTL", checked_key}},
    {{"pexpire", true}, {"PEXPIRE", checked_key, "1"}},
    {{"time", true}, {"TIME"}},
    {{"llen", true}, {"LLEN", checked_key}},
    {{"lindex", true}, {"LINDEX", checked_key, "0"}},
    {{"lpos", true}, {"LPOS", checked_key, ""}},
    {{"lrange", false}, {"LRANGE", checked_key, "0", "0"}},
    {{"lpop", true}, {"LPOP", checked_key}},
    {{"rpush", true}, {"RPUSH", checked_key, ""}},
    {{"lrem", false}, {"LREM", checked_key, "0", ""}},
    {{"exists", true}, {"EXISTS", checked_key}},
    {{"type", false}, {"TYPE", checked_key}},
    {{"zadd", true}, {"ZADD", checked_key, "XX", "0", ""}},
    {{"zrem", true}, {"ZREM", checked_key, ""}},
    {{"zscore", true}, {"ZSCORE", checked_key, ""}},
    {{"zcount", false}, {"ZCOUNT", checked_key, "0", "0"}},
    {{"zrangebyscore", true}, {"ZRANGEBYSCORE", checked_key, "0", "0"}},
    {{"zrevrangebyscore", false}, {"ZREVRANGEBYSCORE", checked_key, "0", "0"}},
    // Last, to delete what the other trials might have written.
    {{"del", true}, {"DEL", checked_key}},
};

constexpr auto rights = [] {
  std::array<used_right, std::size(trials)> found{};
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = trials[i].right;
  return found;
}();

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

bool is_essential(std::string_view right) {
  const auto* const found = std::find_if(
      rights.begin(), rights.end(), [&](const used_right& item) { return item.name == right; });
  // Rights for keys and channels.
  return found == rights.end() || found->is_essential;
}

void add(std::vector<std::string>& list, std::string_view item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.emplace_back(item);
}

// ---- readers of replies ----------------------------------------------------------------------

// A server that rejects writes does so when they are queued, without a check of rights.
bool is_about_state(std::string_view error) {
  static constexpr std::array<std::string_view, 9> states = {
      "OOM",  "MISCONF",    "NOREPLICAS", "READONLY",   "LOADING",
      "BUSY", "MASTERDOWN", "TRYAGAIN",   "CLUSTERDOWN"};
  return std::find(states.begin(), states.end(), first_word(error)) != states.end();
}

void read_trial(server_facts& facts, const redis::value& reply, std::string_view right) {
  if (!reply.is_error()) return;
  const auto error = reply.text();
  if (first_word(error) == "MOVED") {
    facts.is_key_in_other_slot = true;
    return;
  }
  if (is_about_state(error)) {
    if (facts.write_error.value_or("").empty()) facts.write_error = first_word(error);
    return;
  }
  auto& found = facts.rights;
  if (!error.starts_with("NOPERM")) {
    add(found.missing, right);
    found.is_essential_missing |= is_essential(right);
    return;
  }
  std::string lack(right);
  const auto& prefix = facts.key_prefix;
  if (has(error, "a channel") || has(error, "the channels")) {
    lack = prefix.empty() ? "&mortise:*" : "&" + prefix + "*";
  }
  if (has(error, "a key") || has(error, "the keys")) {
    lack = prefix.empty() ? "~{mortise:*" : "~" + prefix + "*";
  }
  add(found.refused, lack);
  found.is_essential_refused |= is_essential(lack);
}

void read_nothing(server_facts& /*facts*/, const redis::value& /*reply*/, std::string_view) {}

// The end of a transaction with a deliberate error.
void read_end_of_trials(server_facts& facts, const redis::value& reply, std::string_view) {
  facts.rights.is_known = reply.is_error();
  const bool is_seen = facts.rights.is_known && !facts.is_key_in_other_slot;
  if (is_seen && !facts.write_error) facts.write_error = "";
}

void read_info(server_facts& facts, const redis::value& reply, std::string_view right) {
  if (!reply.is_error()) facts.info = reply.text().substr(0, longest_info);
  read_trial(facts, reply, right);
}

void read_config(server_facts& facts, const redis::value& reply, std::string_view parameter) {
  if (reply.is_error() || reply.at(0).text() != parameter) return;
  facts.config.emplace(parameter, reply.at(1).text());
}

void read_role(server_facts& facts, const redis::value& reply, std::string_view) {
  if (reply.at(0).text().empty()) return;
  facts.role = reply.at(0).text();
  if (facts.role == "master") facts.replica_count = static_cast<std::int64_t>(reply.at(2).size());
}

void read_eval(server_facts& facts, const redis::value& reply, std::string_view right) {
  facts.has_eval = !reply.is_error();
  read_trial(facts, reply, right);
}

void read_client_kill(server_facts& facts, const redis::value& reply, std::string_view right) {
  facts.has_client_kill = !reply.is_error();
  read_trial(facts, reply, right);
}

void read_fence_type(server_facts& facts, const redis::value& reply, std::string_view) {
  if (reply.type() == redis::kind::status) facts.fence_type = reply.text();
  const auto error = first_word(reply.is_error() ? reply.text() : std::string_view());
  facts.is_fence_in_other_slot = error == "MOVED" || error == "ASK";
}

void read_fence(server_facts& facts, const redis::value& reply, std::string_view) {
  if (reply.type() == redis::kind::text) facts.fence = reply.text();
}

void read_fence_ttl(server_facts& facts, const redis::value& reply, std::string_view) {
  if (reply.type() == redis::kind::integer) facts.fence_ttl_ms = reply.integer();
}

void read_keys(server_facts& facts, const redis::value& reply, std::string_view) {
  if (reply.is_error() || reply.size() != 2) return;
  server_facts::key_sample found;
  const auto& names = reply.at(1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = names.at(i).text();
    ++found.seen;
    if (own_name(name).empty()) ++found.foreign;
  }
  facts.keys = found;
}

}  // namespace

std::span<const used_right> used_rights() noexcept { return rights; }

int server_probe::write_round(std::string& out, time_ns now) {
  requests_.clear();
  answered_ = 0;
  sent_ns_ = now;
  ++round_;
  if (round_ == 1) begin(out);
  if (round_ == 2) look_around(out);
  return static_cast<int>(requests_.size());
}

server_probe::server_probe(std::int64_t database, const probe_keys& keys)
    : database_(database),
      key_(keys.place.empty() ? keys.prefix + std::string(checked_key)
                              : keys.prefix + std::string(key_at_place) + keys.place),
      channel_(keys.prefix + std::string(checked_channel)),
      fence_(keys.prefix + std::string(fence_key) + keys.fence_place) {
  facts_.key_prefix = keys.prefix;
  facts_.fence_lifted_ns = keys.lifted_ns;
}

void server_probe::ask(std::string& out, step_request what,
                       std::span<const std::string_view> words) {
  redis::command_writer writer(out);
  writer.begin(words.size());
  for (const auto word : words) {
    writer.arg(word == checked_key       ? key_
               : word == checked_channel ? channel_
               : word == fence_key       ? fence_
                                         : word);
  }
  requests_.push_back(what);
}

// The shortest possible round, so that its time is the round trip. It also checks for transactions,
// which the second round needs.
void server_probe::begin(std::string& out) {
  ask(out, {read_nothing, {}}, words{"TIME"});
  ask(out, {read_trial, "multi"}, words{"MULTI"});
  ask(out, {read_trial, "exec"}, words{"EXEC"});
}

void server_probe::look_around(std::string& out) {
  const bool has_transactions = facts_.rights.refused.empty() && facts_.rights.missing.empty();
  ask(out, {read_info, "info"}, words{"INFO"});
  // One parameter per command: before 7.0 CONFIG GET accepts only one, and each may be hidden.
  // Never a pattern, because some parameters are passwords.
  for (const std::string_view parameter :
       {"maxmemory-policy", "maxmemory", "appendonly", "appendfsync", "save",
        "min-replicas-to-write", "lua-time-limit"}) {
    ask(out, {read_config, parameter}, words{"CONFIG", "GET", parameter});
  }
  ask(out, {read_role, {}}, words{"ROLE"});
  ask(out, {read_eval, "eval"}, words{"EVAL", "return 1", "0"});
  ask(out, {read_client_kill, "client|kill"}, words{"CLIENT", "KILL", "ID", no_client});
  ask(out, {read_fence_type, {}}, words{"TYPE", fence_key});
  ask(out, {read_fence, {}}, words{"GET", fence_key});
  ask(out, {read_fence_ttl, {}}, words{"PTTL", fence_key});
  ask(out, {read_keys, {}}, words{"SCAN", "0", "COUNT", some_keys});
  if (has_transactions) try_rights(out);
}

// Queuing a command checks its right. The server executes nothing, because the wrong first command
// makes it discard the transaction.
void server_probe::try_rights(std::string& out) {
  ask(out, {read_nothing, {}}, words{"MULTI"});
  ask(out, {read_nothing, {}}, words{"ECHO"});
  for (const auto& item : trials) {
    const auto& name = item.right.name;
    if (item.command.empty()) continue;
    if (name == "select") {
      ask(out, {read_trial, name}, words{"SELECT", decimal(database_)});
    } else {
      ask(out, {read_trial, name}, item.command);
    }
  }
  ask(out, {read_end_of_trials, {}}, words{"EXEC"});
}

void server_probe::take(const redis::value& reply, time_ns now, std::int64_t wall_us) {
  if (answered_ == requests_.size()) return;
  facts_.heard_ns = now;
  if (answered_ == 0) {
    const auto took = now - sent_ns_;
    if (round_ == 1) note_time(reply, now, wall_us);
    facts_.round_trip_ns = round_ == 1 ? took : std::min(facts_.round_trip_ns, took);
  }
  const auto& what = requests_[answered_++];
  what.read(facts_, reply, what.about);
}

// The server read its clock about halfway through the round trip.
void server_probe::note_time(const redis::value& reply, time_ns now, std::int64_t wall_us) {
  const auto seconds = whole_number(reply.at(0).text());
  const auto rest_us = whole_number(reply.at(1).text());
  constexpr std::int64_t most_seconds = 1'000'000'000'000;
  if (!seconds || !rest_us || *seconds < 0 || *seconds > most_seconds) return;
  if (*rest_us < 0 || *rest_us >= 1'000'000) return;
  const auto half_ns = (now - sent_ns_) / 2;
  const auto server_us = *seconds * 1'000'000 + *rest_us;
  facts_.clock = {server_us, now - half_ns, half_ns / ns_per_us};
  facts_.clock_offset_us = server_us - (wall_us - half_ns / ns_per_us);
}

}  // namespace mortise::protocol
