#include "deaf_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace mortise::testing {

namespace {

constexpr int most_queued = 64;
// A connection over loopback that is not there after this will not come.
constexpr int hang_ms = 300;

}  // namespace

deaf_port::deaf_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  descriptors_.push_back(listener);
  if (::bind(listener, raw, size) != 0 || ::listen(listener, 0) != 0 ||
      ::getsockname(listener, raw, &size) != 0) {
    throw std::runtime_error("cannot listen on loopback");
  }
  port_ = ntohs(address.sin_port);
  for (int i = 0; i < most_queued; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    descriptors_.push_back(fd);
    if (::connect(fd, raw, size) == 0) continue;
    pollfd connected{fd, POLLOUT, 0};
    if (::poll(&connected, 1, hang_ms) == 0) return;
  }
  throw std::runtime_error("the queue of a port never gets full");
}

deaf_port::~deaf_port() {
  for (const int fd : descriptors_) ::close(fd);
}

}  // namespace mortise::testing
