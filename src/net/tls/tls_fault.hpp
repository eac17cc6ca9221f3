// TLS errors, in plain text with a remedy.
#pragma once

#include <string>

#include "net/tls/openssl.hpp"
#include "net/tls/tls_terms.hpp"

namespace mortise::net {

struct tls_fault {
  std::string text;
  const char* remedy = "";   // the end of a sentence, after its ';'
  bool is_definite = false;  // a retry would not help
};

// OpenSSL does not trust the server's certificate for this name, or a certificate that signed it.
// The untrusted one is `refused`, `depth` steps from the server's. The text is lost when memory has
// run out.
tls_fault fault_of_verification(const openssl& library, const tls_terms& terms,
                                const std::string& name, const x509_st* refused, int error,
                                int depth) noexcept;
// Whether the error is the server's alert, its reason to end the connection.
bool is_alert(unsigned long error) noexcept;
// OpenSSL failed with this error.
tls_fault fault_of_error(const openssl& library, unsigned long error) noexcept;
// The server closed the connection during the handshake, after an answer or without one.
tls_fault fault_of_end(bool has_answered) noexcept;
// OpenSSL has ended, because the process exits.
tls_fault fault_of_exit() noexcept;
constexpr const char* remedy_silent_refusal =
    "; if the server requires a client's certificate, give one with tls_certificate_file and "
    "tls_key_file";
// The server did not answer in time.
constexpr const char* handshake_silence = "no answer in the TLS handshake";
constexpr const char* remedy_handshake =
    "; if the port does not speak TLS, give redis://, or sentinel_tls=off for a Sentinel";

}  // namespace mortise::net
