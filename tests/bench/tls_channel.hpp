// A blocking TLS connection as programs have it with a hiredis without TLS: its formatter and its
// reader, and SSL_write and SSL_read between them.
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <string>

#include "reply.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace mortise::bench {

using tls_trust = std::shared_ptr<ssl_ctx_st>;

// The trusted authorities.
tls_trust trust_of(const std::string& ca_file);

class tls_channel {
 public:
  // Connects and shakes hands, and throws when the server is not `host`.
  tls_channel(const tls_trust& trust, const std::string& host, int port);
  ~tls_channel();
  tls_channel(const tls_channel&) = delete;
  tls_channel& operator=(const tls_channel&) = delete;

  // As redisCommandArgv: sends one command and reads its reply; nullptr when the connection ended.
  reply_ptr command(int count, const char** words, const std::size_t* lengths);

 private:
  struct free_reader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };

  std::unique_ptr<redisReader, free_reader> reader_;
  int descriptor_ = -1;
  ssl_st* connection_ = nullptr;
};

}  // namespace mortise::bench
