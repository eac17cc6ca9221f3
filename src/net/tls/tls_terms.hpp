// The TLS settings of a URL and its options.
#pragma once

#include <string>

namespace mortise::net {

struct tls_terms {
  // The name or address that the server's certificate must have; empty if each connection gives its
  // own.
  std::string name;
  std::string ca_file;           // the authorities; without a folder too, the system's
  std::string ca_folder;         // the same, as files named by `openssl rehash`
  std::string certificate_file;  // of the client; empty for none
  std::string key_file;
  bool is_verified = true;
};

}  // namespace mortise::net
