// The reference of the measurements: a blocking hiredis connection that does the same by plain
// commands; and the view of the server's own counters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reply.hpp"
#include "tls_channel.hpp"

namespace mortise::bench {

// Where a server listens: of `unix://path`, `redis://host:port` or
// `rediss://host:port?tls_ca_file=path`.
struct address {
  explicit address(const std::string& url);
  std::string path;  // empty for TCP
  std::string host;
  std::string ca_file;  // for TLS only
  int port = 6379;
};

// What one plain lock is at the server.
struct plain_lock {
  std::string key;
  std::string token;
};

class reference {
 public:
  explicit reference(const std::string& url);

  // Sends one command and throws if the reply is an error.
  reply_ptr command(std::initializer_list<std::string_view> words);
  // SET NX PX, then compare-and-delete by EVALSHA.
  void pair(const plain_lock& lock);
  // The same for all of these, without TLS: first all acquires in one write, then all releases.
  void pipelined_pairs(const std::vector<plain_lock>& locks);
  // The SHA-1 of the script that compares and deletes, which the server has.
  [[nodiscard]] const std::string& release_script() const { return compare_and_delete_; }
  // A section of INFO.
  std::string info(const char* section);

 private:
  struct free_context {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  reply_ptr ask(int count, const char** words, const std::size_t* lengths);
  void acquire_words(const plain_lock& lock, const char** words, std::size_t* lengths) const;
  void release_words(const plain_lock& lock, const char** words, std::size_t* lengths) const;
  void check(const redisReply* reply, int type) const;

  // One of these two.
  std::unique_ptr<redisContext, free_context> context_;
  std::unique_ptr<tls_channel> tls_;
  std::string compare_and_delete_;  // its SHA-1
};

std::vector<plain_lock> plain_locks(int count);

// The key of this type whose name contains this text; empty when there is none.
std::string find_key(reference& server, std::string_view type, const std::string& part);
// Returns when the queue of a lock has this many waiters at the server; throws after 10 s.
void wait_for_waiters(reference& server, const std::string& lock, std::int64_t count);

// The number that follows `key:` in a text of INFO; 0 when it is not there.
double info_number(const std::string& text, const std::string& key, char separator = ':');

// The server's counters at one moment; the difference of two is what happened between them.
struct server_usage {
  double cpu_us = 0;
  double commands = 0;  // sent by clients: what scripts call is not counted, INFO itself neither

  static server_usage of(reference& connection);
  server_usage operator-(const server_usage& earlier) const {
    return {cpu_us - earlier.cpu_us, commands - earlier.commands};
  }
};

}  // namespace mortise::bench
