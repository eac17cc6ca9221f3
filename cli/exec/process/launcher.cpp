#include "cli/exec/process/launcher.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

// The time that a lock holder has to give up its place in the queue when asked.
constexpr int64_t longest_farewell_ns = 1000 * ns_per_ms;

// As if the signal were neither blocked nor handled.
void raise_by_default(int signal) {
  struct sigaction usual {};
  struct sigaction before {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, &before);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::sigprocmask(SIG_BLOCK, &one, nullptr);
  ::sigaction(signal, &before, nullptr);
}

bool stops(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

// The terminal sends these to all processes of the foreground group. A hang-up is only for the
// leader of the session, and an alarm is only for this process.
bool is_for_group(int signal) {
  return stops(signal) || signal == SIGINT || signal == SIGQUIT || signal == SIGWINCH ||
         signal == SIGCONT;
}

// As by nohup, or in the background of a shell without job control.
bool is_ignored(int signal) {
  struct sigaction present {};
  return ::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

// Whether this process sent the pending SIGCONT, which is then handled.
bool is_continued_by(pid_t process) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGCONT);
  siginfo_t info{};
  constexpr timespec at_once{};
  return ::sigtimedwait(&one, &info, &at_once) == SIGCONT && info.si_pid == process;
}

bool is_idle_by_default(int signal) {
  return signal == SIGCONT || signal == SIGWINCH || signal == SIGURG;
}

}  // namespace

launcher::launcher(pid_t lock_holder, const shared_deadline& shared, channel& to_lock_holder)
    : lock_holder_(lock_holder), shared_deadline_(shared), channel_(to_lock_holder) {
  ::sigemptyset(&received_);
  sigset_t all;
  ::sigfillset(&all);
  ::sigdelset(&all, SIGCHLD);
  signals_ = ::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    throw failure(exit_system, std::string("cannot open a descriptor: ") + std::strerror(errno));
  }
}

launcher::~launcher() { ::close(signals_); }

int launcher::run() {
  for (;;) {
    std::array<pollfd, 3> seen = {{{channel_.descriptor(), POLLIN, 0},
                                   {signals_, POLLIN, 0},
                                   {timer_.descriptor(), POLLIN, 0}}};
    ::poll(seen.data(), seen.size(), -1);
    read_signals();
    if (hear()) return finish();
    if (channel_.is_closed() || is_late()) return do_without_lock_holder();
  }
}

int launcher::do_without_lock_holder() {
  const bool is_stuck = !channel_.is_closed();
  kill_lock_holder();
  // Without a deadline there is no command: it has not started, or it has ended.
  const bool has_command =
      is_armed_ && shared_deadline_.launcher_at_ns.load(std::memory_order_acquire) != 0;
  if (cancelled_by_ == 0) {
    const std::string_view does = is_armed_ ? (has_command ? "holds" : "releases") : "waits for";
    const std::string_view became = is_stuck ? "hangs" : "was killed";
    const std::string_view so = has_command ? "; ending the command" : "";
    messages_.complain({"the process that ", does, " the lock ", became, so});
  }
  const int code = has_command ? end_all(is_stuck) : int{exit_software};
  return cancelled_by_ == 0 ? code : finish();
}

void launcher::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const auto signal = static_cast<int>(info.ssi_signo);
    // Only for this process.
    if (signal == SIGCONT && static_cast<pid_t>(info.ssi_pid) == lock_holder_) continue;
    on_signal(signal, info.ssi_code == SI_KERNEL && is_for_group(signal));
  }
}

void launcher::on_signal(int signal, bool is_of_terminal) {
  ::sigaddset(&received_, signal);
  if (is_started_) {
    // The command is in our process group, so it has received the terminal's signal.
    if (!is_of_terminal) channel_.tell(word::signal, signal);
    return;
  }
  if (is_ignored(signal)) return;
  if (stops(signal)) {
    // This process is stopped and does not reply to `ready`, so a stopped job does not start its
    // command.
    raise_by_default(signal);
  } else if (!is_idle_by_default(signal) && cancelled_by_ == 0) {
    cancelled_by_ = signal;
    channel_.tell(word::cancel);
    timer_.set(leaves_at_ns_ = now_ns() + longest_farewell_ns);
  }
}

// The shell sees this process stop as if it were the command. If the command continues first, so
// does this process, by a signal of the lock holder.
void launcher::stop(int signal) {
  raise_by_default(signal);
  if (!is_continued_by(lock_holder_)) channel_.tell(word::signal, SIGCONT);
  channel_.tell(word::resumed);
}

// Returns whether the lock holder is done.
bool launcher::hear() {
  while (const auto heard = channel_.hear()) {
    switch (heard->what) {
      case word::ready:
        if (cancelled_by_ != 0) break;
        is_armed_ = true;
        timer_.set(shared_deadline_.launcher_at_ns.load(std::memory_order_acquire));
        channel_.tell(word::go);
        break;
      case word::started:
        is_started_ = true;
        timer_.set(shared_deadline_.launcher_at_ns.load(std::memory_order_acquire));
        // The signal and the grant crossed each other.
        if (cancelled_by_ != 0) channel_.tell(word::signal, cancelled_by_);
        cancelled_by_ = 0;
        break;
      case word::stopped:
        stop(heard->number);
        break;
      case word::ended:
      case word::killed:
        last_ = *heard;
        return true;
      default:
        break;
    }
  }
  return false;
}

bool launcher::is_late() {
  if (cancelled_by_ != 0) return now_ns() >= leaves_at_ns_;
  const int64_t launcher_at_ns = shared_deadline_.launcher_at_ns.load(std::memory_order_acquire);
  if (!is_armed_ || launcher_at_ns == 0) return false;
  timer_.set(launcher_at_ns);
  return now_ns() >= launcher_at_ns;
}

void launcher::kill_lock_holder() const {
  ::kill(lock_holder_, SIGKILL);
  ::waitpid(lock_holder_, nullptr, 0);
}

// This process has adopted the lock holder's descendants (hazard 1).
int launcher::end_all(bool is_at_once) {
  if (!is_at_once) {
    processes_.send_to_all(SIGTERM);
    processes_.send_to_all(SIGCONT);
  }
  const int64_t kill_at_ns =
      is_at_once ? 0 : shared_deadline_.launcher_at_ns.load(std::memory_order_acquire);
  for (;;) {
    while (processes_.look()) {
    }
    if (processes_.is_gone()) return exit_lost;
    if (now_ns() >= kill_at_ns) processes_.send_to_all(SIGKILL);
    ::poll(nullptr, 0, killing_pause_ms);
  }
}

int launcher::finish() const {
  // The signal that ended the command also ends this process, so that shells and service managers
  // see the same result as without mortise.
  const bool is_killed = last_.what == word::killed;
  if (cancelled_by_ != 0) raise_by_default(cancelled_by_);
  if (is_killed && ::sigismember(&received_, last_.number) == 1) raise_by_default(last_.number);
  if (cancelled_by_ != 0) return exit_signal + cancelled_by_;
  return is_killed ? exit_signal + last_.number : last_.number;
}

}  // namespace mortise::cli::exec
