// The processes that run while the lock is held: the command, and all that descend from it.
#pragma once

#include <sys/types.h>

#include <optional>

namespace mortise::cli::exec {

// What is killed is gone a little later; then it is looked again.
constexpr int killing_pause_ms = 10;

// How the command has ended, or stopped.
struct state {
  enum class kind { exited, killed, stopped } what;
  int number;  // its exit code, or the signal
};

// Descendants of this process, which adopts the orphans among them.
class processes {
 public:
  // From now on orphans come to us instead of to the first process of the machine.
  static void adopt_orphans();

  // `spared` is a program that may go on, or 0; the supervisor of `local:` always may.
  explicit processes(pid_t command = 0, pid_t spared = 0) : command_(command), spared_(spared) {}
  void spare(pid_t process) { spared_ = process; }

  // What is new of the command. Others that have ended are waited for on the way.
  std::optional<state> look();
  // Of the one that is spared.
  bool is_spared_over() const { return spared_ == 0; }

  void send_to_command(int signal) const;
  void send_to_all(int signal) const;
  bool is_gone() const;

 private:
  pid_t command_;
  pid_t spared_;
};

}  // namespace mortise::cli::exec
