// The process of `mortise exec` that its caller sees. It forwards signals, reports the command's
// end, and enforces the deadline if the lock holder does not.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <string>

#include "cli/exec/clock.hpp"
#include "cli/exec/process/channel.hpp"
#include "cli/exec/process/processes.hpp"
#include "cli/exec/process/stderr_writer.hpp"
#include "cli/exec/shared_deadline.hpp"

namespace mortise::cli::exec {

class launcher {
 public:
  // All signals are blocked already. Throws a failure.
  launcher(pid_t lock_holder, const shared_deadline& shared, channel& to_lock_holder);
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  // Returns the exit code. Does not return if a signal ends the process.
  int run();

 private:
  void read_signals();
  void on_signal(int signal, bool is_of_terminal);
  void stop(int signal);
  bool hear();
  bool is_late();
  int do_without_lock_holder();
  void kill_lock_holder() const;
  int end_all(bool is_at_once);
  int finish() const;

  pid_t lock_holder_;
  const shared_deadline& shared_deadline_;
  channel& channel_;
  timer timer_;
  processes processes_;
  stderr_writer messages_;
  int signals_;
  bool is_armed_ = false;    // from then on the command may exist
  bool is_started_ = false;  // the command exists
  int cancelled_by_ = 0;     // the signal before the command's start
  int64_t leaves_at_ns_ = 0;
  message last_;
  sigset_t received_;
};

}  // namespace mortise::cli::exec
