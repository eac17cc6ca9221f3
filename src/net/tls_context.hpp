// What the TLS connections of one client have in common: its terms, the certificates and the key of
// now, and the server's last ticket, by which the next handshake costs less.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "net/openssl.hpp"
#include "net/tls_files.hpp"
#include "net/tls_terms.hpp"

namespace mortise::net {

class tls_context {
 public:
  // Finds OpenSSL and reads the files.
  static outcome make(tls_terms terms, std::shared_ptr<tls_context>& into);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  // For one more connection, to whoever has a certificate for `name`, of which the caller sets the
  // way and which it frees; never null. Reads the files again: who rotates them restarts nothing.
  // What cannot be used, such as a certificate whose key has not come yet, leaves those of before
  // in force. Only one thread at a time. Throws bad_alloc.
  ssl_st* new_connection(const std::string& name, int (*on_verified)(int, x509_store_ctx_st*),
                         int (*on_ticket)(ssl_st*, ssl_session_st*));
  // Why what the files say now is not in force; empty where it is.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  // Keeps the ticket for the next connection to the server of that name, and its owner is this from
  // now on. Any thread.
  void keep_ticket(const std::string& name, const ssl_st* from, ssl_session_st* ticket) noexcept;
  // For a server that ends the handshake where it should ignore a ticket: none is used any more,
  // until the files change. Whether there was one.
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
  std::mutex mutex_;  // of what follows
  ssl_ctx_st* context_ = nullptr;
  ssl_session_st* ticket_ = nullptr;
  std::string ticket_name_;  // whose it is: a shortened handshake verifies nothing
  bool uses_tickets_ = true;
};

}  // namespace mortise::net
