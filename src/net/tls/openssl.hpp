// OpenSSL 3 as a table of functions. It is loaded at the first use of TLS, so only programs with
// TLS need it. Neither the library nor its dependencies name it (MORTISE_TLS=load). A fully static
// program cannot load a library, so it links OpenSSL (MORTISE_TLS=link), and the table has the
// linked functions. OpenSSL is never unloaded. Nothing that a host program may also use is changed:
// no global setting, no handler at exit.
//
// The types are OpenSSL's own, which are opaque, so none of its headers is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/status.hpp"

struct GENERAL_NAME_st;
struct X509_VERIFY_PARAM_st;
struct X509_crl_st;
struct X509_name_st;
struct asn1_string_st;
struct bio_method_st;
struct bio_st;
struct evp_pkey_st;
struct ossl_init_settings_st;
struct ssl_ctx_st;
struct ssl_method_st;
struct ssl_session_st;
struct ssl_st;
struct stack_st;
struct stack_st_GENERAL_NAME;
struct x509_st;
struct x509_store_ctx_st;
struct x509_store_st;

namespace mortise::net {

struct openssl {
  // nullptr without OpenSSL; `why` then has the reason.
  static const openssl* find(outcome& why);
  // The OpenSSL that was found. For code that owns an object of OpenSSL.
  static const openssl& found() noexcept;
  // For an ending thread of the library: frees OpenSSL's memory of the thread. Otherwise OpenSSL
  // would do so later. Then a child of fork may find OpenSSL's own lock locked, or OpenSSL may free
  // the same memory at exit.
  static void end_thread() noexcept;

// NOLINTNEXTLINE(bugprone-macro-parentheses): a type, not a value.
#define FUNCTION(result, name, parameters) result(*name) parameters = nullptr;
#include "net/tls/openssl_functions.inc"
#undef FUNCTION
};

// The library's threads continue while the process exits. If the program began to use OpenSSL
// first, OpenSSL then frees the memory that they use. So OpenSSL's functions are called only during
// a use that is true. A fork also waits until there is no use. So a use must not wait for anything,
// and uses do not nest.
class openssl_use {
 public:
  openssl_use() noexcept;
  ~openssl_use();
  openssl_use(const openssl_use&) = delete;
  openssl_use& operator=(const openssl_use&) = delete;
  explicit operator bool() const noexcept { return is_there_; }

 private:
  const bool is_there_;
};

// The numbers of OpenSSL's macros.
namespace openssl_number {
constexpr std::uint64_t init_no_atexit = 0x00080000;
constexpr int ctrl_mode = 33;
constexpr int ctrl_session_cache_mode = 44;
constexpr int ctrl_set_server_name = 55;
constexpr int ctrl_chain_certificate = 89;
constexpr int ctrl_set_least_version = 123;
constexpr int tls_1_2 = 0x0303;
constexpr long mode_partial_write = 1;
constexpr long mode_moving_write_buffer = 2;
constexpr long mode_release_buffers = 16;
constexpr long session_cache_client_outside = 1 | 0x300;
constexpr std::uint64_t option_no_renegotiation = std::uint64_t{1} << 30U;
constexpr int verify_none = 0;
constexpr int verify_peer = 1;
constexpr unsigned long check_revocation_of_all = 4 | 8;
constexpr unsigned long end_of_pem = 9UL << 23U | 108;
constexpr int sent_shutdown = 1;
constexpr int received_shutdown = 2;
constexpr int bio_source_sink = 0x0400;
constexpr int bio_ctrl_flush = 11;
constexpr int bio_retry_read = 1 | 8;
constexpr int bio_retry_write = 2 | 8;
constexpr int bio_retry_any = 1 | 2 | 4 | 8;
constexpr int common_name = 13;
constexpr int alternative_names = 85;
constexpr int name_is_dns = 2;
constexpr int name_is_address = 7;
constexpr unsigned long library_of_tls = 20;
}  // namespace openssl_number

}  // namespace mortise::net
