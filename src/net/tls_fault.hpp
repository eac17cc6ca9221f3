// What went wrong with TLS, in words for whoever has to fix it.
#pragma once

#include <string>

#include "net/openssl.hpp"
#include "net/tls_terms.hpp"

namespace mortise::net {

struct tls_fault {
  std::string text;
  const char* remedy = "";   // the end of a sentence, after its ';'
  bool is_definite = false;  // trying again would not help
};

// OpenSSL does not trust the certificate of the server, which should have this name, or one that
// signed it: `refused` is that one, as many steps from the server's as `depth` says. Where memory
// has run out the words are lost.
tls_fault fault_of_verification(const openssl& library, const tls_terms& terms,
                                const std::string& name, const x509_st* refused, int error,
                                int depth) noexcept;
// Whether this is the server's word for why it ended the connection.
bool is_alert(unsigned long error) noexcept;
// OpenSSL gave up, for this reason.
tls_fault fault_of_error(const openssl& library, unsigned long error) noexcept;
// The server closed the connection during the handshake, after an answer or without one.
tls_fault fault_of_end(bool has_answered) noexcept;
// OpenSSL has ended.
tls_fault fault_of_exit() noexcept;
constexpr const char* remedy_silent_refusal =
    "; if the server requires a client's certificate, give one with tls_certificate_file and "
    "tls_key_file";
// It has not answered in time.
constexpr const char* handshake_silence = "no answer in the TLS handshake";
constexpr const char* remedy_handshake =
    "; if the port does not speak TLS, give redis://, or sentinel_tls=off for a Sentinel";

}  // namespace mortise::net
