#include "deployment/requests/command_request.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/refusal.hpp"

namespace mortise::deployment {

namespace {

// The interval of checks whether the caller still needs the reply.
constexpr time_ns check_interval_ns = 10 * ns_per_ms;

// Waits until the deadline, or until the caller no longer needs the reply. Returns false then.
template <class Wait>
bool wait_while_needed(const protocol::command& command, time_ns deadline, Wait&& wait) {
  if (!command.is_dispensable) return wait(deadline);
  for (;;) {
    const auto soon = std::min(deadline, boot_now() + check_interval_ns);
    if (wait(soon)) return true;
    if (soon == deadline || command.is_dispensable()) return false;
  }
}

}  // namespace

outcome command_request::ask(redis::connection& server, const protocol::command& command,
                             time_ns deadline) {
  outcome unanswered;  // after an unsuccessful attempt
  for (bool with_text = false;;) {
    const auto turns = server.turns();
    auto [result, is_script_missing, is_repeatable] =
        ask_once(server, command, with_text, deadline);
    with_text = is_script_missing;
    if (with_text) continue;
    if (!is_repeatable || result.code == status::closed) return result;
    if (result.code == status::unknown) unanswered = result;
    const auto next_turn = [&](time_ns end) { return server.await_turn(turns, end); };
    if (wait_while_needed(command, deadline, next_turn)) continue;
    const auto problem = server.last_problem();
    if (unanswered.ok()) return problem.ok() ? result : problem;
    unanswered.say(unanswered.message, "; ", problem.message);
    return unanswered;
  }
}

command_request::answer command_request::ask_once(redis::connection& server,
                                                  const protocol::command& command, bool with_text,
                                                  time_ns deadline) {
  const auto request = std::make_shared<command_request>(server, command, with_text);
  auto result = request->await(command, deadline);
  return {std::move(result), request->is_script_missing_, request->is_repeatable_};
}

command_request::command_request(redis::connection& server, const protocol::command& command,
                                 bool with_text)
    : server_(server), is_change_(command.is_change), login_(command.says), read_(command.read) {
  says = login_.get();
  if (says != nullptr) reply_count = 2;
  command.write(bytes_, with_text);
}

// The command may contain a password.
command_request::~command_request() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

status command_request::submit(redis::flush flush) noexcept {
  self_ = shared_from_this();
  const auto submitted = server_.commands().submit(*this, bytes_, flush);
  if (submitted != status::ok) self_.reset();
  return submitted;
}

void command_request::send() noexcept {
  if (is_open_.exchange(true)) return;
  if (submit(redis::flush::by_io_thread) != status::ok) is_open_ = false;
}

outcome command_request::await(const protocol::command& command, time_ns deadline) {
  caller = &caller_;
  const auto submitted = submit(redis::flush::before_await);
  if (submitted != status::ok) {
    is_repeatable_ = submitted == status::unreachable;
    auto problem = server_.last_problem();
    if (!problem.ok()) return problem;
    if (submitted == status::limit) return outcome::of(submitted, "too many requests are open");
    return outcome::of(submitted);
  }
  const auto reply = [&](time_ns end) { return server_.commands().await(caller_, end); };
  if (!wait_while_needed(command, deadline, reply)) {
    const std::lock_guard guard(mutex_);
    if (!is_over_) {
      is_given_up_ = true;
      auto result = outcome::of(status::unknown, "the server did not answer in time");
      result.is_retryable = true;
      result.is_ambiguous = is_change_;
      return result;
    }
  }
  return result_;
}

void command_request::on_reply(const redis::value& reply, time_ns /*now*/) noexcept {
  {
    const std::lock_guard guard(mutex_);
    try {
      if (!is_given_up_) read(reply);
    } catch (...) {
      result_.code = status::no_memory;
    }
    is_over_ = true;
  }
  end();
}

void command_request::read(const redis::value& reply) {
  is_script_missing_ = reply.is_error() && reply.text().starts_with("NOSCRIPT");
  if (is_script_missing_) return;
  if (reply.is_error()) {
    const auto error = protocol::read_error(reply.text());
    is_repeatable_ = error.what == lock::answer::unsent;
    result_ = error.details;
    if (login_) login_->hide_in(result_);
    server_.hide_login(result_);
    result_.is_ambiguous = result_.is_ambiguous && is_change_;
    // A read-only command with an unfinished script has changed nothing.
    if (!is_change_ && redis::find_missing_right(reply.text())) result_.code = status::refused;
  } else if (read_) {
    read_(reply);
  }
}

void command_request::on_broken(bool was_sent) noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_over_ = true;
    if (!is_given_up_) {
      result_ = outcome::of(was_sent ? status::unknown : status::unreachable,
                            "the connection broke before the answer");
      result_.is_retryable = true;
      result_.is_ambiguous = was_sent && is_change_;
      is_repeatable_ = !result_.is_ambiguous;
    }
  }
  end();
}

void command_request::end() noexcept {
  const auto keep = std::move(self_);
  is_open_ = false;
  caller_.finish();
}

}  // namespace mortise::deployment
