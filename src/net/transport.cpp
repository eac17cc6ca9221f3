#include "net/transport.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/system/private_descriptors.hpp"

namespace mortise::net {

namespace {

// A peer that vanished silently is noticed within half a minute, even on an idle connection.
constexpr int keepalive_idle_s = 15;
constexpr int keepalive_interval_s = 5;
constexpr int keepalive_tries = 3;
// The kernel rounds this up to its ticks.
constexpr int nap_us = 2000;
// An error of this file, besides those of the system.
constexpr int wrong_peer = -1;

void set(int descriptor, int level, int option, int value) noexcept {
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

io_result failure(int error) noexcept { return {io_state::failed, 0, error}; }

}  // namespace

advice transport::advise(int error) const noexcept {
  switch (error) {
    case ECONNREFUSED:
      return {"; start the server or correct the URL", false};
    case ENOENT:
      return {"; no server has created this socket: start it or correct the path in the URL",
              false};
    case EACCES:
    case EPERM:
      return {"; let this user write to the socket (unixsocketperm) or run as another user", true};
    case EMFILE:
    case ENFILE:
      return {"; raise the limit on open files (ulimit -n)", true};
    default:
      return {"; check the URL, the network and that the server is running", error == EAFNOSUPPORT};
  }
}

socket_transport::~socket_transport() { close(); }

io_result socket_transport::start_connect(const address& where) noexcept {
  close();
  descriptor_ =
      keep_private(::socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (descriptor_ < 0) return failure(errno);
  if (!where.is_unix()) {
    set(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor_, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
    set(descriptor_, IPPROTO_TCP, TCP_KEEPCNT, keepalive_tries);
  }
  if (::connect(descriptor_, where.raw(), where.size()) == 0) return note_connected();
  // An interrupted connect continues in the background, like one in progress.
  if (errno == EINPROGRESS || errno == EINTR) return {io_state::want_write};
  return failure(errno);
}

io_result socket_transport::finish_connect() noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return failure(errno);
  return error == 0 ? note_connected() : failure(error);
}

// The kernel notes the user when the server begins to listen.
io_result socket_transport::check_peer() noexcept {
  ucred found{};
  socklen_t size = sizeof found;
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return failure(errno);
  if (found.uid == *peer_) return {};
  std::snprintf(other_peer_.data(), other_peer_.size(),
                "user %u listens there instead of peer_user (%u)", found.uid, *peer_);
  return failure(wrong_peer);
}

// From here on only receive_or_nap sleeps, and not for long. All other calls use MSG_DONTWAIT.
io_result socket_transport::note_connected() noexcept {
  const timeval nap{0, nap_us};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &nap, sizeof nap);
  const int flags = ::fcntl(descriptor_, F_GETFL);
  ::fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK);
  return peer_ ? check_peer() : io_result();
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

io_result socket_transport::receive(char* buffer, std::size_t room) noexcept {
  return receive_with(buffer, room, MSG_DONTWAIT);
}

io_result socket_transport::receive_or_nap(char* buffer, std::size_t room) noexcept {
  return receive_with(buffer, room, 0);
}

io_result socket_transport::receive_with(char* buffer, std::size_t room, int flags) noexcept {
  const auto count = ::recv(descriptor_, buffer, room, flags);
  if (count > 0) return {io_state::done, static_cast<std::size_t>(count)};
  if (count == 0) return {io_state::closed};
  // An interrupted receive is retried like one without input: the caller reads the clock in
  // between.
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {io_state::want_read};
  return failure(errno);
}

void socket_transport::finish_sending() noexcept { ::shutdown(descriptor_, SHUT_WR); }

void socket_transport::close() noexcept {
  close_private(descriptor_);
  descriptor_ = -1;
}

const char* socket_transport::describe(int error) const noexcept {
  if (error == wrong_peer) return other_peer_.data();
  return error == ETIMEDOUT ? "no answer" : std::strerror(error);
}

advice socket_transport::advise(int error) const noexcept {
  if (error != wrong_peer) return transport::advise(error);
  return {"; find out which program that is, or correct peer_user", true};
}

}  // namespace mortise::net
