// The place of one server, as text: redis://, rediss://, unix:// and local:. redis+sentinel://
// names a master of Sentinels, and redis+cluster:// some servers of a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise::redis {

enum class url_scheme : std::uint8_t {
  tcp,
  tls,
  unix_socket,
  local,
  sentinel,
  tls_sentinel,
  cluster,
  tls_cluster,
};

// "redis", "rediss", "unix", "local", "redis+sentinel", "redis+cluster", and these with "rediss".
const char* scheme_text(url_scheme scheme) noexcept;
// Whether connections use TLS.
constexpr bool has_tls(url_scheme scheme) noexcept {
  return scheme == url_scheme::tls || scheme == url_scheme::tls_sentinel ||
         scheme == url_scheme::tls_cluster;
}
constexpr bool has_sentinels(url_scheme scheme) noexcept {
  return scheme == url_scheme::sentinel || scheme == url_scheme::tls_sentinel;
}

constexpr bool has_cluster(url_scheme scheme) noexcept {
  return scheme == url_scheme::cluster || scheme == url_scheme::tls_cluster;
}

struct host_port {
  std::string host;  // an IPv6 address without its brackets
  int port = 0;

  friend bool operator==(const host_port&, const host_port&) = default;
};
// "db.example:6379" or "[::1]:6379".
std::string text_of(const host_port& where);

struct endpoint_url {
  url_scheme scheme = url_scheme::tcp;
  std::string host;  // an IPv6 address without its brackets
  int port = 6379;
  // The Sentinels, and their name for the master. Only with redis+sentinel.
  std::vector<host_port> sentinels;
  std::string master;
  std::string sentinel_user;
  secret sentinel_password;
  std::vector<host_port> cluster;  // some of its servers; only with a cluster
  std::string path;                // of a unix socket
  std::string user;
  secret password;
  std::int64_t db = 0;
  // Identifies the server in a list; empty and 0 unless given.
  std::string shard;
  std::int64_t weight = 0;
  // In order, without `db`, `shard`, `weight`, `sentinel_user` and `sentinel_password`.
  std::vector<std::pair<std::string, std::string>> query;
};

// The place in the URL, in lower case except for the master's name: "host:port", a path, "local:",
// "mymaster of host:port,host:port", or "host:port,host:port".
std::string place_text(const endpoint_url& where);

// redis://[user[:password]@]host[:port][/db][?key=value&…], and the same with rediss:// (TLS)
// unix://[user[:password]@]/path/to.sock[?db=n&key=value…]
// local:[?db=n&key=value…]
// redis+sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/db][?key=value&…],
//   and the same with rediss+sentinel://; the login is for the master.
// redis+cluster://[user[:password]@]host[:port][,host[:port]…][/db][?key=value&…],
//   and the same with rediss+cluster://
// Decodes percent-encoding in every part. A failure leaves `target` unchanged. Messages name the
// part, its value and the remedy, and never show a possible part of a user's name or password.
outcome parse_url(std::string_view url, endpoint_url& target);

}  // namespace mortise::redis
