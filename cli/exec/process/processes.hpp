// The processes that run while the lock is held: the command and all its descendants.
#pragma once

#include <sys/types.h>

#include <optional>

#include "cli/exec/process/process_table.hpp"

namespace mortise::cli::exec {

// The interval between two checks of killed processes.
constexpr int killing_pause_ms = 10;

// The end of the command, or its stop, or that it continues after a stop.
struct state {
  enum class kind { exited, killed, stopped, continued } what;
  int number;  // its exit code or signal
};

// Descendants of this process, which adopts orphans from the construction on.
class processes {
 public:
  // Throws a failure if a later search could find no descendants.
  processes();

  void set_command(pid_t process) { command_ = process; }
  // A program that may continue. The supervisor of `local:` always may.
  void spare(pid_t process) { spared_ = process; }

  // The next change of the command's state. Also reaps other descendants.
  std::optional<state> look();
  // The command, as of look().
  bool is_stopped() const { return is_stopped_; }
  bool is_spared_over() const { return spared_ == 0; }

  void send_to_command(int signal) const;
  void send_to_all(int signal);
  // True only if it is proved that no descendants are left, except those that may continue.
  bool is_gone();

 private:
  process_table table_;
  pid_t command_ = 0;
  bool is_stopped_ = false;
  pid_t spared_ = 0;
};

}  // namespace mortise::cli::exec
