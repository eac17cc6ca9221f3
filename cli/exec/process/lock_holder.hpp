// The process of `mortise exec` that holds the lock and runs the command.
#pragma once

#include <signal.h>

#include <memory>
#include <optional>

#include "cli/exec/clock.hpp"
#include "cli/exec/deadlines.hpp"
#include "cli/exec/locks.hpp"
#include "cli/exec/plan.hpp"
#include "cli/exec/process/channel.hpp"
#include "cli/exec/process/processes.hpp"
#include "cli/exec/process/program.hpp"
#include "cli/exec/process/progress_pipe.hpp"
#include "cli/exec/process/stderr_writer.hpp"
#include "cli/exec/shared_deadline.hpp"

namespace mortise::cli::exec {

class lock_holder {
 public:
  // `mask` is the signal mask of the command. Throws a failure.
  lock_holder(const plan& request, shared_deadline& shared, channel& launcher, const sigset_t& mask,
              stderr_writer& messages);
  ~lock_holder();
  lock_holder(const lock_holder&) = delete;
  lock_holder& operator=(const lock_holder&) = delete;

  // Acquires, runs the command, and releases. Returns the message for the launcher. Throws a
  // failure.
  message run();
  // Call after run() and after the message to the launcher. Holds the lock until --at-least is
  // over, if its lease would last longer. Throws a failure.
  void keep_rest();
  // Call after the message to the launcher: a stopped launcher reads it, and exits.
  void continue_launcher();
  // If run() throws after the command's start, the lock must not be released.
  bool has_started() const { return has_started_; }

 private:
  // Why mortise ends the command.
  enum class cause { none, lost, stalled, at_most, launcher_gone };
  // Whether others wait, and whether --on-contended was run for them.
  enum class contention { none, seen, reported };

  bool await_grant();
  void set_limits();
  void write_token_file();
  variables variables_of_command() const;
  bool is_time_over() const;
  void check_before_start();
  bool await_go();
  void start();
  deadlines publish_deadlines();
  void watch();
  void look_at_command();
  bool is_launcher_to_continue() const;
  bool is_over();
  void wait(int timeout_ms);
  void hear();
  void read_news();
  void note_progress();
  void take_reports();
  const char* text_of_end() const;
  bool is_stalled() const;
  void look_at_time();
  void end_command(cause why, const char* text);
  pid_t run_next_to_command(const char* option, const std::string& text);
  void note_contention(const lock_event& seen);
  void report_contention();
  void end_turn();
  message give_back();
  void keep_at_least(int64_t until_ns);
  bool has_succeeded() const;
  message ending() const;

  const plan& plan_;
  shared_deadline& shared_deadline_;
  channel& launcher_;
  sigset_t mask_;
  locks locks_;
  timer timer_;
  int signals_;  // SIGCHLD, as a descriptor
  processes processes_;
  std::optional<progress_pipe> reports_;  // none without --progress
  stderr_writer& messages_;
  limits limits_;
  int64_t acquired_at_ns_ = 0;
  int64_t reported_at_ns_ = 0;  // the last progress
  int64_t refresh_ns_ = 0;      // interval between readings of the deadline
  int64_t kill_at_ns_ = 0;
  int64_t kept_until_ns_ = 0;  // 0: no lock is left to release
  int stops_of_launcher_ = 0;  // it stops with the command, and then has to continue
  bool is_cancelled_ = false;
  bool may_start_ = false;
  bool has_started_ = false;
  bool is_lost_ = false;
  bool is_gone_ = false;  // all processes that had to end have ended
  cause cause_ = cause::none;
  contention contention_ = contention::none;
  std::optional<state> ended_;
};

}  // namespace mortise::cli::exec
