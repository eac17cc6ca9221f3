// The present contents of the certificates and the key in tls_terms, and OpenSSL's context made of
// them.
#pragma once

#include <cstdint>

#include "base/secret.hpp"
#include "base/status.hpp"
#include "net/tls/openssl.hpp"
#include "net/tls/tls_terms.hpp"

namespace mortise::net {

class tls_files {
 public:
  // Reads all files. An error names the option, the file and the remedy.
  outcome read(const openssl& library, const tls_terms& terms);
  // Unchanged as long as no content has changed. OpenSSL itself reads the folders and the system's
  // file. Of these only inode, size and time count.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  // Checks that the files fit together. The caller frees the context.
  outcome make_context(const openssl& library, const tls_terms& terms, ssl_ctx_st*& target) const;

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
