#include "reference.hpp"

#include <cstdlib>
#include <stdexcept>

#include "harness.hpp"

namespace mortise::bench {

namespace {

constexpr const char* compare_and_delete =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
constexpr int acquire_word_count = 6;
constexpr int release_word_count = 5;

// The number of calls of one command in INFO commandstats.
double calls_of(const std::string& statistics, const std::string& command) {
  return info_number(statistics, "cmdstat_" + command + ":calls", '=');
}

}  // namespace

address::address(const std::string& url) {
  const std::string local = "unix://";
  const std::string with_tls = "rediss://";
  const std::string remote = "redis://";
  const std::string authorities = "?tls_ca_file=";
  if (url.compare(0, local.size(), local) == 0) {
    path = url.substr(local.size());
    return;
  }
  if (url.compare(0, with_tls.size(), with_tls) == 0) {
    const auto end = url.find(authorities);
    require(end != std::string::npos, url + ": give tls_ca_file");
    host = url.substr(with_tls.size(), end - with_tls.size());
    ca_file = url.substr(end + authorities.size());
  } else {
    require(url.compare(0, remote.size(), remote) == 0,
            url + ": give unix:///path or redis://host:port");
    host = url.substr(remote.size());
  }
  const auto colon = host.rfind(':');
  if (colon == std::string::npos) return;
  port = std::atoi(host.c_str() + colon + 1);
  host.resize(colon);
}

reference::reference(const std::string& url) {
  const address where(url);
  if (!where.ca_file.empty()) {
    tls_ = std::make_unique<tls_channel>(trust_of(where.ca_file), where.host, where.port);
  } else {
    context_.reset(where.path.empty() ? redisConnect(where.host.c_str(), where.port)
                                      : redisConnectUnix(where.path.c_str()));
    require(context_ != nullptr && context_->err == 0, "hiredis cannot connect to " + url);
  }
  compare_and_delete_ = command({"SCRIPT", "LOAD", compare_and_delete})->str;
}

reply_ptr reference::ask(int count, const char** words, const std::size_t* lengths) {
  if (tls_) return tls_->command(count, words, lengths);
  return reply_ptr(
      static_cast<redisReply*>(redisCommandArgv(context_.get(), count, words, lengths)));
}

reply_ptr reference::command(std::initializer_list<std::string_view> words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const auto word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  auto reply = ask(static_cast<int>(texts.size()), texts.data(), lengths.data());
  require(reply != nullptr, "the server closed hiredis's connection");
  require(reply->type != REDIS_REPLY_ERROR, reply->str == nullptr ? "" : reply->str);
  return reply;
}

void reference::acquire_words(const plain_lock& lock, const char** words,
                              std::size_t* lengths) const {
  const std::string_view all[acquire_word_count] = {"SET", lock.key, lock.token,
                                                    "NX",  "PX",     "30000"};
  for (int i = 0; i < acquire_word_count; ++i) {
    words[i] = all[i].data();
    lengths[i] = all[i].size();
  }
}

void reference::release_words(const plain_lock& lock, const char** words,
                              std::size_t* lengths) const {
  const std::string_view all[release_word_count] = {"EVALSHA", compare_and_delete_, "1", lock.key,
                                                    lock.token};
  for (int i = 0; i < release_word_count; ++i) {
    words[i] = all[i].data();
    lengths[i] = all[i].size();
  }
}

void reference::check(const redisReply* reply, int type) const {
  require(reply != nullptr, "the server closed hiredis's connection");
  const bool is_done = type == REDIS_REPLY_STATUS || reply->integer == 1;
  require(reply->type == type && is_done, "hiredis: an uncontended pair failed");
}

void reference::pair(const plain_lock& lock) {
  const char* words[acquire_word_count];
  std::size_t lengths[acquire_word_count];
  acquire_words(lock, words, lengths);
  auto reply = ask(acquire_word_count, words, lengths);
  check(reply.get(), REDIS_REPLY_STATUS);
  release_words(lock, words, lengths);
  reply = ask(release_word_count, words, lengths);
  check(reply.get(), REDIS_REPLY_INTEGER);
}

void reference::pipelined_pairs(const std::vector<plain_lock>& locks) {
  const char* words[acquire_word_count];
  std::size_t lengths[acquire_word_count];
  const auto read_all = [&](int type) {
    for (std::size_t i = 0; i < locks.size(); ++i) {
      void* reply = nullptr;
      redisGetReply(context_.get(), &reply);
      check(reply_ptr(static_cast<redisReply*>(reply)).get(), type);
    }
  };
  for (const auto& lock : locks) {
    acquire_words(lock, words, lengths);
    redisAppendCommandArgv(context_.get(), acquire_word_count, words, lengths);
  }
  read_all(REDIS_REPLY_STATUS);
  for (const auto& lock : locks) {
    release_words(lock, words, lengths);
    redisAppendCommandArgv(context_.get(), release_word_count, words, lengths);
  }
  read_all(REDIS_REPLY_INTEGER);
}

std::string reference::info(const char* section) {
  const auto reply = command({"INFO", section});
  return {reply->str, reply->len};
}

std::vector<plain_lock> plain_locks(int count) {
  std::vector<plain_lock> locks;
  for (int i = 0; i < count; ++i) {
    locks.push_back(
        {"{" + lock_name("plain", i) + "}", "c7f1a2b3:0000000" + std::to_string(10'000'000 + i)});
  }
  return locks;
}

std::string find_key(reference& server, std::string_view type, const std::string& part) {
  std::string cursor = "0";
  do {
    const auto reply =
        server.command({"SCAN", cursor, "MATCH", "*" + part + "*", "TYPE", type, "COUNT", "10000"});
    cursor = reply->element[0]->str;
    const auto* keys = reply->element[1];
    if (keys->elements > 0) return {keys->element[0]->str, keys->element[0]->len};
  } while (cursor != "0");
  return {};
}

void wait_for_waiters(reference& server, const std::string& lock, std::int64_t count) {
  constexpr std::int64_t pause_ns = 1'000'000;
  const auto deadline = now_ns() + 10 * ns_per_second;
  while (now_ns() < deadline) {
    const auto queue = find_key(server, "list", lock);
    const auto waiting = queue.empty() ? 0 : server.command({"LLEN", queue})->integer;
    if (waiting == count) return;
    sleep_ns(pause_ns);
  }
  throw std::runtime_error("the waiters are not in the lock's queue");
}

double info_number(const std::string& text, const std::string& key, char separator) {
  const auto start = text.find("\n" + key + separator);
  if (start == std::string::npos) return 0;
  return std::atof(text.c_str() + start + key.size() + 2);
}

server_usage server_usage::of(reference& connection) {
  server_usage usage;
  const auto cpu = connection.info("cpu");
  usage.cpu_us = (info_number(cpu, "used_cpu_user") + info_number(cpu, "used_cpu_sys")) * 1e6;
  // The server counts what a script calls like what a client sends. Clients of locks send scripts
  // and transactions; and what no script calls.
  const auto statistics = connection.info("commandstats");
  for (const char* sent : {"eval", "evalsha", "fcall", "multi", "exec", "delifeq", "delex"}) {
    usage.commands += calls_of(statistics, sent);
  }
  // A transaction of ours has two commands between MULTI and EXEC.
  usage.commands += 2 * calls_of(statistics, "exec");
  return usage;
}

}  // namespace mortise::bench
