#include "cli/exec/keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"

namespace mortise::cli::exec {
namespace {

std::string lines_of(const std::vector<int64_t>& tokens) {
  std::string lines;
  for (const auto token : tokens) lines += std::to_string(token) + "\n";
  return lines;
}

// Of the end of a command that could not be told from its outcome.
failure cannot_write(const std::string& file, int problem) {
  return {exit_cannot_create, "--token-file \"" + file + "\": " + std::strerror(problem) +
                                  "; the command was not started"};
}

}  // namespace

keeper::keeper(const plan& wanted, page& shared, channel& front, const sigset_t& mask)
    : plan_(wanted), page_(shared), front_(front), mask_(mask), locks_(wanted) {
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  signals_ = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    throw failure(exit_system, std::string("no descriptor is to be had: ") + std::strerror(errno));
  }
}

keeper::~keeper() { ::close(signals_); }

message keeper::run() {
  locks_.start_acquire();
  if (!await_grant()) {
    locks_.close();
    return {word::ended, plan_.conflict_code};
  }
  locks_.confirm();
  acquired_at_ns_ = now_ns();
  if (plan_.once_per_ms > 0 && !locks_.take_turn(calendar_now_ms(), plan_.once_per_ms)) {
    locks_.unlock();
    return {word::ended, plan_.conflict_code};
  }
  set_limits();
  await_resumption();
  if (!plan_.token_file.empty()) write_token_file();
  start();
  watch();
  return give_back();
}

// Whether the lock is ours; if not because somebody else has it, that is an answer, too.
bool keeper::await_grant() {
  for (;;) {
    wait(-1);
    hear();
    if (front_.is_closed()) locks_.cancel();
    const auto seen = locks_.next();
    if (!seen || seen->what != MORTISE_EVENT_ACQUIRED) continue;
    if (seen->status == MORTISE_OK) return true;
    const bool has_another = exit_code_of(seen->status) == exit_not_acquired;
    if (!has_another) throw failure(exit_code_of(seen->status), seen->text);
    if (plan_.is_verbose) complain("exec", seen->text);
    return false;
  }
}

// Whoever stops a job that waits does not want it to begin.
void keeper::await_resumption() {
  while (is_paused_ && !front_.is_closed()) {
    wait(-1);
    hear();
    while (locks_.next()) {
    }
  }
  if (locks_.valid_ms() == 0) {
    throw failure(exit_lost, "the lock was lost before the command was started");
  }
}

void keeper::set_limits() {
  const int64_t valid_ms = locks_.valid_ms();
  const int64_t longest_ms = longest_grace_ms(valid_ms);
  if (plan_.grace_ms > longest_ms) {
    throw failure(exit_usage, "--grace " + text_of_milliseconds(plan_.grace_ms) +
                                  " leaves no time to renew a lease of which " +
                                  text_of_milliseconds(valid_ms) + " are safe; give at most " +
                                  text_of_milliseconds(longest_ms) + ", or a longer --lease");
  }
  // A command that may not run for long has most of that before it is asked to end.
  const int64_t span_ms = plan_.at_most_ms > 0 ? std::min(valid_ms, plan_.at_most_ms) : valid_ms;
  const int64_t usual_ms = std::min(default_grace_ms, longest_grace_ms(span_ms));
  limits_.grace_ms = plan_.grace_ms >= 0 ? plan_.grace_ms : usual_ms;
  limits_.margin_ms = margin_ms_of(span_ms);
  if (plan_.at_most_ms > 0) limits_.at_most_ns = acquired_at_ns_ + plan_.at_most_ms * ns_per_ms;
  refresh_ns_ = valid_ms * ns_per_ms / 10;
}

void keeper::write_token_file() const {
  const auto& file = plan_.token_file;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw cannot_write(file, errno);
  const auto lines = lines_of(locks_.tokens());
  const bool is_written =
      ::write(descriptor, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
  const int problem = is_written ? 0 : errno;
  // Some file systems say only then that they are full.
  if (::close(descriptor) != 0) throw cannot_write(file, errno);
  if (!is_written) throw cannot_write(file, problem == 0 ? ENOSPC : problem);
}

variables keeper::variables_of_command() const {
  const auto tokens = locks_.tokens();
  variables more = {{"MORTISE_NAME", plan_.names.front()},
                    {"MORTISE_TOKEN", std::to_string(tokens.front())}};
  if (tokens.size() > 1) {
    std::string names;
    for (const auto& name : plan_.names) names += name + "\n";
    more.emplace_back("MORTISE_NAMES", names);
    more.emplace_back("MORTISE_TOKENS", lines_of(tokens));
  }
  return more;
}

// The deadline is known to the front before the command runs.
void keeper::start() {
  if (front_.is_closed()) throw failure(exit_software, "mortise was killed");
  processes::adopt_orphans();
  look_at_time();
  processes_ = processes(start_program(plan_.command, variables_of_command(), mask_));
  front_.tell(word::started);
}

void keeper::watch() {
  for (;;) {
    look_at_command();
    if (is_over()) return;
    wait(cause_ == cause::none || is_gone_ ? -1 : killing_pause_ms);
    hear();
    read_news();
    look_at_time();
    if (front_.is_closed()) end_command(cause::front_gone, "mortise was killed");
  }
}

void keeper::look_at_command() {
  while (const auto seen = processes_.look()) {
    if (seen->what == state::kind::stopped) {
      front_.tell(word::stopped, seen->number);
    } else {
      ended_ = seen;
    }
  }
}

// By itself the command alone has to end; when it has to, all that descend from it, too.
bool keeper::is_over() {
  if (cause_ == cause::none) return ended_.has_value();
  if (now_ns() >= kill_at_ns_) processes_.send_to_all(SIGKILL);
  is_gone_ = processes_.is_gone();
  return is_gone_ && processes_.is_spared_over();
}

void keeper::wait(int timeout_ms) {
  // The front's end is seen once; a closed socket is readable for ever.
  const int front = front_.is_closed() ? -1 : front_.descriptor();
  std::array<pollfd, 4> seen = {{{front, POLLIN, 0},
                                 {locks_.descriptor(), POLLIN, 0},
                                 {signals_, POLLIN, 0},
                                 {timer_.descriptor(), POLLIN, 0}}};
  ::poll(seen.data(), seen.size(), timeout_ms);
  signalfd_siginfo end{};
  while (::read(signals_, &end, sizeof end) > 0) {
  }
}

void keeper::hear() {
  while (const auto heard = front_.hear()) {
    switch (heard->what) {
      case word::signal:
        processes_.send_to_command(heard->number);
        break;
      case word::cancel:
        locks_.cancel();
        break;
      case word::pause:
        is_paused_ = true;
        break;
      case word::resume:
        is_paused_ = false;
        break;
      default:
        break;
    }
  }
}

void keeper::read_news() {
  while (const auto seen = locks_.next()) {
    if (seen->what != MORTISE_EVENT_LOST) continue;
    is_lost_ = true;
    end_command(cause::lost, seen->text);
  }
}

void keeper::look_at_time() {
  const int64_t now = now_ns();
  const int64_t valid_until_ns = locks_.valid_until_ns();
  const auto until = deadlines_of(valid_until_ns, limits_);
  if (cause_ == cause::none) {
    page_.front_at_ns.store(until.front_at_ns, std::memory_order_release);
    timer_.set(std::min(until.term_at_ns, now + refresh_ns_));
    const bool is_time = limits_.at_most_ns != 0 && limits_.at_most_ns <= valid_until_ns;
    if (now < until.term_at_ns) return;
    if (is_time) {
      end_command(cause::at_most, "the time of --at-most is over");
    } else {
      // It may have been lost since the news were read; these say why, and only the first is told.
      read_news();
      end_command(cause::lost, "the lock could not be renewed in time");
    }
  } else if (now < kill_at_ns_) {
    timer_.set(kill_at_ns_);
  } else {
    timer_.clear();
  }
}

// Asks it to end. It has until the lease is nearly over; if it is over already, as long as ever.
void keeper::end_command(cause why, const std::string& text) {
  if (cause_ != cause::none) return;
  cause_ = why;
  const int64_t now = now_ns();
  const int64_t grace_at_ns = now + limits_.grace_ms * ns_per_ms;
  kill_at_ns_ = grace_at_ns;
  if (!is_lost_)
    kill_at_ns_ = std::min(grace_at_ns, deadlines_of(locks_.valid_until_ns(), limits_).kill_at_ns);
  page_.front_at_ns.store(kill_at_ns_ + limits_.margin_ms * ns_per_ms / 2,
                          std::memory_order_release);
  timer_.set(kill_at_ns_);
  complain("exec", text + ": \"" + plan_.command.front() + "\" has to end");
  if (why == cause::lost && !plan_.on_lost.empty()) {
    try {
      processes_.spare(
          start_program({"/bin/sh", "-c", plan_.on_lost}, variables_of_command(), mask_));
    } catch (const failure& problem) {
      complain("exec", std::string("--on-lost ") + problem.what());
    }
  }
  processes_.send_to_all(SIGTERM);
  // What is stopped could not take it.
  processes_.send_to_all(SIGCONT);
}

message keeper::give_back() {
  page_.front_at_ns.store(0, std::memory_order_release);
  try {
    locks_.keep_turn(calendar_now_ms());
    if (is_lost_ || locks_.valid_ms() == 0) return {word::ended, exit_lost};
    const int64_t held_ms = (now_ns() - acquired_at_ns_) / ns_per_ms;
    if (plan_.at_least_ms > held_ms) {
      locks_.outlive(plan_.at_least_ms - held_ms);
    } else {
      locks_.unlock();
    }
  } catch (const failure& problem) {
    // The command has run, and its outcome is what counts: the lock ends with its lease.
    complain("exec", problem.what());
  }
  return ending();
}

message keeper::ending() const {
  if (cause_ == cause::lost) return {word::ended, exit_lost};
  if (cause_ == cause::at_most) return {word::ended, exit_at_most};
  if (!ended_) return {word::ended, exit_software};
  const bool has_exited = ended_->what == state::kind::exited;
  return {has_exited ? word::ended : word::killed, ended_->number};
}

}  // namespace mortise::cli::exec
