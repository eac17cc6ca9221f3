// The certificates and the key that tls_terms name, as they are now, and OpenSSL's context made of
// them.
#pragma once

#include <cstdint>

#include "base/secret.hpp"
#include "base/status.hpp"
#include "net/openssl.hpp"
#include "net/tls_terms.hpp"

namespace mortise::net {

class tls_files {
 public:
  // Reads them all. What fails names the option, the file and the remedy.
  outcome read(const openssl& library, const tls_terms& terms);
  // The same as long as nothing in them has changed; of what OpenSSL reads by itself, the folders
  // and the system's file, as long as they look the same from outside.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  // Checks that they go together. The caller frees the context.
  outcome make_context(const openssl& library, const tls_terms& terms, ssl_ctx_st*& into) const;

 private:
  class builder;

  secret authorities_;
  secret certificate_;
  secret key_;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t system_look_ = 0;  // of the system's authorities
  bool folder_has_revocations_ = false;
};

}  // namespace mortise::net
