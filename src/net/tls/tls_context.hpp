// Shared by the TLS connections of one client: its terms, the present certificates and key, and the
// server's last ticket. The ticket makes the next handshake cheaper.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "net/tls/openssl.hpp"
#include "net/tls/tls_files.hpp"
#include "net/tls/tls_terms.hpp"

namespace mortise::net {

class tls_context {
 public:
  // Finds OpenSSL and reads the files.
  static outcome make(tls_terms terms, std::shared_ptr<tls_context>& target);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  // Makes one more connection, never null, to a server with a certificate for `name`. The caller
  // attaches the I/O and frees the connection. Reads the files again, so rotated files need no
  // restart. Unusable files, such as a certificate without its key yet, leave the previous files in
  // force. Only one thread at a time. Throws bad_alloc.
  ssl_st* new_connection(const std::string& name, int (*on_verified)(int, x509_store_ctx_st*),
                         int (*on_ticket)(ssl_st*, ssl_session_st*));
  // Why the present files are not in force; empty if they are.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  // Takes over the ticket, for the next connection to the server of that name. Any thread.
  void keep_ticket(const std::string& name, const ssl_st* connection,
                   ssl_session_st* ticket) noexcept;
  // For a server that ends the handshake instead of ignoring a ticket: stops the use of tickets
  // until the files change. Returns whether there was one.
  bool give_up_tickets() noexcept;

  [[nodiscard]] const openssl& library() const noexcept { return library_; }
  [[nodiscard]] const tls_terms& terms() const noexcept { return terms_; }

 private:
  tls_context(const openssl& library, tls_terms terms) noexcept;
  outcome begin();
  outcome read_files();
  bool drop_ticket(bool uses_others) noexcept;
  void set_expected_name(ssl_st* connection, const std::string& name) const;

  const openssl& library_;
  const tls_terms terms_;
  std::uint64_t fingerprint_ = 0;
  std::string problem_;
  std::mutex mutex_;  // guards the fields below
  ssl_ctx_st* context_ = nullptr;
  ssl_session_st* ticket_ = nullptr;
  std::string ticket_name_;  // the server of the ticket: a shortened handshake verifies nothing
  bool uses_tickets_ = true;
};

}  // namespace mortise::net
