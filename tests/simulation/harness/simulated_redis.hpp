// An in-process Redis: the commands that Mortise uses, with the replies of Redis 7.0, and the real
// Lua scripts. Single-threaded and without a clock of its own. That it behaves as the real one does
// is what redis_comparison_test.cpp checks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/service/compare_and_delete.hpp"

namespace mortise::simulation {

struct reply {
  enum class form : std::uint8_t { nil, status, error, integer, text, array, push };
  form type = form::nil;
  std::string text;
  std::int64_t integer = 0;
  std::vector<reply> items;

  static reply nil() { return {}; }
  static reply status(std::string_view text) { return {form::status, std::string(text), 0, {}}; }
  static reply error(std::string_view text) { return {form::error, std::string(text), 0, {}}; }
  static reply number(std::int64_t value) { return {form::integer, {}, value, {}}; }
  static reply bulk(std::string_view text) { return {form::text, std::string(text), 0, {}}; }
  static reply list(std::vector<reply> items) { return {form::array, {}, 0, std::move(items)}; }

  [[nodiscard]] bool is_error() const { return type == form::error; }
  // Appends it in RESP2 or RESP3.
  void write(std::string& out, int protocol) const;
};

using arguments = std::vector<std::string>;

// One connection as the server sees it.
struct session {
  std::int64_t id = 0;
  int protocol = 2;
  bool is_open = true;
  std::set<std::string, std::less<>> channels;
  std::function<void(std::string)> send;  // bytes to this client
  std::function<void()> on_killed;        // by CLIENT KILL

  // MULTI … EXEC.
  bool is_in_multi = false;
  bool is_aborted = false;
  std::vector<arguments> queued;
};

class script_host;

class simulated_redis {
 public:
  using clock = std::function<std::int64_t()>;  // microseconds since 1970

  explicit simulated_redis(clock now_us);
  ~simulated_redis();

  session& connect();
  void disconnect(session& gone);
  // Carries out one command and sends the reply to its session.
  void execute(session& from, const arguments& command);
  // Executes one command without a connection, as an administrator or inside a script.
  reply call(const arguments& command, session* from = nullptr);
  // The same with the rules for a command inside a script.
  reply call_from_script(const arguments& command);

  // Faults. An empty text means none.
  struct faults {
    std::string refuse_all;     // such as "LOADING …": nearly every command is refused
    std::string refuse_writes;  // such as "READONLY …"
    bool is_out_of_memory = false;
    bool moves_slot = false;  // the slot of all keys moves key by key: scripts reach no missing key
  } fault;

  // Messages that a client's own command sends to it come before the reply in Redis 7.0, after it
  // in later versions.
  bool defers_own_pushes = false;
  // Redis lets nothing into a transaction while it is out of memory, Valkey what needs none.
  bool queues_reads_without_memory = false;
  // Which of the two it knows, if either.
  redis::compare_and_delete compare_and_delete = redis::compare_and_delete::none;

  struct entry {
    enum class kind : std::uint8_t { text, list, sorted_set, hash };
    kind type = kind::text;
    std::string text;
    std::deque<std::string> items;
    std::map<std::string, double, std::less<>> scores;
    std::vector<std::pair<std::string, std::string>> fields;  // in the order in which they came
    std::int64_t expires_ms = -1;                             // -1: never
    bool operator==(const entry&) const = default;
  };
  using data = std::map<std::string, entry, std::less<>>;
  [[nodiscard]] const data& all_data() const { return entries_; }
  // Another process with these data and without scripts. All connections have ended.
  void restart(data with);
  // What came from another server instead of its own.
  void load(data with) { entries_ = std::move(with); }
  // One key more, or less.
  void put(const std::string& key, entry value) { entries_[key] = std::move(value); }
  void take(const std::string& key) { entries_.erase(key); }
  std::string run_id = "run1";  // of this process
  std::int64_t started_us = 0;
  // The living entry of a key, or nullptr.
  const entry* find(std::string_view key);
  // Deletes expired keys, and returns the others.
  std::vector<std::string> keys();
  void flush_scripts();
  // All that there have been.
  [[nodiscard]] std::vector<session*> sessions() const;
  // How many connections listen on a channel.
  [[nodiscard]] std::int64_t subscribers(std::string_view channel) const;
  [[nodiscard]] std::int64_t now_us() const { return now_us_(); }
  [[nodiscard]] std::int64_t now_ms() const { return now_us_() / 1000; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  // To the latest command of a connection.
  [[nodiscard]] const reply& last_reply() const { return last_reply_; }
  // Called for each message that a client receives, if set.
  std::function<void(const std::string&)> on_published;

 private:
  friend class script_host;
  struct command_row {
    const char* name;
    int arity;  // as in Redis: with the command's name; negative: at least
    bool writes;
    bool needs_memory;
    bool in_scripts;
    bool while_loading;
    reply (simulated_redis::*run)(const arguments&);
  };
  [[nodiscard]] const command_row* find_command(std::string_view name) const;
  reply refusal_of(const command_row* row, const arguments& command);
  reply run_multi(session& from, const arguments& command, const command_row* row);
  reply connection_command(const arguments& command, session* from, bool& is_one);
  entry* live(std::string_view key);
  bool is_wrong_type(const entry* found, entry::kind expected) const;

  reply exists(const arguments& command);
  reply get(const arguments& command);
  reply mget(const arguments& command);
  reply type(const arguments& command);
  reply set(const arguments& command);
  reply del(const arguments& command);
  reply delete_if_equal(const arguments& command);
  reply incrby(const arguments& command);
  reply pexpire(const arguments& command);
  reply pttl(const arguments& command);
  reply llen(const arguments& command);
  reply push(const arguments& command);
  reply lpop(const arguments& command);
  reply lindex(const arguments& command);
  reply lrem(const arguments& command);
  reply lpos(const arguments& command);
  reply lrange(const arguments& command);
  reply zadd(const arguments& command);
  reply zincrby(const arguments& command);
  reply zrem(const arguments& command);
  reply zscore(const arguments& command);
  reply zcard(const arguments& command);
  reply zcount(const arguments& command);
  reply zrange(const arguments& command);
  reply hset(const arguments& command);
  reply hdel(const arguments& command);
  reply hgetall(const arguments& command);
  reply time(const arguments& command);
  reply publish(const arguments& command);
  reply pubsub(const arguments& command);
  reply eval(const arguments& command);
  reply script(const arguments& command);
  reply flushall(const arguments& command);
  reply ping(const arguments& command);
  reply info(const arguments& command);

  clock now_us_;
  data entries_;
  std::map<std::int64_t, std::unique_ptr<session>> sessions_;
  std::int64_t next_session_ = 1;
  std::unique_ptr<script_host> scripts_;
  std::uint64_t commands_ = 0;
  bool script_has_written_ = false;
  session* served_ = nullptr;          // whose command is being carried out
  std::vector<std::string> deferred_;  // its own messages
  reply last_reply_;
};

}  // namespace mortise::simulation
