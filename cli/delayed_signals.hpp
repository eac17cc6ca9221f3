// The signals that end a process, delayed while it has a hold that no other process could continue
// or release.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mortise::cli {

class delayed_signals {
 public:
  // An ignored signal, as with nohup, has no effect later either.
  delayed_signals() {
    ::sigemptyset(&signals_);
    for (const int one : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
      struct sigaction present {};
      ::sigaction(one, nullptr, &present);
      if (present.sa_handler != SIG_IGN) ::sigaddset(&signals_, one);
    }
    // The threads of the library block all signals.
    ::sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
  }
  // A signal that has arrived meanwhile now ends the process.
  ~delayed_signals() { ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }
  delayed_signals(const delayed_signals&) = delete;
  delayed_signals& operator=(const delayed_signals&) = delete;

  // Waits until a write to this file does not block. Returns false, with errno, if a signal arrives
  // before.
  bool await_room(int file) const {
    const int signals = ::signalfd(-1, &signals_, SFD_CLOEXEC);
    std::array<pollfd, 2> seen = {{{file, POLLOUT, 0}, {signals, POLLIN, 0}}};
    while (::poll(seen.data(), seen.size(), -1) < 0 && errno == EINTR) {
    }
    if (signals >= 0) ::close(signals);
    if (seen[0].revents != 0) return true;
    errno = EINTR;
    return false;
  }

 private:
  sigset_t signals_{};
  sigset_t mask_before_{};
};

}  // namespace mortise::cli
