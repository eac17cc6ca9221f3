// Where a client connects to, as text: redis://, unix:// and local:.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace mortise::redis {

enum class url_scheme : std::uint8_t { tcp, unix_socket, local };

struct endpoint_url {
  url_scheme scheme = url_scheme::tcp;
  std::string host;
  int port = 6379;
  std::string path;  // of a unix socket
  std::string user;
  std::string password;
  std::int64_t db = 0;
  std::vector<std::pair<std::string, std::string>> query;  // without `db`
};

// Undoes percent-encoding in every part. Messages never show the password.
outcome parse_url(std::string_view url, endpoint_url& into);

}  // namespace mortise::redis
