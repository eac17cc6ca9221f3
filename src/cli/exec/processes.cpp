#include "cli/exec/processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exec/tree.hpp"

namespace mortise::cli::exec {

void processes::adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::optional<state> processes::look() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG) != 0 || info.si_pid == 0) return {};
    const bool has_stopped = info.si_code == CLD_STOPPED;
    if (info.si_pid == spared_ && !has_stopped) spared_ = 0;
    if (info.si_pid != command_) continue;
    if (has_stopped) return state{state::kind::stopped, info.si_status};
    command_ = 0;
    const bool has_exited = info.si_code == CLD_EXITED;
    return state{has_exited ? state::kind::exited : state::kind::killed, info.si_status};
  }
}

void processes::send_to_command(int signal) const {
  // Its number is not another's: nobody else waits for it.
  if (command_ != 0) ::kill(command_, signal);
}

void processes::send_to_all(int signal) const {
  const auto is_spared = [this](pid_t one) { return one == spared_ || is_supervisor(one); };
  for (const auto& one : descendants_of(::getpid(), is_spared)) send_to(one, signal);
}

bool processes::is_gone() const {
  const auto is_spared = [this](pid_t one) { return one == spared_ || is_supervisor(one); };
  return descendants_of(::getpid(), is_spared).empty();
}

}  // namespace mortise::cli::exec
