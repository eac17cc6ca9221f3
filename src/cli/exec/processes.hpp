// The processes that run while the lock is held: the command, and all that descend from it.
#pragma once

#include <sys/types.h>

#include <optional>

#include "cli/exec/process_table.hpp"

namespace mortise::cli::exec {

// How long to wait between two looks at processes that were killed.
constexpr int killing_pause_ms = 10;

// How the command has ended, or stopped.
struct state {
  enum class kind { exited, killed, stopped } what;
  int number;  // its exit code, or the signal
};

// Descendants of this process, which adopts the orphans among them from the construction on.
class processes {
 public:
  // Throws a failure if descendants could not be found later.
  processes();

  void set_command(pid_t process) { command_ = process; }
  // A program that may continue. The supervisor of `local:` always may.
  void spare(pid_t process) { spared_ = process; }

  // The next change of the command's state. Waits for other descendants that have ended.
  std::optional<state> look();
  bool is_spared_over() const { return spared_ == 0; }

  void send_to_command(int signal) const;
  void send_to_all(int signal);
  // True only if it is proved that no descendant is left, except those that may continue.
  bool is_gone();

 private:
  process_table table_;
  pid_t command_ = 0;
  pid_t spared_ = 0;
};

}  // namespace mortise::cli::exec
