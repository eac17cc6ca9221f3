#include "net/tls/tls_context.hpp"

#include <new>
#include <utility>

#include "net/dial/address.hpp"

namespace mortise::net {

namespace number = openssl_number;

outcome tls_context::make(tls_terms terms, std::shared_ptr<tls_context>& target) {
  outcome why;
  const auto* const library = openssl::find(why);
  if (library == nullptr) return why;
  std::shared_ptr<tls_context> made(new tls_context(*library, std::move(terms)));
  if (auto result = made->begin(); !result.ok()) return result;
  target = std::move(made);
  return {};
}

tls_context::tls_context(const openssl& library, tls_terms terms) noexcept
    : library_(library), terms_(std::move(terms)) {}

tls_context::~tls_context() {
  const openssl_use use;
  if (!use) return;
  library_.SSL_SESSION_free(ticket_);
  library_.SSL_CTX_free(context_);
}

outcome tls_context::begin() {
  const openssl_use use;
  if (use) return read_files();
  return outcome::of(status::unsupported,
                     "scheme: rediss needs OpenSSL, which has ended because this process exits");
}

outcome tls_context::read_files() {
  tls_files now;
  auto result = now.read(library_, terms_);
  if (!result.ok()) return result;
  if (context_ != nullptr && now.fingerprint() == fingerprint_) return {};
  ssl_ctx_st* made = nullptr;
  result = now.make_context(library_, terms_, made);
  if (!result.ok()) return result;
  fingerprint_ = now.fingerprint();
  {
    const std::lock_guard guard(mutex_);
    std::swap(context_, made);
  }
  library_.SSL_CTX_free(made);
  // The ticket would admit servers trusted by the old files, and show the old certificate to the
  // server.
  drop_ticket(true);
  return {};
}

bool tls_context::drop_ticket(bool uses_others) noexcept {
  ssl_session_st* dropped = nullptr;
  {
    const std::lock_guard guard(mutex_);
    std::swap(ticket_, dropped);
    uses_tickets_ = uses_others;
  }
  library_.SSL_SESSION_free(dropped);
  return dropped != nullptr;
}

bool tls_context::give_up_tickets() noexcept { return drop_ticket(false); }

void tls_context::keep_ticket(const std::string& name, const ssl_st* connection,
                              ssl_session_st* ticket) noexcept {
  {
    const std::lock_guard guard(mutex_);
    // The connection may be older than the present files, or lead to another server than the last.
    if (uses_tickets_ && library_.SSL_get_SSL_CTX(connection) == context_ && name == ticket_name_) {
      std::swap(ticket_, ticket);
    }
  }
  library_.SSL_SESSION_free(ticket);
}

void tls_context::set_expected_name(ssl_st* connection, const std::string& name) const {
  address ignored;
  const bool is_address = address::from_literal(name, 0, ignored);
  bool is_set = true;
  if (!is_address) {
    is_set = library_.SSL_ctrl(connection, number::ctrl_set_server_name, 0,
                               const_cast<char*>(name.c_str())) == 1;
  }
  if (is_set && terms_.is_verified) {
    is_set = (is_address ? library_.X509_VERIFY_PARAM_set1_ip_asc(
                               library_.SSL_get0_param(connection), name.c_str())
                         : library_.SSL_set1_host(connection, name.c_str())) == 1;
  }
  // Without the name OpenSSL would verify nothing.
  if (!is_set) throw std::bad_alloc();
}

ssl_st* tls_context::new_connection(const std::string& name,
                                    int (*on_verified)(int, x509_store_ctx_st*),
                                    int (*on_ticket)(ssl_st*, ssl_session_st*)) {
  problem_ = read_files().message;
  if (terms_.is_verified) {
    library_.SSL_CTX_set_verify(context_, number::verify_peer, on_verified);
  } else {
    library_.SSL_CTX_set_verify(context_, number::verify_none, nullptr);
  }
  library_.SSL_CTX_sess_set_new_cb(context_, on_ticket);
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> made(library_.SSL_new(context_), library_.SSL_free);
  if (!made) throw std::bad_alloc();
  set_expected_name(made.get(), name);
  library_.SSL_set_connect_state(made.get());
  ssl_session_st* of_other = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (name != ticket_name_) {
      ticket_name_ = name;
      std::swap(ticket_, of_other);
    }
    if (ticket_ != nullptr) library_.SSL_set_session(made.get(), ticket_);
  }
  library_.SSL_SESSION_free(of_other);
  return made.release();
}

}  // namespace mortise::net
