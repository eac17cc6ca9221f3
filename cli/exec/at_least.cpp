#include "cli/exec/at_least.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "cli/exec/clock.hpp"

namespace mortise::cli::exec {
namespace {

std::vector<int> open_descriptors() {
  std::vector<int> all;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  while (const auto* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') all.push_back(std::atoi(entry->d_name));
  }
  ::closedir(folder);
  return all;
}

// Readers of the caller's pipes wait for their end of file. This program's own descriptors are
// close-on-exec, so all other descriptors are the caller's.
void give_up_descriptors() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int one : open_descriptors()) {
    const int flags = ::fcntl(one, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0) continue;
    if (one <= STDERR_FILENO && nothing >= 0) {
      ::dup2(nothing, one);
    } else {
      ::close(one);
    }
  }
}

void detach() {
  ::setsid();
  // The process must not keep a file system busy.
  static_cast<void>(::chdir("/"));
  give_up_descriptors();
  // This process no longer waits for background processes of the command.
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  ::signal(SIGCHLD, SIG_IGN);
}

int open_end_signals() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int one : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) ::sigaddset(&ends, one);
  return ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

void release_in_background(locks& held, int64_t at_ns) {
  detach();
  timer alarm;
  alarm.set(at_ns);
  std::array<pollfd, 2> seen = {{{alarm.descriptor(), POLLIN, 0}, {open_end_signals(), POLLIN, 0}}};
  // The I/O thread of the library renews during this loop.
  while (now_ns() < at_ns) {
    ::poll(seen.data(), seen.size(), -1);
    if (seen[1].revents != 0) return;
  }
  held.unlock();
}

}  // namespace mortise::cli::exec
