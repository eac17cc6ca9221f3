#include "tls_channel.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "harness.hpp"

namespace mortise::bench {

namespace {

// How much hiredis reads at once.
constexpr int read_size = 16 * 1024;

int connected(const std::string& host, int port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  require(::inet_pton(AF_INET, host.c_str(), &where.sin_addr) == 1, host + " is no address");
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(::connect(descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0,
          "cannot connect to " + host);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

}  // namespace

tls_trust trust_of(const std::string& ca_file) {
  tls_trust trust(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  require(SSL_CTX_load_verify_locations(trust.get(), ca_file.c_str(), nullptr) == 1,
          ca_file + " cannot be used");
  SSL_CTX_set_verify(trust.get(), SSL_VERIFY_PEER, nullptr);
  return trust;
}

tls_channel::tls_channel(const tls_trust& trust, const std::string& host, int port)
    : reader_(redisReaderCreate()),
      descriptor_(connected(host, port)),
      connection_(SSL_new(trust.get())) {
  X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection_), host.c_str());
  SSL_set_fd(connection_, descriptor_);
  require(SSL_connect(connection_) == 1, "OpenSSL's handshake failed");
}

tls_channel::~tls_channel() {
  SSL_free(connection_);
  ::close(descriptor_);
}

reply_ptr tls_channel::command(int count, const char** words, const std::size_t* lengths) {
  char* text = nullptr;
  const int size = redisFormatCommandArgv(&text, count, words, lengths);
  const int sent = SSL_write(connection_, text, size);
  redisFreeCommand(text);
  if (sent != size) return nullptr;
  void* reply = nullptr;
  while (reply == nullptr) {
    char bytes[read_size];
    const int received = SSL_read(connection_, bytes, sizeof bytes);
    if (received <= 0) return nullptr;
    redisReaderFeed(reader_.get(), bytes, static_cast<std::size_t>(received));
    if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) return nullptr;
  }
  return reply_ptr(static_cast<redisReply*>(reply));
}

}  // namespace mortise::bench
