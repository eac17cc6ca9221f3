#include "cli/exec/process/processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {

processes::processes() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    throw failure(exit_system,
                  std::string("cannot adopt orphaned processes: ") + std::strerror(errno));
  }
}

std::optional<state> processes::look() {
  for (;;) {
    siginfo_t info{};
    constexpr int changes = WEXITED | WSTOPPED | WCONTINUED | WNOHANG;
    if (::waitid(P_ALL, 0, &info, changes) != 0 || info.si_pid == 0) return {};
    const bool has_stopped = info.si_code == CLD_STOPPED;
    const bool has_continued = info.si_code == CLD_CONTINUED;
    if (info.si_pid == spared_ && !has_stopped && !has_continued) spared_ = 0;
    if (info.si_pid != command_) continue;
    is_stopped_ = has_stopped;
    if (has_stopped) return state{state::kind::stopped, info.si_status};
    if (has_continued) return state{state::kind::continued, info.si_status};
    command_ = 0;
    const bool has_exited = info.si_code == CLD_EXITED;
    return state{has_exited ? state::kind::exited : state::kind::killed, info.si_status};
  }
}

void processes::send_to_command(int signal) const {
  // The number is not reused until waitpid().
  if (command_ != 0) ::kill(command_, signal);
}

void processes::send_to_all(int signal) {
  // An incomplete list may lack the command (hazard 1).
  if (!table_.signal_descendants(spared_, signal).is_whole) send_to_command(signal);
}

// An unreadable list proves nothing (hazard 1). Without children there are no descendants: this
// process adopts each orphan.
bool processes::is_gone() {
  siginfo_t info{};
  const bool has_children = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (!has_children && errno == ECHILD) return true;
  const auto found = table_.signal_descendants(spared_, 0);
  return found.is_whole && found.has_spared && !found.has_others;
}

}  // namespace mortise::cli::exec
