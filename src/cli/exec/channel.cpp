#include "cli/exec/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace mortise::cli::exec {

channel::~channel() { ::close(descriptor_); }

void channel::tell(word what, int number) const {
  const message one{what, number};
  // If the other is gone, its end is seen elsewhere.
  [[maybe_unused]] const auto sent =
      ::send(descriptor_, &one, sizeof one, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<message> channel::hear() {
  message one;
  const auto size = ::recv(descriptor_, &one, sizeof one, MSG_DONTWAIT);
  if (size == sizeof one) return one;
  if (size == 0 || (errno != EAGAIN && errno != EINTR)) is_closed_ = true;
  return {};
}

}  // namespace mortise::cli::exec
