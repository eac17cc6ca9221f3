// Where one server is, as text: redis://, rediss://, unix:// and local:.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise::redis {

enum class url_scheme : std::uint8_t { tcp, tls, unix_socket, local };

// "redis", "rediss", "unix", "local".
const char* scheme_text(url_scheme scheme) noexcept;

struct endpoint_url {
  url_scheme scheme = url_scheme::tcp;
  std::string host;  // an IPv6 address without its brackets
  int port = 6379;
  std::string path;  // of a unix socket
  std::string user;
  secret password;
  std::int64_t db = 0;
  // What it is among others of a list; empty and 0 unless given.
  std::string shard;
  std::int64_t weight = 0;
  // In order, without `db`, `shard` and `weight`.
  std::vector<std::pair<std::string, std::string>> query;
};

// Its place as the URL says it, in small letters: "host:port", a path, or "local:".
std::string place_text(const endpoint_url& where);

// redis://[user[:password]@]host[:port][/db][?key=value&…], and the same with rediss:// (TLS)
// unix://[user[:password]@]/path/to.sock[?db=n&key=value…]
// local:[?db=n&key=value…]
// Undoes percent-encoding in every part. On failure `into` is as it was. Messages name the part,
// its value and the mend, and never show what may be part of a user's name or password.
outcome parse_url(std::string_view url, endpoint_url& into);

}  // namespace mortise::redis
