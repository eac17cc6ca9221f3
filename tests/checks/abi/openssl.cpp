// The library declares OpenSSL's functions and numbers itself, without its headers:
// net/openssl_functions.inc and net/openssl.hpp. This program compares them with the headers,
// nearly all at compile time.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <type_traits>

#include "net/tls/openssl.hpp"

// A function of C has the same type with and without our noexcept.
#define FUNCTION(result, name, parameters)                               \
  static_assert(std::is_same_v<decltype(&::name), result(*) parameters>, \
                "OpenSSL declares " #name " differently");
#include "net/tls/openssl_functions.inc"
#undef FUNCTION

namespace number = mortise::net::openssl_number;

static_assert(number::init_no_atexit == OPENSSL_INIT_NO_ATEXIT);
static_assert(number::ctrl_mode == SSL_CTRL_MODE);
static_assert(number::ctrl_session_cache_mode == SSL_CTRL_SET_SESS_CACHE_MODE);
static_assert(number::ctrl_set_server_name == SSL_CTRL_SET_TLSEXT_HOSTNAME);
static_assert(number::ctrl_chain_certificate == SSL_CTRL_CHAIN_CERT);
static_assert(number::ctrl_set_least_version == SSL_CTRL_SET_MIN_PROTO_VERSION);
static_assert(number::tls_1_2 == TLS1_2_VERSION);
static_assert(number::mode_partial_write == SSL_MODE_ENABLE_PARTIAL_WRITE);
static_assert(number::mode_moving_write_buffer == SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
static_assert(number::mode_release_buffers == SSL_MODE_RELEASE_BUFFERS);
static_assert(number::session_cache_client_outside ==
              (SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL));
static_assert(number::option_no_renegotiation == SSL_OP_NO_RENEGOTIATION);
static_assert(number::verify_none == SSL_VERIFY_NONE);
static_assert(number::verify_peer == SSL_VERIFY_PEER);
static_assert(number::check_revocation_of_all ==
              (X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL));
static_assert(number::end_of_pem == ERR_PACK(ERR_LIB_PEM, 0, PEM_R_NO_START_LINE));
static_assert(number::sent_shutdown == SSL_SENT_SHUTDOWN);
static_assert(number::received_shutdown == SSL_RECEIVED_SHUTDOWN);
static_assert(number::bio_source_sink == BIO_TYPE_SOURCE_SINK);
static_assert(number::bio_ctrl_flush == BIO_CTRL_FLUSH);
static_assert(number::bio_retry_read == (BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY));
static_assert(number::bio_retry_write == (BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY));
static_assert(number::bio_retry_any == (BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY));
static_assert(number::common_name == NID_commonName);
static_assert(number::alternative_names == NID_subject_alt_name);
static_assert(number::name_is_dns == GEN_DNS);
static_assert(number::name_is_address == GEN_IPADD);
static_assert(number::library_of_tls == ERR_LIB_SSL);

int main() {
  mortise::outcome why;
  if (mortise::net::openssl::find(why) != nullptr) return 0;
  std::fprintf(stderr, "%s\n", why.message.c_str());
  return 1;
}
