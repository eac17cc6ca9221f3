#include "cli/exec/process/lock_holder.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/arguments.hpp"
#include "cli/exec/at_least.hpp"
#include "cli/exec/process/token_file.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"

namespace mortise::cli::exec {
namespace {

constexpr int fifo_pause_ms = 100;
// The longest lease beyond --at-least.
constexpr int64_t longest_overrun_ms = 500;

std::string lines_of(const std::vector<int64_t>& tokens) {
  std::string lines;
  for (const auto token : tokens) lines += std::to_string(token) + "\n";
  return lines;
}

}  // namespace

lock_holder::lock_holder(const plan& request, shared_deadline& shared, channel& launcher,
                         const sigset_t& mask, stderr_writer& messages)
    : plan_(request),
      shared_deadline_(shared),
      launcher_(launcher),
      mask_(mask),
      locks_(request),
      messages_(messages) {
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  signals_ = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    throw failure(exit_system, std::string("cannot open a descriptor: ") + std::strerror(errno));
  }
  if (plan_.progress_ms > 0) reports_.emplace();
}

lock_holder::~lock_holder() { ::close(signals_); }

message lock_holder::run() {
  if (!plan_.hold.empty()) {
    locks_.adopt();
  } else if (locks_.start_acquire(); !await_grant()) {
    locks_.close();
    return {word::ended, plan_.conflict_code};
  }
  locks_.confirm();
  acquired_at_ns_ = now_ns();
  if (plan_.once_per_ms > 0 && !locks_.take_turn(calendar_now_ms(), plan_.once_per_ms)) {
    locks_.unlock();
    if (plan_.is_verbose) messages_.complain({"a run of this period of --once-per counts already"});
    return {word::ended, plan_.conflict_code};
  }
  set_limits();
  if (!plan_.token_file.empty()) write_token_file();
  if (!await_go()) {
    // The command has not run, so another run of this period may take the turn.
    locks_.release_turn();
    locks_.unlock();
    return {word::ended, exit_software};
  }
  start();
  watch();
  return give_back();
}

// Whether the lock is held. If another client holds it, the result is false without an error.
bool lock_holder::await_grant() {
  for (;;) {
    wait(-1);
    hear();
    if (launcher_.is_closed()) locks_.cancel();
    const auto seen = locks_.next();
    if (seen) note_contention(*seen);
    if (!seen || seen->what != MORTISE_EVENT_ACQUIRED) continue;
    if (seen->status == MORTISE_OK) return true;
    const int code = exit_code_of(seen->status, seen->server_text);
    if (code != exit_not_acquired) throw failure(code, seen->text);
    locks_.check_kinds();
    if (plan_.is_verbose) messages_.complain({seen->text});
    return false;
  }
}

void lock_holder::set_limits() {
  const int64_t valid_ms = locks_.valid_ms();
  const int64_t longest_ms = longest_grace_ms(valid_ms);
  if (plan_.grace_ms > longest_ms) {
    throw failure(exit_usage, "--grace " + text_of_milliseconds(plan_.grace_ms) +
                                  " leaves no time to renew a lease that is valid for " +
                                  text_of_milliseconds(valid_ms) + "; give at most " +
                                  text_of_milliseconds(longest_ms) + ", or a longer --lease");
  }
  // A short-running command gets most of its time before SIGTERM.
  const int64_t span_ms = plan_.at_most_ms > 0 ? std::min(valid_ms, plan_.at_most_ms) : valid_ms;
  const int64_t usual_ms = std::min(default_grace_ms, longest_grace_ms(span_ms));
  limits_.grace_ms = plan_.grace_ms >= 0 ? plan_.grace_ms : usual_ms;
  limits_.margin_ms = margin_ms_of(span_ms);
  limits_.launcher_margin_ms = margin_ms_of(valid_ms) / 2;
  if (plan_.at_most_ms > 0) limits_.at_most_ns = acquired_at_ns_ + plan_.at_most_ms * ns_per_ms;
  refresh_ns_ = valid_ms * ns_per_ms / 10;
}

// Waits for the reader of a FIFO.
void lock_holder::write_token_file() {
  token_file file(plan_.token_file);
  while (!file.open()) {
    wait(fifo_pause_ms);
    hear();
    check_before_start();
    if (is_cancelled_ || launcher_.is_closed()) return;
  }
  file.write(lines_of(locks_.tokens()));
}

variables lock_holder::variables_of_command() const {
  const auto tokens = locks_.tokens();
  variables more = {{"MORTISE_NAME", plan_.names.front()},
                    {"MORTISE_TOKEN", std::to_string(tokens.front())}};
  if (tokens.size() == 1) {
    // Those of an outer mortise exec are of other locks.
    more.emplace_back("MORTISE_NAMES", std::nullopt);
    more.emplace_back("MORTISE_TOKENS", std::nullopt);
  } else {
    std::string names;
    for (const auto& name : plan_.names) names += name + "\n";
    more.emplace_back("MORTISE_NAMES", names);
    more.emplace_back("MORTISE_TOKENS", lines_of(tokens));
  }
  if (reports_) more.emplace_back("MORTISE_PROGRESS", reports_->path());
  // The password is for mortise, and environments end up in logs and in reports of crashes.
  const char* const url = std::getenv(url_variable);
  if (url != nullptr && !plan_.passes_url && has_password(url)) {
    more.emplace_back(url_variable, std::nullopt);
  }
  return more;
}

bool lock_holder::is_time_over() const {
  return limits_.at_most_ns != 0 && now_ns() >= limits_.at_most_ns;
}

// Reads the events of the hold. Throws a failure if the command must no longer be started.
void lock_holder::check_before_start() {
  while (const auto seen = locks_.next()) note_contention(*seen);
  if (is_time_over()) {
    throw failure(exit_at_most,
                  "--at-most was over before the command was started; raise --at-most");
  }
  if (locks_.valid_ms() > 0) return;
  const bool is_lost = locks_.valid_until_ns() == 0;
  throw failure(exit_lost,
                is_lost ? "the lock was lost before the command was started"
                        : "acks: the server of the lock has changed, and its replicas did not "
                          "acknowledge the lock before the command was started");
}

// The launcher watches the deadline before the command exists. So the command ends in time even if
// this process is killed or stopped while it starts the command (hazard 1). A stopped launcher does
// not reply. Returns false if the command must not be started.
bool lock_holder::await_go() {
  if (!is_cancelled_) launcher_.tell(word::ready);
  for (;;) {
    publish_deadlines();
    hear();
    check_before_start();
    if (is_cancelled_ || launcher_.is_closed()) return false;
    if (may_start_) return true;
    wait(-1);
  }
}

// The start counts as a report, because the command could not report before.
void lock_holder::start() {
  note_progress();
  processes_.set_command(start_program(plan_.command, variables_of_command(), mask_));
  has_started_ = true;
  launcher_.tell(word::started);
  report_contention();
}

void lock_holder::watch() {
  for (;;) {
    look_at_command();
    if (is_over()) return;
    const bool is_ending = cause_ != cause::none && !is_gone_;
    wait(is_ending || is_launcher_to_continue() ? killing_pause_ms : -1);
    hear();
    take_reports();
    read_news();
    look_at_time();
    if (launcher_.is_closed()) end_command(cause::launcher_gone, "the launcher was killed");
  }
}

void lock_holder::look_at_command() {
  while (const auto seen = processes_.look()) {
    if (seen->what == state::kind::stopped) {
      launcher_.tell(word::stopped, seen->number);
      ++stops_of_launcher_;
    } else if (seen->what != state::kind::continued) {
      ended_ = seen;
    }
  }
  if (is_launcher_to_continue()) ::kill(::getppid(), SIGCONT);
}

// A signal before the launcher stops has no effect, so the signal is repeated until it replies.
bool lock_holder::is_launcher_to_continue() const {
  return stops_of_launcher_ > 0 && !processes_.is_stopped() && !launcher_.is_closed();
}

void lock_holder::continue_launcher() {
  while (is_launcher_to_continue()) {
    ::kill(::getppid(), SIGCONT);
    ::poll(nullptr, 0, killing_pause_ms);
    hear();
  }
}

// Without a cause only the command has to end. With a cause, all its descendants have to end, too.
bool lock_holder::is_over() {
  if (cause_ == cause::none) {
    if (ended_) shared_deadline_.launcher_at_ns.store(0, std::memory_order_release);
    return ended_.has_value();
  }
  const bool is_killing = now_ns() >= kill_at_ns_;
  if (is_killing) processes_.send_to_all(SIGKILL);
  is_gone_ = processes_.is_gone();
  // The program of --on-lost may continue. A process that cannot be killed is no sign that this
  // process hangs.
  if (is_gone_) {
    shared_deadline_.launcher_at_ns.store(0, std::memory_order_release);
  } else if (is_killing) {
    shared_deadline_.launcher_at_ns.store(
        launcher_at_ns_while_killing(now_ns(), shared_deadline_.launcher_at_ns.load()),
        std::memory_order_release);
  }
  return is_gone_ && processes_.is_spared_over();
}

void lock_holder::wait(int timeout_ms) {
  // The launcher's end is detected once; a closed socket always polls as readable.
  const int launcher = launcher_.is_closed() ? -1 : launcher_.descriptor();
  const int reports = reports_ ? reports_->descriptor() : -1;
  std::array<pollfd, 5> seen = {{{launcher, POLLIN, 0},
                                 {locks_.descriptor(), POLLIN, 0},
                                 {signals_, POLLIN, 0},
                                 {timer_.descriptor(), POLLIN, 0},
                                 {reports, POLLIN, 0}}};
  ::poll(seen.data(), seen.size(), timeout_ms);
  signalfd_siginfo end{};
  while (::read(signals_, &end, sizeof end) > 0) {
  }
}

void lock_holder::hear() {
  while (const auto heard = launcher_.hear()) {
    switch (heard->what) {
      case word::signal:
        processes_.send_to_command(heard->number);
        break;
      case word::cancel:
        is_cancelled_ = true;
        locks_.cancel();
        break;
      case word::resumed:
        --stops_of_launcher_;
        break;
      case word::go:
        may_start_ = true;
        break;
      default:
        break;
    }
  }
}

void lock_holder::note_progress() {
  reported_at_ns_ = now_ns();
  locks_.note_progress();
}

// A command that is being ended is no longer protected for longer.
void lock_holder::take_reports() {
  if (reports_ && reports_->take() && cause_ == cause::none) note_progress();
}

void lock_holder::read_news() {
  while (const auto seen = locks_.next()) {
    note_contention(*seen);
    if (seen->what != MORTISE_EVENT_LOST) continue;
    is_lost_ = true;
    end_command(cause::lost, seen->text.c_str());
  }
  report_contention();
}

deadlines lock_holder::publish_deadlines() {
  const int64_t valid_until_ns = locks_.valid_until_ns();
  const auto until = deadlines_of(valid_until_ns, limits_);
  // After a loss, end_command() sets the deadline: the launcher would take this one for missed.
  if (valid_until_ns == 0) return until;
  shared_deadline_.launcher_at_ns.store(until.launcher_at_ns, std::memory_order_release);
  timer_.set(std::min(until.term_at_ns, now_ns() + refresh_ns_));
  return until;
}

void lock_holder::look_at_time() {
  if (cause_ != cause::none) {
    if (now_ns() < kill_at_ns_) {
      timer_.set(kill_at_ns_);
    } else {
      timer_.clear();
    }
    return;
  }
  if (now_ns() < publish_deadlines().term_at_ns) return;
  if (limits_.at_most_ns != 0 && limits_.at_most_ns <= locks_.valid_until_ns()) {
    return end_command(cause::at_most, "--at-most is over");
  }
  // Unread events contain the cause of the loss. Only the first cause is reported.
  read_news();
  end_command(cause::lost, text_of_end());
}

const char* lock_holder::text_of_end() const {
  return is_stalled() ? "the command has reported no --progress in time"
                      : "the lock could not be renewed in time";
}

bool lock_holder::is_stalled() const {
  return plan_.progress_ms > 0 && now_ns() >= reported_at_ns_ + plan_.progress_ms * ns_per_ms;
}

// Asks the command to end. The grace time ends before the lease does. Signals come first, and no
// message blocks (hazard 1).
void lock_holder::end_command(cause why, const char* text) {
  if (cause_ != cause::none) return;
  cause_ = why == cause::lost && is_stalled() ? cause::stalled : why;
  // The library may know of the loss before its event is read.
  const auto until = deadlines_from(now_ns(), is_lost_ ? 0 : locks_.valid_until_ns(), limits_);
  kill_at_ns_ = until.kill_at_ns;
  shared_deadline_.launcher_at_ns.store(until.launcher_at_ns, std::memory_order_release);
  timer_.set(kill_at_ns_);
  processes_.send_to_all(SIGTERM);
  // A stopped process handles SIGTERM after SIGCONT.
  processes_.send_to_all(SIGCONT);
  messages_.complain({text, "; ending \"", plan_.command.front(), "\""});
  if (why == cause::lost && !plan_.on_lost.empty()) {
    processes_.spare(run_next_to_command("--on-lost", plan_.on_lost));
  }
}

// 0 if no process could be started.
pid_t lock_holder::run_next_to_command(const char* option, const std::string& text) {
  try {
    return start_program({"/bin/sh", "-c", text}, variables_of_command(), mask_);
  } catch (const failure& problem) {
    messages_.complain({option, ": ", problem.what()});
    return 0;
  }
}

void lock_holder::note_contention(const lock_event& seen) {
  const bool is_first = contention_ == contention::none;
  if (is_first && seen.what == MORTISE_EVENT_CONTENDED) contention_ = contention::seen;
}

// Once for each hold, while the command runs. The text ends with all other descendants at a loss.
void lock_holder::report_contention() {
  if (contention_ != contention::seen || cause_ != cause::none) return;
  contention_ = contention::reported;
  run_next_to_command("--on-contended", plan_.on_contended);
}

// The turn of a command that hangs is for another host. A failure does not keep the lock.
void lock_holder::end_turn() {
  try {
    if (cause_ == cause::stalled || (plan_.counts_success_only && !has_succeeded())) {
      locks_.release_turn();
    } else {
      locks_.keep_turn(calendar_now_ms());
    }
  } catch (const failure& problem) {
    messages_.complain({problem.what()});
  }
}

message lock_holder::give_back() {
  // First the turn, because a waiter for the lock takes it next.
  end_turn();
  // With acks, a hold that waits for replicas is not valid, and not lost.
  if (is_lost_ || locks_.valid_until_ns() == 0) {
    locks_.release_rest();
    return {word::ended, cause_ == cause::at_most ? exit_at_most : exit_lost};
  }
  try {
    const int64_t until_ns = acquired_at_ns_ + plan_.at_least_ms * ns_per_ms;
    if (until_ns > now_ns()) {
      keep_at_least(until_ns);
    } else {
      locks_.unlock();
    }
  } catch (const failure& problem) {
    // The command has run, so its result counts. The lock ends with its lease.
    messages_.complain({problem.what()});
  }
  return ending();
}

// The lease lasts for the rest even if this process is killed. A lease cannot be shortened, so a
// long lease ends by a release.
void lock_holder::keep_at_least(int64_t until_ns) {
  const int64_t rest_ms = (until_ns - now_ns()) / ns_per_ms + 1;
  locks_.outlive(rest_ms);
  if (locks_.valid_ms() > rest_ms + longest_overrun_ms) kept_until_ns_ = until_ns;
}

void lock_holder::keep_rest() {
  if (kept_until_ns_ != 0) release_in_background(locks_, kept_until_ns_);
}

bool lock_holder::has_succeeded() const {
  return cause_ == cause::none && ended_ && ended_->what == state::kind::exited &&
         ended_->number == 0;
}

message lock_holder::ending() const {
  if (cause_ == cause::lost || cause_ == cause::stalled) return {word::ended, exit_lost};
  if (cause_ == cause::at_most) return {word::ended, exit_at_most};
  if (!ended_) return {word::ended, exit_software};
  const bool has_exited = ended_->what == state::kind::exited;
  return {has_exited ? word::ended : word::killed, ended_->number};
}

}  // namespace mortise::cli::exec
