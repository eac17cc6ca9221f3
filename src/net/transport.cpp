#include "net/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mortise::net {

namespace {

// A peer that vanished without a word is noticed within half a minute even on an idle connection.
constexpr int keepalive_idle_s = 15;
constexpr int keepalive_interval_s = 5;
constexpr int keepalive_tries = 3;

void set(int descriptor, int level, int option, int value) noexcept {
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

io_result failure(int error) noexcept { return {io_state::failed, 0, error}; }

}  // namespace

socket_transport::~socket_transport() { close(); }

io_result socket_transport::start_connect(const address& where) noexcept {
  close();
  descriptor_ = ::socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return failure(errno);
  if (!where.is_unix()) {
    set(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor_, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPCNT, keepalive_tries);
  }
  if (::connect(descriptor_, where.raw(), where.size()) == 0) return {};
  // An interrupted connect goes on in the background, like one in progress.
  if (errno == EINPROGRESS || errno == EINTR) return {io_state::want_write};
  return failure(errno);
}

io_result socket_transport::finish_connect() noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return failure(errno);
  return error == 0 ? io_result{} : failure(error);
}

io_result socket_transport::send(std::string_view bytes) noexcept {
  for (;;) {
    const auto count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return {io_state::done, static_cast<std::size_t>(count)};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {io_state::want_write};
    return failure(errno);
  }
}

io_result socket_transport::receive(char* into, std::size_t room) noexcept {
  for (;;) {
    const auto count = ::recv(descriptor_, into, room, MSG_DONTWAIT);
    if (count > 0) return {io_state::done, static_cast<std::size_t>(count)};
    if (count == 0) return {io_state::closed};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {io_state::want_read};
    return failure(errno);
  }
}

void socket_transport::finish_sending() noexcept { ::shutdown(descriptor_, SHUT_WR); }

void socket_transport::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::string socket_transport::describe(int error) const { return std::strerror(error); }

}  // namespace mortise::net
