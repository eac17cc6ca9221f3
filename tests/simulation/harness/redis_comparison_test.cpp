// The simulated Redis against the real one: the same random commands and scripts, the same replies
// and messages. What the simulation proves is worth as much as this.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "protocol/refusal.hpp"
#include "protocol/scripts/scripts.hpp"
#include "redis/resp/resp.hpp"
#include "simulation/harness/chance.hpp"
#include "simulation/harness/simulated_redis.hpp"
#include "support/server.hpp"

namespace mortise::simulation::redis_comparison_test {
namespace {

std::string as_text(const redis::value& value) {
  if (value.is_null()) return "(nil)";
  if (value.is_error()) return "-" + std::string(value.text());
  if (value.type() == redis::kind::integer) return std::to_string(value.integer());
  if (value.type() != redis::kind::array) return std::string(value.text());
  std::string lines;
  for (std::size_t i = 0; i < value.size(); ++i) {
    lines += (i > 0 ? "\n" : "") + as_text(value.at(i));
  }
  return lines;
}

// One connection to the simulated server, with the manners of testing::raw_client.
class simulated_peer {
 public:
  explicit simulated_peer(simulated_redis& server) : server_(server), session_(server.connect()) {
    session_.send = [this](const std::string& bytes) { input_ += bytes; };
  }
  std::string command(const arguments& args) {
    server_.execute(session_, args);
    return read_reply();
  }
  std::string read_reply() {
    if (parser_.parse(input_) != redis::parse_result::complete) return "(nothing)";
    auto text = as_text(parser_.reply());
    input_.erase(0, parser_.consumed());
    return text;
  }

 private:
  simulated_redis& server_;
  session& session_;
  std::string input_;
  redis::parser parser_;
};

// Whether two replies are alike: numbers that come from a clock need not be the same.
bool are_alike(const std::string& left, const std::string& right) {
  const auto* a = left.c_str();
  const auto* b = right.c_str();
  while (*a != '\0' && *b != '\0') {
    // A score of zero, before 7.0.
    if (*a == '-' && a[1] == '0' && *b == '0') ++a;
    if (std::isdigit(*a) == 0 || std::isdigit(*b) == 0) {
      if (*a++ != *b++) return false;
      continue;
    }
    char* a_end = nullptr;
    char* b_end = nullptr;
    const auto x = std::strtoll(a, &a_end, 10);
    const auto y = std::strtoll(b, &b_end, 10);
    const auto allowed = x >= 1'000'000'000 ? 60'000'000 : x >= 30'000 ? 10'000 : 0;
    if (std::abs(x - y) > allowed) return false;
    a = a_end;
    b = b_end;
  }
  return *a == *b;
}

// Whether the library takes two errors for the same.
bool mean_the_same(std::string_view left, std::string_view right) {
  if (!left.starts_with('-') || !right.starts_with('-')) return false;
  const auto one = protocol::read_error(left.substr(1));
  const auto other = protocol::read_error(right.substr(1));
  return one.what == other.what && one.is_passing == other.is_passing &&
         one.details.is_retryable == other.details.is_retryable;
}

// The same of replies that may have errors in them, a line each.
bool are_alike_but_for_words(const std::string& left, const std::string& right) {
  std::istringstream lefts(left);
  std::istringstream rights(right);
  std::string one;
  std::string other;
  for (;;) {
    const bool has_one = static_cast<bool>(std::getline(lefts, one));
    const bool has_other = static_cast<bool>(std::getline(rights, other));
    if (!has_one || !has_other) return has_one == has_other;
    if (!are_alike(one, other) && !mean_the_same(one, other)) return false;
  }
}

class redis_comparison : public ::testing::Test {
 protected:
  redis_comparison()
      : simulated_([] {
          return std::chrono::duration_cast<std::chrono::microseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
              .count();
        }) {
    real_->command({"CONFIG", "SET", "maxmemory", "1"});
    real_->command({"MULTI"});
    simulated_.queues_reads_without_memory = real_->command({"GET", "k"}) == "QUEUED";
    real_->command({"DISCARD"});
    real_->command({"CONFIG", "SET", "maxmemory", "0"});
    using spelling = redis::compare_and_delete;
    if (real_->command({"DELIFEQ", "k", ""}) == "0")
      simulated_.compare_and_delete = spelling::delifeq;
    if (real_->command({"DELEX", "k", "IFEQ", ""}) == "0")
      simulated_.compare_and_delete = spelling::delex;
    // Two clients with an inbox; the third has died.
    for (const auto* client : {"a", "b"}) {
      const arguments subscribe{"SUBSCRIBE", std::string("mortise:inbox:") + client};
      real_inbox_->command(subscribe);
      simulated_inbox_.command(subscribe);
    }
  }

  std::string key() {
    return dice_.one_of<const char*>({"{mortise:x}", "{mortise:x}:q", "mortise:fence", "other"});
  }
  std::string owner() {
    return dice_.one_of<const char*>({"m1:a:1.1::60000", "m1:a:1.2:la bel*:60000",
                                      "m1:b:1.1:x:y:90000", "m1:c:1.1::60000", "m1:c:2.7::60000"});
  }
  std::string number() {
    return dice_.one_of<const char*>({"0", "1", "2", "-1", "17", "90000", "x", "1.5", ""});
  }
  // An entry of a `shared` lock, or its counter.
  std::string member() {
    return dice_.one_of<std::string>(
        {"rw", "semaphore", "1 " + owner(), "3 " + owner(), "1073741824 " + owner(), owner()});
  }
  std::string score() {
    return dice_.one_of<const char*>(
        {"0", "1", "-1", "-3", "5", "9999999999999", "+inf", "-inf", "x", ""});
  }
  arguments hash_command() {
    switch (dice_.below(5)) {
      case 0:
        return {"HSET", key(), owner(), number()};
      case 1:
        return {"HSET", key(), owner(), number(), owner()};
      case 2:
        return {"HDEL", key(), owner(), owner()};
      case 3:
        return {dice_.one_of<const char*>({"TYPE", "EXISTS"}), key()};
      default:
        return {"HGETALL", key()};
    }
  }
  arguments set_command() {
    switch (dice_.below(8)) {
      case 0:
        return {"ZADD", key(), score(), member()};
      case 1:
        return {"ZADD", key(), score(), member(), score(), member()};
      case 2:
        return {"ZINCRBY", key(), dice_.one_of<const char*>({"1", "-3", "x"}), member()};
      case 3:
        return {"ZREM", key(), member(), member()};
      case 4:
        return {"ZSCORE", key(), member()};
      case 5:
        return {dice_.one_of<const char*>({"ZCARD", "EXISTS", "TYPE"}), key()};
      case 6:
        return {"ZCOUNT", key(), score(), score()};
      default: {
        arguments range{dice_.one_of<const char*>({"ZRANGEBYSCORE", "ZREVRANGEBYSCORE"}), key(),
                        score(), score()};
        if (dice_.happens(500)) range.emplace_back("WITHSCORES");
        if (dice_.happens(500)) range.insert(range.end(), {"LIMIT", "0", "2"});
        return range;
      }
    }
  }
  // No two in a row are the same: which of two entries ends first must not hang on whether they
  // came within one millisecond.
  std::string ttl() {
    ttl_shift_ms_ = (ttl_shift_ms_ + 37) % 9000;
    return std::to_string(dice_.one_of<int>({60'000, 90'000, 33'002'000}) + ttl_shift_ms_);
  }

  arguments plain_command() {
    using spelling = redis::compare_and_delete;
    const auto known = simulated_.compare_and_delete;
    if (known == spelling::delifeq && dice_.happens(50)) return {"DELIFEQ", key(), owner()};
    if (known == spelling::delex && dice_.happens(50)) return {"DELEX", key(), "IFEQ", owner()};
    if (dice_.happens(250)) return set_command();
    if (dice_.happens(200)) return hash_command();
    switch (dice_.below(17)) {
      case 16:
        return {"PUBSUB", "NUMSUB", "mortise:inbox:a", "mortise:inbox:c"};
      case 0:
        return dice_.happens(500) ? arguments{"GET", key()} : arguments{"MGET", key(), key()};
      case 1:
        return {"SET", key(), dice_.one_of({owner(), owner() + "*", number()})};
      case 2:
        return {"SET", key(), owner(),
                "NX",  "PX",  dice_.one_of<std::string>({ttl(), "0", "-1", "x", "1.5"})};
      case 3:
        return {"SET", key(), owner(), "KEEPTTL"};
      case 4:
      case 5:
        return {"DEL", key()};
      case 6:
        return {dice_.one_of<const char*>({"INCR", "INCRBY"}), key(), number()};
      case 7:
        return {"PEXPIRE", key(), dice_.one_of<std::string>({ttl(), "0", "-5", "x"})};
      case 8:
        return {"PTTL", key()};
      case 9:
        return {dice_.one_of<const char*>({"LLEN", "LPOP"}), key()};
      case 10:
        return {dice_.one_of<const char*>({"RPUSH", "LPUSH"}), key(), owner()};
      case 11:
        return {"LINDEX", key(), number()};
      case 12:
        return {"LREM", key(), dice_.one_of<const char*>({"0", "1", "x"}), owner()};
      case 13:
        return {"LPOS", key(), owner()};
      case 14:
        return {"LRANGE", key(), number(), number()};
      default:
        return {dice_.one_of<const char*>({"INCR", "LLEN", "PING"})};
    }
  }

  arguments script_command() {
    std::vector<const redis::script*> all{&scripts::seed};
    // What the simulation runs; the formats of other programs are tested against a real server
    // only.
    for (const auto* script : scripts::all()) {
      const bool is_simulated = script->name.starts_with("queued_") ||
                                script->name.starts_with("shared_") ||
                                script->name == "semaphore_resize";
      if (is_simulated) all.push_back(script);
    }
    const auto& script = *all[static_cast<std::size_t>(dice_.below(static_cast<int>(all.size())))];
    arguments command{"EVALSHA", std::string(script.sha1)};
    if (dice_.happens(400)) command = {"EVAL", std::string(script.text)};
    if (script.name == "seed") {
      command.insert(command.end(),
                     {"2", "mortise:server", "mortise:fence", dice_.one_of({"new", "back"}),
                      dice_.one_of({"0", "1000000000000000", "2000000000000000"})});
      return command;
    }
    if (script.name.starts_with("queued_")) return queued_command(script, std::move(command));
    const bool is_rw = dice_.happens(500) && script.name != "semaphore_resize";
    command.insert(command.end(),
                   {is_rw ? "3" : "4", "{mortise:x}", "mortise:fence", "{mortise:x}:q"});
    if (!is_rw) command.emplace_back("{mortise:x}:permits");
    command.insert(command.end(), {owner(), ttl()});
    command.emplace_back(dice_.one_of<const char*>({"try", "wait", "wait", "again"}));
    command.emplace_back(is_rw ? dice_.one_of<const char*>({"1", "1", "1073741824"})
                               : dice_.one_of<const char*>({"1", "2", "3", "5"}));
    command.emplace_back(is_rw ? "1073741824" : dice_.one_of<const char*>({"1", "3", "4"}));
    return command;
  }

  arguments queued_command(const redis::script& script, arguments command) {
    command.insert(command.end(), {"3", "{mortise:x}", "mortise:fence", "{mortise:x}:q"});
    command.push_back(owner());
    if (script.name == "queued_acquire") {
      command.push_back(ttl());
      command.emplace_back(dice_.one_of<const char*>({"try", "wait", "wait", "again"}));
    } else if (script.name == "queued_renew") {
      command.push_back(ttl());
      command.emplace_back(dice_.one_of<const char*>({"0", "17", "256"}));
    }
    return command;
  }

  // The states of a server in which it refuses things.
  void change_mood() {
    real_->command({"CONFIG", "SET", "maxmemory", "0"});
    real_->command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    simulated_.fault = {};
    switch (dice_.below(4)) {
      case 0:
        real_->command({"CONFIG", "SET", "maxmemory", "1"});
        simulated_.fault.is_out_of_memory = true;
        break;
      case 1:
        real_->command({"CONFIG", "SET", "min-replicas-to-write", "1"});
        simulated_.fault.refuse_writes = "NOREPLICAS Not enough good replicas to write.";
        break;
      default:
        break;
    }
  }

  void expect_alike(const arguments& command) {
    const auto real = real_->command(command);
    const auto simulated = peer_.command(command);
    std::string text;
    for (const auto& word : command) text += word.substr(0, 60) + " ";
    const bool is_same = are_alike(real, simulated) ||
                         (has_words_of_its_own_ && are_alike_but_for_words(real, simulated));
    EXPECT_TRUE(is_same) << text << "\nreal:      " << real << "\nsimulated: " << simulated;
  }

  void expect_same_messages() {
    const arguments marker{"PUBLISH", "mortise:inbox:a", "end"};
    real_->command(marker);
    peer_.command(marker);
    for (;;) {
      const auto real = real_inbox_->read_reply();
      const auto simulated = simulated_inbox_.read_reply();
      EXPECT_TRUE(are_alike(real, simulated)) << real << "\nsimulated: " << simulated;
      if (HasFailure() || real.ends_with("\nend")) return;
    }
  }

  testing::test_server server_;
  std::unique_ptr<testing::raw_client> real_ = server_.connect();
  std::unique_ptr<testing::raw_client> real_inbox_ = server_.connect();
  simulated_redis simulated_;
  simulated_peer peer_{simulated_};
  simulated_peer simulated_inbox_{simulated_};
  // Redis before 7.0, and Valkey, word some errors in their own way.
  const bool has_words_of_its_own_ =
      real_->command({"EVALSHA", std::string(40, '0'), "0"}) !=
          "-NOSCRIPT No matching script. Please use EVAL." ||
      real_->command({"EVAL", "return redis.error_reply('alone')", "0"}) == "-alone" ||
      real_->command({"EVAL", "return redis.call('LLEN')", "0"}).starts_with("-ERR Error running");
  chance dice_{7};
  int ttl_shift_ms_ = 0;
};

TEST_F(redis_comparison, random_commands_and_scripts_are_answered_alike) {
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const auto what = dice_.below(100);
    if (what == 0) {
      change_mood();
    } else if (what == 1) {
      expect_alike({"SCRIPT", "FLUSH"});
    } else if (what < 30) {
      expect_alike(plain_command());
    } else if (what < 35) {
      expect_alike({"MULTI"});
      for (auto more = dice_.below(4); more > 0; --more) expect_alike(plain_command());
      expect_alike({"EXEC"});
    } else {
      expect_alike(script_command());
    }
    expect_same_messages();
  }
}

// What no script of ours does today, but one might tomorrow.
TEST_F(redis_comparison, values_are_converted_alike_between_lua_and_the_protocol) {
  for (const auto* text : {"return 3.99",
                           "return -3.99",
                           "return false",
                           "return true",
                           "return nil",
                           "return 'x'",
                           "return {1, 2.7, 'x', {3, true}, nil, 4}",
                           "return {1, false, 2}",
                           "return {ok = 'fine'}",
                           "return {err = 'BAD luck'}",
                           "return redis.error_reply('BAD luck')",
                           "return redis.error_reply('alone')",
                           "return redis.status_reply('fine')",
                           "return 1790000000000001",
                           "return tostring(1790000000000001)",
                           "return string.format('%.0f', 1790000000000001)",
                           "return redis.call('GET', KEYS[1])",
                           "return {redis.call('GET', KEYS[1])}",
                           "return type(redis.call('GET', KEYS[1]))",
                           "return redis.call('SET', KEYS[1], 17)",
                           "return redis.call('SET', KEYS[1], 1.5)",
                           "return redis.call('INCRBY', KEYS[1], 2)",
                           "return redis.pcall('LLEN', KEYS[1])",
                           "return redis.pcall('LLEN', KEYS[1]).err",
                           "return redis.call('LLEN', KEYS[1])",
                           "redis.pcall('NOSUCH')\nreturn redis.call('NOSUCH')",
                           "return redis.call('GET')",
                           "return redis.pcall('GET', KEYS[1], 'too many')",
                           "return redis.call({})",
                           "return nosuch",
                           "x = 1",
                           "return #ARGV",
                           "return KEYS[2]",
                           "return 1 .. 2 / 0",
                           "return nil + 1",
                           "error('BAD luck')",
                           "error({err = 'BAD luck'})",
                           "return {'a', {}, {err = 'inner'}}",
                           "return redis.call('EVAL', 'return 1', 0)",
                           "return redis.call('PUBSUB', 'NUMSUB', 'mortise:inbox:a', 'nobody')",
                           "return redis.pcall('PUBSUB', 'NUMSUB', 'nobody')[2] + 1",
                           "return redis.pcall('PUBSUB', 'NUMSUB')",
                           "return syntax error"}) {
    expect_alike({"EVAL", text, "1", "k", "v"});
  }
  expect_alike({"EVAL", "return 1", "2", "k"});
  expect_alike({"EVAL", "return 1", "-1"});
  expect_alike({"EVALSHA", std::string(40, '0'), "0"});
  expect_alike({"SCRIPT", "EXISTS", std::string(40, '0')});
}

}  // namespace
}  // namespace mortise::simulation::redis_comparison_test
