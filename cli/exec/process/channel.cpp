#include "cli/exec/process/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace mortise::cli::exec {

channel::~channel() { ::close(descriptor_); }

void channel::tell(word what, int number) const {
  const message one{what, number};
  // Ignores a closed channel: poll() detects the end of the other process.
  [[maybe_unused]] const auto sent =
      ::send(descriptor_, &one, sizeof one, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<message> channel::hear() {
  for (;;) {
    message one;
    const auto size = ::recv(descriptor_, &one, sizeof one, MSG_DONTWAIT);
    if (size == sizeof one) return one;
    // The other process ended before it read all messages. Its own messages are still readable.
    const bool is_reset = size < 0 && errno == ECONNRESET;
    if (is_reset || (size < 0 && errno == EINTR)) continue;
    if (size == 0 || errno != EAGAIN) is_closed_ = true;
    return {};
  }
}

}  // namespace mortise::cli::exec
