// Blocking stream sockets, for the parts of the benchmark that are no client of anybody.
#pragma once

#include <string>

namespace mortise::bench {

// Connects to the server of a URL; throws without a listener there.
int connect_to(const std::string& url);
// Listens on a path.
int listen_on(const std::string& path);
// Sends all of it; false when the connection has ended.
bool send_all(int fd, const char* bytes, std::size_t size) noexcept;

}  // namespace mortise::bench
