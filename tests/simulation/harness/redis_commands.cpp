// The commands of the simulated Redis, each as Redis 7.0 does it.
#include <algorithm>
#include <array>
#include <charconv>

#include "simulation/harness/redis_replies.hpp"
#include "simulation/harness/script_host.hpp"

namespace mortise::simulation {

namespace {

const reply ok = reply::status("OK");
const reply not_integer = reply::error("ERR value is not an integer or out of range");

bool read_integer(const std::string& text, std::int64_t& number) {
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end && std::to_string(number) == text;
}

std::int64_t size_of(const std::deque<std::string>& items) {
  return static_cast<std::int64_t>(items.size());
}

}  // namespace

const simulated_redis::command_row* simulated_redis::find_command(std::string_view name) const {
  using spelling = redis::compare_and_delete;
  using self = simulated_redis;
  static constexpr std::array rows{
      command_row{"exists", -2, false, false, true, false, &self::exists},
      command_row{"get", 2, false, false, true, false, &self::get},
      command_row{"mget", -2, false, false, true, false, &self::mget},
      command_row{"type", 2, false, false, true, false, &self::type},
      command_row{"set", -3, true, true, true, false, &self::set},
      command_row{"del", -2, true, false, true, false, &self::del},
      command_row{"delifeq", 3, true, false, true, false, &self::delete_if_equal},
      command_row{"delex", 4, true, false, true, false, &self::delete_if_equal},
      command_row{"incr", 2, true, true, true, false, &self::incrby},
      command_row{"incrby", 3, true, true, true, false, &self::incrby},
      command_row{"pexpire", 3, true, false, true, false, &self::pexpire},
      command_row{"pttl", 2, false, false, true, false, &self::pttl},
      command_row{"llen", 2, false, false, true, false, &self::llen},
      command_row{"rpush", -3, true, true, true, false, &self::push},
      command_row{"lpush", -3, true, true, true, false, &self::push},
      command_row{"lpop", -2, true, false, true, false, &self::lpop},
      command_row{"lindex", 3, false, false, true, false, &self::lindex},
      command_row{"lrem", 4, true, false, true, false, &self::lrem},
      command_row{"lpos", -3, false, false, true, false, &self::lpos},
      command_row{"lrange", 4, false, false, true, false, &self::lrange},
      command_row{"zadd", -4, true, true, true, false, &self::zadd},
      command_row{"zincrby", 4, true, true, true, false, &self::zincrby},
      command_row{"zrem", -3, true, false, true, false, &self::zrem},
      command_row{"zscore", 3, false, false, true, false, &self::zscore},
      command_row{"zcard", 2, false, false, true, false, &self::zcard},
      command_row{"zcount", 4, false, false, true, false, &self::zcount},
      command_row{"zrangebyscore", -4, false, false, true, false, &self::zrange},
      command_row{"zrevrangebyscore", -4, false, false, true, false, &self::zrange},
      command_row{"hset", -4, true, true, true, false, &self::hset},
      command_row{"hdel", -3, true, false, true, false, &self::hdel},
      command_row{"hgetall", 2, false, false, true, false, &self::hgetall},
      command_row{"time", 1, false, false, true, true, &self::time},
      command_row{"publish", 3, false, false, true, true, &self::publish},
      command_row{"spublish", 3, false, false, true, true, &self::publish},
      command_row{"pubsub", -2, false, false, true, true, &self::pubsub},
      command_row{"eval", -3, false, false, false, false, &self::eval},
      command_row{"evalsha", -3, false, false, false, false, &self::eval},
      command_row{"script", -2, false, false, false, true, &self::script},
      command_row{"flushall", -1, true, false, true, false, &self::flushall},
      command_row{"ping", -1, false, false, true, true, &self::ping},
      command_row{"info", -1, false, false, true, true, &self::info},
  };
  for (const auto& row : rows) {
    const std::string_view known(row.name);
    if (known.size() == name.size() && strncasecmp(row.name, name.data(), name.size()) == 0) {
      if (known == "delifeq" && compare_and_delete != spelling::delifeq) return nullptr;
      if (known == "delex" && compare_and_delete != spelling::delex) return nullptr;
      return &row;
    }
  }
  return nullptr;
}

bool simulated_redis::is_wrong_type(const entry* found, entry::kind expected) const {
  return found != nullptr && found->type != expected;
}

// ---- strings --------------------------------------------------------------------------------

reply simulated_redis::exists(const arguments& command) {
  std::int64_t found = 0;
  for (std::size_t i = 1; i < command.size(); ++i) found += live(command[i]) != nullptr ? 1 : 0;
  return reply::number(found);
}

reply simulated_redis::get(const arguments& command) {
  const auto* found = live(command[1]);
  if (found == nullptr) return reply::nil();
  return is_wrong_type(found, entry::kind::text) ? wrong_type : reply::bulk(found->text);
}

reply simulated_redis::mget(const arguments& command) {
  std::vector<reply> values;
  for (auto key = command.begin() + 1; key != command.end(); ++key) {
    const auto* found = live(*key);
    const bool is_text = found != nullptr && !is_wrong_type(found, entry::kind::text);
    values.push_back(is_text ? reply::bulk(found->text) : reply::nil());
  }
  return reply::list(std::move(values));
}

reply simulated_redis::type(const arguments& command) {
  const auto* found = live(command[1]);
  if (found == nullptr) return reply::status("none");
  if (found->type == entry::kind::sorted_set) return reply::status("zset");
  if (found->type == entry::kind::hash) return reply::status("hash");
  return reply::status(found->type == entry::kind::list ? "list" : "string");
}

reply simulated_redis::set(const arguments& command) {
  bool only_new = false;
  bool keeps_ttl = false;
  std::int64_t ttl = -1;
  for (std::size_t i = 3; i < command.size(); ++i) {
    if (is_word(command[i], "NX")) {
      only_new = true;
    } else if (is_word(command[i], "KEEPTTL") && ttl < 0) {
      keeps_ttl = true;
    } else if (is_word(command[i], "PX") && i + 1 < command.size() && !keeps_ttl) {
      if (!read_integer(command[++i], ttl)) return not_integer;
      if (ttl <= 0) return reply::error("ERR invalid expire time in 'set' command");
    } else {
      return syntax_error;
    }
  }
  auto* found = live(command[1]);
  if (only_new && found != nullptr) return reply::nil();
  entry made;
  made.text = command[2];
  if (keeps_ttl && found != nullptr) made.expires_ms = found->expires_ms;
  if (ttl > 0) made.expires_ms = now_ms() + ttl;
  entries_[command[1]] = std::move(made);
  return ok;
}

reply simulated_redis::del(const arguments& command) {
  std::int64_t deleted = 0;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (live(command[i]) == nullptr) continue;
    entries_.erase(command[i]);
    ++deleted;
  }
  return reply::number(deleted);
}

// DELIFEQ key value, or DELEX key IFEQ value.
reply simulated_redis::delete_if_equal(const arguments& command) {
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::text)) return wrong_type;
  const bool is_equal = found != nullptr && found->text == command.back();
  return is_equal ? del({"DEL", command[1]}) : reply::number(0);
}

reply simulated_redis::incrby(const arguments& command) {
  std::int64_t by = 1;
  if (command.size() == 3 && !read_integer(command[2], by)) return not_integer;
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::text)) return wrong_type;
  std::int64_t number = 0;
  if (found != nullptr && !read_integer(found->text, number)) return not_integer;
  if (__builtin_add_overflow(number, by, &number)) {
    return reply::error("ERR increment or decrement would overflow");
  }
  if (found == nullptr) found = &entries_[command[1]];
  found->text = std::to_string(number);
  return reply::number(number);
}

reply simulated_redis::pexpire(const arguments& command) {
  std::int64_t ttl = 0;
  if (!read_integer(command[2], ttl)) return not_integer;
  auto* found = live(command[1]);
  if (found == nullptr) return reply::number(0);
  if (ttl <= 0) {
    entries_.erase(command[1]);
  } else {
    found->expires_ms = now_ms() + ttl;
  }
  return reply::number(1);
}

reply simulated_redis::pttl(const arguments& command) {
  const auto* found = live(command[1]);
  if (found == nullptr) return reply::number(-2);
  if (found->expires_ms < 0) return reply::number(-1);
  return reply::number(std::max<std::int64_t>(0, found->expires_ms - now_ms()));
}

// ---- lists ----------------------------------------------------------------------------------

reply simulated_redis::llen(const arguments& command) {
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  return reply::number(found == nullptr ? 0 : size_of(found->items));
}

reply simulated_redis::push(const arguments& command) {
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  if (found == nullptr) {
    found = &entries_[command[1]];
    found->type = entry::kind::list;
  }
  for (std::size_t i = 2; i < command.size(); ++i) {
    if (is_word(command[0], "RPUSH")) {
      found->items.push_back(command[i]);
    } else {
      found->items.push_front(command[i]);
    }
  }
  return reply::number(size_of(found->items));
}

reply simulated_redis::lpop(const arguments& command) {
  auto* found = live(command[1]);
  if (command.size() != 2) return syntax_error;  // the form with a count is not used
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  if (found == nullptr) return reply::nil();
  auto first = reply::bulk(found->items.front());
  found->items.pop_front();
  if (found->items.empty()) entries_.erase(command[1]);
  return first;
}

reply simulated_redis::lindex(const arguments& command) {
  const auto* found = live(command[1]);
  if (found == nullptr) return reply::nil();
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  std::int64_t index = 0;
  if (!read_integer(command[2], index)) return not_integer;
  if (index < 0) index += size_of(found->items);
  if (index < 0 || index >= size_of(found->items)) return reply::nil();
  return reply::bulk(found->items[static_cast<std::size_t>(index)]);
}

reply simulated_redis::lrem(const arguments& command) {
  std::int64_t count = 0;
  if (!read_integer(command[2], count)) return not_integer;
  if (count < 0) return syntax_error;  // from the tail: not used
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  if (found == nullptr) return reply::number(0);
  std::int64_t removed = 0;
  for (auto item = found->items.begin(); item != found->items.end();) {
    if (*item == command[3] && (count == 0 || removed < count)) {
      item = found->items.erase(item);
      ++removed;
    } else {
      ++item;
    }
  }
  if (found->items.empty()) entries_.erase(command[1]);
  return reply::number(removed);
}

reply simulated_redis::lpos(const arguments& command) {
  const auto* found = live(command[1]);
  if (command.size() != 3) return syntax_error;  // RANK, COUNT, MAXLEN are not used
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  if (found == nullptr) return reply::nil();
  const auto place = std::find(found->items.begin(), found->items.end(), command[2]);
  if (place == found->items.end()) return reply::nil();
  return reply::number(place - found->items.begin());
}

reply simulated_redis::lrange(const arguments& command) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (!read_integer(command[2], first) || !read_integer(command[3], last)) return not_integer;
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::list)) return wrong_type;
  std::vector<reply> items;
  const auto size = found == nullptr ? 0 : size_of(found->items);
  if (first < 0) first = std::max<std::int64_t>(0, first + size);
  if (last < 0) last += size;
  for (auto i = first; i <= std::min(last, size - 1); ++i) {
    items.push_back(reply::bulk(found->items[static_cast<std::size_t>(i)]));
  }
  return reply::list(std::move(items));
}

// ---- the rest -------------------------------------------------------------------------------

reply simulated_redis::time(const arguments& /*command*/) {
  return reply::list({reply::bulk(std::to_string(now_us() / 1'000'000)),
                      reply::bulk(std::to_string(now_us() % 1'000'000))});
}

reply simulated_redis::publish(const arguments& command) {
  std::int64_t heard = 0;
  for (const auto& [id, listener] : sessions_) {
    if (!listener->is_open || !listener->channels.contains(command[1])) continue;
    ++heard;
    const auto* const kind = is_word(command[0], "SPUBLISH") ? "smessage" : "message";
    auto message =
        reply::list({reply::bulk(kind), reply::bulk(command[1]), reply::bulk(command[2])});
    message.type = reply::form::push;
    std::string bytes;
    message.write(bytes, listener->protocol);
    if (defers_own_pushes && listener.get() == served_) {
      deferred_.push_back(std::move(bytes));
    } else if (listener->send) {
      listener->send(std::move(bytes));
    }
  }
  if (heard > 0 && on_published) on_published(command[2]);
  return reply::number(heard);
}

reply simulated_redis::pubsub(const arguments& command) {
  // Nothing else is used. Channels of slots are among the others, with names of their own.
  const bool is_count = is_word(command[1], "NUMSUB") || is_word(command[1], "SHARDNUMSUB");
  if (!is_count) return syntax_error;
  std::vector<reply> counts;
  for (std::size_t i = 2; i < command.size(); ++i) {
    counts.push_back(reply::bulk(command[i]));
    counts.push_back(reply::number(subscribers(command[i])));
  }
  return reply::list(std::move(counts));
}

reply simulated_redis::eval(const arguments& command) {
  std::int64_t key_count = 0;
  if (!read_integer(command[2], key_count)) return not_integer;
  if (key_count < 0) return reply::error("ERR Number of keys can't be negative");
  const auto rest = static_cast<std::int64_t>(command.size()) - 3;
  if (key_count > rest) {
    return reply::error("ERR Number of keys can't be greater than number of args");
  }
  auto sha1 = command[1];
  if (is_word(command[0], "EVAL")) {
    const auto loaded = scripts_->load(command[1]);
    if (loaded.is_error()) return loaded;
    sha1 = loaded.text;
  }
  const auto first = command.begin() + 3;
  script_has_written_ = false;
  auto answer = scripts_->run(sha1, {first, first + key_count}, {first + key_count, command.end()});
  script_has_written_ = false;
  return answer;
}

reply simulated_redis::script(const arguments& command) {
  if (is_word(command[1], "LOAD") && command.size() == 3) return scripts_->load(command[2]);
  if (is_word(command[1], "FLUSH")) {
    scripts_->flush();
    return ok;
  }
  if (is_word(command[1], "EXISTS")) {
    std::vector<reply> known;
    for (std::size_t i = 2; i < command.size(); ++i) {
      known.push_back(reply::number(scripts_->knows(command[i]) ? 1 : 0));
    }
    return reply::list(std::move(known));
  }
  return syntax_error;
}

reply simulated_redis::flushall(const arguments& /*command*/) {
  entries_.clear();
  return ok;
}

reply simulated_redis::ping(const arguments& /*command*/) { return reply::status("PONG"); }

reply simulated_redis::info(const arguments& /*command*/) {
  return reply::bulk("# Server\r\nrun_id:" + run_id + "\r\nuptime_in_seconds:" +
                     std::to_string((now_us_() - started_us) / 1'000'000) + "\r\n");
}

}  // namespace mortise::simulation
