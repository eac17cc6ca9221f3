// What a URL and its options say of TLS.
#pragma once

#include <string>

namespace mortise::net {

struct tls_terms {
  // That the server's certificate has to have: a name or an address; empty where each connection
  // says its own.
  std::string name;
  std::string ca_file;           // who signs servers; with no folder either, the system's
  std::string ca_folder;         // the same, as files named by `openssl rehash`
  std::string certificate_file;  // of the client; empty: it has none
  std::string key_file;
  bool is_verified = true;
};

}  // namespace mortise::net
