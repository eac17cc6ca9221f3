#include "redis/handshake.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "redis/resp/command.hpp"
#include "redis/resp/error_text.hpp"
#include "redis/resp/info.hpp"
#include "redis/resp/server_error.hpp"
#include "redis/service/service_gaps.hpp"

namespace mortise::redis {

namespace {

constexpr int oldest_redis = 6002000;
constexpr int oldest_redis_of_cluster = 7000000;

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  for (const auto start : starts) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

// The server is running and will serve the request later (hazard 28).
bool passes_by_itself(std::string_view error) {
  const auto* const unfit = unfitness_of(error);
  if (unfit != nullptr) return unfit->code != "NOAUTH";
  return begins_with_any(error, {"BUSY", "TRYAGAIN", "ERR max number of clients"});
}

// The server is running and refuses writes until it has memory, a disk or replicas again (hazard
// 28).
bool refuses_writes(std::string_view error) {
  const auto code = error_code(error);
  return code == "OOM" || code == "MISCONF" || code == "NOREPLICAS";
}

// "7.0.15" as 7000015.
int version_number(std::string_view text) {
  int number = 0;
  for (int part = 0; part < 3; ++part) {
    int value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    number = number * 1000 + std::clamp(value, 0, 999);
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return number;
}

std::string why_no_database(std::int64_t number, std::string_view text) {
  if (const auto lacking = find_missing_right(text)) {
    return "the server refused SELECT: " + say_missing_right(*lacking);
  }
  return "the server refused database " + std::to_string(number) + ": " + std::string(text) +
         "; correct the number in the URL";
}

std::string why_no_subscription(const std::string& inbox, std::string_view text) {
  if (const auto lacking = find_missing_right(text); lacking && !lacking->command.empty()) {
    return "the server refused SUBSCRIBE: " + say_missing_right(*lacking);
  }
  if (text.starts_with("NOPERM")) {
    // The word, or the namespace before it.
    return "the user may not subscribe to \"" + inbox + "\"; allow the channel with ACL: &" +
           inbox.substr(0, inbox.find(':')) + ":*";
  }
  return "the server refused SUBSCRIBE: " + std::string(text);
}

const char* why_no_login(bool is_of_sentinel) {
  return is_of_sentinel
             ? "the Sentinel requires its own password; give sentinel_password in the URL, or "
               "sentinel_password_file"
             : "the server requires a password; give it in the URL, redis://:PASSWORD@HOST "
               "or redis://USER:PASSWORD@HOST, or with password_file";
}

}  // namespace

handshake::handshake(const connection_config& config, form type, predecessor before,
                     const login& own_login)
    : config_(config), form_(type), login_(own_login), before_(std::move(before)) {
  facts_.protocol = form_ == form::resp3 ? 3 : 2;
  add_first_part();
  // The old client id is killed only at the same server process. In a new process another client
  // may have the id.
  if (!has_predecessor() || form_ == form::resp2_messages) add_second_part();
}

void handshake::add(item what, std::initializer_list<std::string_view> words) {
  command_writer(bytes_).command(words);
  expected_.push_back(what);
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
void handshake::add_first_part() {
  if (form_ == form::resp3) {
    command_writer writer(bytes_);
    writer.begin(2 + (login_.is_needed() ? 3U : 0U) + (config_.client_name.empty() ? 0U : 2U));
    writer.arg("HELLO").arg("3");
    if (login_.is_needed()) writer.arg("AUTH").arg(login_.name()).arg(login_.password.view());
    if (!config_.client_name.empty()) writer.arg("SETNAME").arg(config_.client_name);
    expected_.push_back(item::hello);
    return add_run_query();
  }
  if (login_.is_needed() && login_.user.empty()) add(item::auth, {"AUTH", login_.password.view()});
  if (!login_.user.empty()) add(item::auth, {"AUTH", login_.user, login_.password.view()});
  if (!config_.client_name.empty()) {
    add(item::set_name, {"CLIENT", "SETNAME", config_.client_name});
  }
  if (form_ == form::resp2_messages) return;
  add(item::client_id, {"CLIENT", "ID"});
  is_role_requested_ = true;
  add(item::role, {"ROLE"});
  add_run_query();
}

void handshake::add_run_query() {
  add(item::info, {"INFO", "server"});
  const bool is_hidden = has_predecessor() && before_.run_id.empty();
  if (is_hidden && !config_.inbox.empty()) add(item::inbox, {"PUBSUB", "NUMSUB", config_.inbox});
}

// A server that hides its run id counts as the same only while a client still listens to the inbox.
// The inbox's name is this client's own. The address may have another server by now, or another run
// of it.
bool handshake::is_same_server() const {
  if (!has_predecessor() || facts_.client_id <= before_.client_id) return false;
  return before_.run_id.empty() ? has_inbox_subscriber_ : facts_.run_id == before_.run_id;
}

void handshake::add_second_part() {
  is_complete_ = true;
  if (form_ == form::resp2_messages) return add(item::subscribe, {"SUBSCRIBE", config_.inbox});
  if (is_same_server()) {
    // Commands on the old connection are then carried out, or never will be (hazard 16).
    add(item::kill, {"CLIENT", "KILL", "ID", std::to_string(before_.client_id)});
  }
  if (config_.database != 0) {
    add(item::select, {"SELECT", std::to_string(config_.database)});
  }
  add_probes();
  // A proxy may have no transactions, also one with HELLO. EXEC without MULTI is an error that
  // shows whether the command is known. MULTI would leave a user without the right to EXEC in a
  // transaction.
  if (config_.needs_multi) add(item::exec, {"EXEC"});
  if (form_ == form::resp3 && !config_.inbox.empty()) {
    add(item::subscribe, {"SUBSCRIBE", config_.inbox});
  }
  // One allocation: a buffer that grows leaves smaller copies of the login behind.
  constexpr std::size_t around_text = 128;
  auto room = bytes_.size();
  for (const auto* source : config_.scripts) room += source->text.size() + around_text;
  for (const auto& command : config_.setup) {
    const bool is_other = has_predecessor() && command.when_back;
    setup_.push_back(is_other ? command.when_back() : command.bytes);
    room += setup_.back().size();
  }
  bytes_.reserve(room);
  for (const auto* source : config_.scripts) {
    add(item::load_script, {"SCRIPT", "LOAD", source->text});
  }
  for (const auto& command : setup_) {
    bytes_ += command;
    expected_.push_back(item::setup);
  }
}

// The key never exists, so nothing happens. An unknown or forbidden command is an error, and the
// script does the same work.
void handshake::add_probes() {
  if (config_.probe_key.empty()) return;
  write_compare_and_delete(bytes_, compare_and_delete::delifeq, config_.probe_key, "");
  expected_.push_back(item::probe_delifeq);
  write_compare_and_delete(bytes_, compare_and_delete::delex, config_.probe_key, "");
  expected_.push_back(item::probe_delex);
}

void handshake::note_gap(item what, std::string_view error) {
  if (config_.is_of_sentinel || !is_unknown_command(error)) return;
  if (what == item::client_id) lacking_.note("CLIENT");
  if (what == item::exec) lacking_.note("MULTI");
  if (what == item::load_script) lacking_.note("SCRIPT");
  if (what == item::subscribe) lacking_.note("SUBSCRIBE");
}

handshake::step handshake::refuse_for_gaps(std::string_view server_text) {
  const auto own_text = "lacks " + lacking_.text();
  return refuse("the service does not have " + lacking_.text() + "; " + lacking_.remedy(),
                server_text.empty() ? own_text : server_text);
}

void handshake::note_probe(item what) {
  facts_.compare_and_delete =
      what == item::probe_delifeq ? compare_and_delete::delifeq : compare_and_delete::delex;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
handshake::step handshake::take(const value& reply) {
  if (answered_ == expected_.size()) {
    return refuse("the server sent an unexpected reply; check that it is a Redis or Valkey server",
                  {});
  }
  const item what = expected_[answered_++];
  if (what == item::setup) ++setup_answered_;
  if (reply.is_error()) {
    const step result = take_error(reply.text(), what);
    if (result != step::more) return result;
  } else if (what == item::hello) {
    const step result = take_hello(reply);
    if (result != step::more) return result;
  } else if (what == item::client_id) {
    facts_.client_id = reply.integer();
  } else if (what == item::role) {
    facts_.role = reply.at(0).text() == "slave" ? "replica" : reply.at(0).text();
  } else if (what == item::info) {
    note_info(reply.text());
  } else if (what == item::inbox) {
    has_inbox_subscriber_ = reply.at(1).integer() > 0;
  } else if (what == item::probe_delifeq || what == item::probe_delex) {
    // Any reply other than "no such key" is from a server with neither command.
    if (reply.type() == kind::integer && reply.integer() == 0) note_probe(what);
  }
  if (what == item::info || what == item::role) {
    const step result = check_server();
    if (result != step::more) return result;
  }
  return answered_ < expected_.size() ? step::more : go_on();
}

// All requests are answered.
handshake::step handshake::go_on() {
  if (!std::exchange(is_role_requested_, true) && facts_.role.empty() &&
      form_ != form::resp2_messages) {
    add(item::role, {"ROLE"});  // HELLO did not report it
    return step::send;
  }
  if (is_complete_) return lacking_.excludes_locks() ? refuse_for_gaps({}) : step::done;
  add_second_part();
  return answered_ < expected_.size() ? step::send : step::done;
}

std::string handshake::remedy_of_login() const {
  if (config_.is_of_sentinel && !config_.identity->has_file()) {
    return "correct sentinel_user and sentinel_password in the URL";
  }
  return config_.identity->remedy();
}

handshake::step handshake::take_hello(const value& reply) {
  static constexpr std::array keys{"server", "version", "id", "role", "mode"};
  std::array<const value*, keys.size()> entries{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto entry = find_field(reply, keys[i]);
    if (entry.is_repeated || reply.type() != kind::map) {
      return refuse("the reply to HELLO is malformed; check that it is a Redis or Valkey server",
                    {});
    }
    entries[i] = entry.found;
  }
  const auto& [server, version, id, role, mode] = entries;
  if (server != nullptr && server->text() == "valkey") facts_.kind = server_kind::valkey;
  if (version != nullptr) note_version(version->text());
  if (id != nullptr) facts_.client_id = id->integer();
  if (role != nullptr) facts_.role = role->text();
  if (mode != nullptr) facts_.mode = mode->text();
  if (facts_.mode == "sentinel") facts_.role = facts_.mode;
  return check_server();
}

void handshake::note_version(std::string_view text) {
  facts_.version = text;
  facts_.version_number = version_number(text);
}

void handshake::note_info(std::string_view text) {
  facts_.run_id = info_field(text, "run_id");
  for (const auto* field : {"redis_mode", "server_mode"}) {
    if (facts_.mode.empty()) facts_.mode = info_field(text, field);
  }
  if (const auto version = info_field(text, "redis_version");
      !version.empty() && facts_.version.empty()) {
    note_version(version);
  }
  if (const auto version = info_field(text, "valkey_version"); !version.empty()) {
    facts_.kind = server_kind::valkey;
    note_version(version);
  }
}

handshake::step handshake::check_server() {
  if (config_.is_of_sentinel) {
    if (facts_.role.empty() || facts_.role == "sentinel") return step::more;
    return refuse(
        "this is a data server, not a Sentinel; give the Sentinels' addresses, usually with port "
        "26379, or this server as redis://host:port",
        {});
  }
  if (facts_.role == "sentinel") {
    return refuse(
        "this is a Sentinel, not a data server; give redis+sentinel://host:port/NAME with the "
        "Sentinel's name for the master, or the master's address",
        {});
  }
  // A cluster's server refuses keys of other servers, and names their server.
  if (config_.is_of_cluster) {
    if (facts_.mode.empty() || facts_.mode == "cluster") return check_version();
    return refuse("this server is not in cluster mode; give redis://", {});
  }
  if (!facts_.role.empty() && facts_.role != "master") {
    is_passing_ = true;
    const step result =
        refuse("this is a read-only replica; give the master's address", "role " + facts_.role);
    // A client that was connected to the master waits until the name resolves to the master again.
    problem_.is_retryable = has_predecessor() || !config_.is_replica_wrong;
    return result;
  }
  // The proxy Envoy reports this mode for any server. The message about its missing commands is
  // right.
  if (facts_.mode == "cluster" && config_.why_no_cluster != nullptr && lacking_.is_empty()) {
    return refuse(config_.why_no_cluster, {});
  }
  return check_version();
}

handshake::step handshake::check_version() {
  if (facts_.version_number == 0) return step::more;
  // Valkey began at 7.2, and reports 7.2 as its Redis version.
  if (facts_.version_number < oldest_redis) {
    return refuse("the server is Redis " + facts_.version +
                      "; Mortise needs Redis 6.2 or Valkey 7.2: upgrade the server",
                  {});
  }
  if (config_.is_of_cluster && facts_.version_number < oldest_redis_of_cluster) {
    return refuse("the server is Redis " + facts_.version +
                      ", which has no sharded channels; in a cluster Mortise "
                      "needs Redis 7.0 or Valkey 7.2: upgrade the server",
                  {});
  }
  return step::more;
}

handshake::step handshake::refuse(const std::string& message, std::string_view server_text) {
  problem_ = outcome::of(status::refused, message);
  problem_.server_text = server_text;
  return step::refused;
}

handshake::step handshake::take_error_of_setup(std::string_view error) {
  const auto& command = config_.setup[setup_answered_ - 1];
  using need = setup_command::need;
  if (command.is_needed == need::none) return step::more;
  if (command.is_needed == need::when_there_is_memory && error_code(error) == "OOM") {
    return step::more;
  }
  const auto safe_error = without_secrets(error, &login_);
  if (const auto lacking = find_missing_right(safe_error)) {
    // The text of a script begins on the fifth line of its command.
    auto script = std::string_view(setup_[setup_answered_ - 1]);
    for (int line = 1; line < 5; ++line) script.remove_prefix(script.find('\n') + 1);
    return refuse("the server refused " + command.name + ": " + say_missing_right(*lacking, script),
                  safe_error);
  }
  if (is_unknown_command(error) && command.name.starts_with("EVAL")) {
    lacking_.note("EVAL");
    return refuse_for_gaps(safe_error);
  }
  is_passing_ = refuses_writes(error);
  const auto* const why = why_script_refused(error);
  const auto remedy = why == nullptr ? std::string() : "; " + std::string(why);
  const step result =
      refuse("the server refused " + command.name + ": " + safe_error + remedy, safe_error);
  problem_.is_retryable = is_passing_;
  return result;
}

bool handshake::is_without_resp3(std::string_view error) const {
  // Before the login, Valkey 9.1 answers an unknown command only with NOAUTH. A server that knows
  // HELLO never answers a HELLO with a login like that.
  if (login_.is_needed() && error.starts_with("NOAUTH")) return true;
  return begins_with_any(error, {"NOPROTO", "NOPERM"}) || is_unknown_command(error);
}

// `more` if the handshake continues despite the error.
handshake::step handshake::take_error(std::string_view error, item what) {
  // The code is read from the server's text. Messages repeat the text without the login.
  const auto safe_error = without_secrets(error, &login_);
  const std::string_view text = safe_error;
  const bool is_probe = what == item::probe_delifeq || what == item::probe_delex;
  if (is_probe && config_.is_of_cluster &&
      begins_with_any(error, {"MOVED", "ASK", "CLUSTERDOWN"})) {
    note_probe(what);  // the command is known; its key is in a slot of another server, or of none
    return step::more;
  }
  if (passes_by_itself(error)) {
    is_passing_ = true;
    const step result = refuse("the server is not ready: " + std::string(text), text);
    problem_.is_retryable = true;
    return result;
  }
  note_gap(what, error);
  if (what == item::hello && is_without_resp3(error)) return step::fall_back;
  if (error.starts_with("NOAUTH")) {
    return refuse(why_no_login(config_.is_of_sentinel), text);
  }
  if (error.starts_with("WRONGPASS") || (what == item::auth && error.starts_with("ERR invalid"))) {
    return refuse(
        "the user name or the password is wrong, or the user is off; " + remedy_of_login(), text);
  }
  switch (what) {
    case item::hello:
    case item::auth:
      return refuse("the server refused the login: " + std::string(text), text);
    case item::select:
      return refuse(why_no_database(config_.database, text), text);
    case item::subscribe:
      if (config_.is_of_sentinel) break;  // the subscription only brings hints
      if (lacking_.excludes_locks()) return refuse_for_gaps(text);
      return refuse(why_no_subscription(config_.inbox, text), text);
    case item::setup:
      return take_error_of_setup(error);
    // The rest is optional, or is retried when it is needed. A script that is not loaded returns
    // NOSCRIPT (hazard 27), and a client that can't be killed may have ended already.
    case item::set_name:
    case item::client_id:
    case item::role:
    case item::info:
    case item::inbox:
    case item::kill:
    case item::load_script:
    case item::probe_delifeq:
    case item::probe_delex:
    case item::exec:
      break;
  }
  return step::more;
}

}  // namespace mortise::redis
