#include "stream_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness.hpp"
#include "reference.hpp"

namespace mortise::bench {

namespace {

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  require(path.size() < sizeof address.sun_path, path + ": too long for a unix socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace

int connect_to(const std::string& url) {
  const address where(url);
  int fd = -1;
  int result = -1;
  if (!where.path.empty()) {
    const auto target = unix_address(where.path);
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&target), sizeof target);
  } else {
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(static_cast<std::uint16_t>(where.port));
    const auto host = where.host == "localhost" ? "127.0.0.1" : where.host;
    require(::inet_pton(AF_INET, host.c_str(), &target.sin_addr) == 1,
            host + ": give the server's address in digits");
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&target), sizeof target);
  }
  require(result == 0, "connect to " + url + ": " + std::strerror(errno));
  return fd;
}

int listen_on(const std::string& path) {
  const auto own = unix_address(path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
              ::listen(fd, SOMAXCONN) == 0,
          "listen on " + path + ": " + std::strerror(errno));
  return fd;
}

bool send_all(int fd, const char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const auto sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace mortise::bench
