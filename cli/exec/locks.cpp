#include "cli/exec/locks.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <tuple>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/period.hpp"

namespace mortise::cli::exec {
namespace {

constexpr int64_t queue_capacity = 1024;
// The validity of a hold that was granted by a message, until it is confirmed. See
// mortise_lock_valid_ms.
constexpr int64_t unconfirmed_ms = 3000;
// How far a host's clock may lag behind other hosts at the end of a period.
constexpr int64_t longest_lateness_ms = 60'000;

// From the start of the period.
int64_t longest_turn_ms(int64_t period_ms) {
  return std::min<int64_t>(period_ms + std::min(longest_lateness_ms, period_ms / 2),
                           MORTISE_MAX_MS);
}

std::string utc_text_of(int64_t time_ms) {
  const time_t seconds = time_ms / 1000;
  tm broken_down{};
  ::gmtime_r(&seconds, &broken_down);
  std::array<char, 32> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &broken_down);
  return {text.data(), size};
}

}  // namespace

locks::locks(const plan& request) : wait_ms_(request.wait_ms) {
  if (!error_ || !event_) throw failure(exit_system, "not enough memory");
  if (sets_option(request.url, "release_on_death=on")) {
    throw failure(
        exit_usage,
        "the URL sets release_on_death, but the command may outlive the process that holds "
        "the lock; omit the option");
  }
  client_ = connect(request.url, error_.get());
  options_ = options_of(request);
  queue_.reset(mortise_queue_new(client_.get(), queue_capacity, error_.get()));
  if (!queue_) throw failure(error_.get());
  turn_name_ = request.names.front() + "@";
  if (!request.hold.empty()) {
    hold_ = request.hold;
    held_.emplace(client_.get(), lock_of(hold_, error_.get()), options_.get(), error_.get());
    held_->watch(queue_.get());
    return;
  }
  multi_.reset(mortise_multi_new(client_.get(), error_.get()));
  if (!multi_) throw failure(error_.get());
  for (const auto& name : request.names) add(request, name);
  check_longest_lease(request);
  check(mortise_multi_watch(multi_.get(), queue_.get(), 0, error_.get()));
}

// The URL's options, with those of the command line. A hold lasts as long as the command, which
// this program ends after --at-most. A limit of the library would end the lock of a command that
// cannot be killed.
options_handle locks::options_of(const plan& request) const {
  options_handle options(mortise_options_new_from(client_.get(), error_.get()));
  if (!options) throw failure(error_.get());
  check(mortise_options_set_max_hold_ms(options.get(), MORTISE_FOREVER, error_.get()));
  check(mortise_options_set_renewal(options.get(), 1, error_.get()));
  // An option of the URL is for programs that report by a call.
  check(mortise_options_set_progress_ms(options.get(), request.progress_ms, error_.get()));
  // No later acquire would use a retained claim. A release must be confirmed before this process
  // ends.
  check(mortise_options_set_retain_ms(options.get(), 0, error_.get()));
  const auto set = [&](std::string_view key, std::string_view value) {
    check(mortise_options_set(options.get(), key.data(), key.size(), value.data(), value.size(),
                              error_.get()));
  };
  set(MORTISE_OPTION_RELEASE, "answered");
  set(MORTISE_OPTION_CONTENDED, request.on_contended.empty() ? "off" : "on");
  if (request.lease_ms != 0) {
    check(mortise_options_set_lease_ms(options.get(), request.lease_ms, error_.get()));
  }
  if (!request.label.empty()) {
    check(mortise_options_set_label(options.get(), request.label.data(), request.label.size(),
                                    error_.get()));
  }
  return options;
}

void locks::add(const plan& request, const std::string& name) {
  auto* const client = client_.get();
  auto* const multi = multi_.get();
  auto* const error = error_.get();
  const auto* const options = options_.get();
  switch (request.access) {
    case mode::mutex: {
      auto& lock =
          mutexes_.emplace_back(mortise_lock_new(client, name.data(), name.size(), options, error));
      check(lock ? mortise_multi_add_lock(multi, lock.get(), error) : mortise_error_status(error));
      break;
    }
    case mode::reader:
    case mode::writer: {
      auto& rw =
          rws_.emplace_back(mortise_rw_new(client, name.data(), name.size(), options, error));
      const auto add_to =
          request.access == mode::reader ? mortise_multi_add_reader : mortise_multi_add_writer;
      check(rw ? add_to(multi, rw.get(), error) : mortise_error_status(error));
      break;
    }
    case mode::permit: {
      auto& semaphore = semaphores_.emplace_back(
          mortise_semaphore_new(client, name.data(), name.size(), request.permits, options, error));
      check(semaphore ? mortise_multi_add_semaphore(multi, semaphore.get(), 1, error)
                      : mortise_error_status(error));
      break;
    }
  }
}

// A lease that is too long is refused before the command runs, not after it.
void locks::check_longest_lease(const plan& request) const {
  for (const auto& [option, given_ms, lease_ms] :
       {std::tuple{"--at-least ", request.at_least_ms, request.at_least_ms},
        std::tuple{"--once-per ", request.once_per_ms, longest_turn_ms(request.once_per_ms)}}) {
    if (given_ms == 0 || may_last(lease_ms)) continue;
    throw failure(exit_usage,
                  option + text_of_milliseconds(given_ms) + " needs a lease of " +
                      text_of_milliseconds(lease_ms) +
                      ", and the option quarantine allows only a shorter one; give a shorter time, "
                      "a longer quarantine, or a URL without redlock:");
  }
}

// A handle without a hold checks the lease, and sends no request.
bool locks::may_last(int64_t time_ms) const {
  const int64_t lease_ms = std::max<int64_t>(time_ms, MORTISE_MIN_LEASE_MS);
  auto* const error = error_.get();
  const auto status =
      !mutexes_.empty() ? mortise_lock_extend(mutexes_.front().get(), lease_ms, error)
      : !rws_.empty()   ? mortise_rw_extend(rws_.front().get(), lease_ms, error)
                        : mortise_semaphore_extend(semaphores_.front().get(), lease_ms, error);
  return status != MORTISE_INVALID_ARGUMENT;
}

void locks::check(mortise_status status) const {
  if (status != MORTISE_OK) throw failure(error_.get());
}

std::optional<lock_event> locks::next() {
  if (mortise_queue_next(queue_.get(), 0, event_.get(), error_.get()) != MORTISE_OK) return {};
  return lock_event{mortise_event_kind(event_.get()), mortise_event_status(event_.get()),
                    mortise_event_message(event_.get()), mortise_event_server_text(event_.get())};
}

void locks::start_acquire() {
  if (wait_ms_ == 0) {
    check(mortise_multi_try_async(multi_.get(), queue_.get(), 0, error_.get()));
  } else {
    check(mortise_multi_acquire_async(multi_.get(), queue_.get(), 0, wait_ms_, error_.get()));
  }
}

void locks::check_kinds() const {
  const info_handle info(mortise_info_new());
  if (!info) throw failure(exit_system, "not enough memory");
  const auto check_kind = [this](mortise_status status) {
    if (status != MORTISE_REFUSED) return;
    const failure problem(error_.get());
    if (problem.code() == exit_data) throw problem;
  };
  for (const auto& one : mutexes_) {
    check_kind(mortise_lock_query(one.get(), info.get(), error_.get()));
  }
  for (const auto& one : rws_) check_kind(mortise_rw_query(one.get(), info.get(), error_.get()));
  for (const auto& one : semaphores_) {
    check_kind(mortise_semaphore_query(one.get(), info.get(), error_.get()));
  }
}

void locks::confirm() {
  if (valid_ms() > unconfirmed_ms || held_) return;
  check(mortise_multi_extend(multi_.get(), 0, error_.get()));
}

void locks::adopt() { held_->adopt(hold_); }

std::vector<int64_t> locks::tokens() const {
  if (held_) return {held_->token()};
  std::vector<int64_t> tokens;
  for (const auto& lock : mutexes_) tokens.push_back(mortise_lock_token(lock.get()));
  for (const auto& rw : rws_) tokens.push_back(mortise_rw_token(rw.get()));
  for (const auto& one : semaphores_) tokens.push_back(mortise_semaphore_token(one.get()));
  return tokens;
}

// The turn of a command that hangs ends, too, so that another host runs it in this period.
void locks::note_progress() {
  if (held_) return held_->note_progress();
  mortise_multi_progress(multi_.get(), nullptr);
  if (turn_) mortise_lock_progress(turn_.get(), nullptr);
}

void locks::unlock() {
  if (!held_) return check(mortise_multi_unlock(multi_.get(), error_.get()));
  held_->give_out(0);
}

void locks::release_rest() {
  if (multi_) mortise_multi_unlock(multi_.get(), nullptr);
}

void locks::outlive(int64_t time_ms) {
  check(mortise_multi_extend(multi_.get(), std::max<int64_t>(time_ms, MORTISE_MIN_LEASE_MS),
                             error_.get()));
}

// The name contains the period. So a host whose clock is slightly early or late refers to the same
// period, at any time of the run.
bool locks::take_turn(int64_t now_ms, int64_t period_ms) {
  const int64_t start_ms = now_ms - now_ms % period_ms;
  turn_ends_ms_ = start_ms + longest_turn_ms(period_ms);
  const auto name = turn_name_ + utc_text_of(start_ms) + "/" + text_of_milliseconds(period_ms);
  turn_.reset(
      mortise_lock_new(client_.get(), name.data(), name.size(), options_.get(), error_.get()));
  if (!turn_) throw failure(error_.get());
  const auto status = mortise_lock_try(turn_.get(), error_.get());
  if (status != MORTISE_OK && status != MORTISE_NOT_ACQUIRED) throw failure(error_.get());
  return status == MORTISE_OK;
}

void locks::keep_turn(int64_t now_ms) {
  if (!turn_) return;
  const int64_t rest_ms = std::max<int64_t>(turn_ends_ms_ - now_ms, MORTISE_MIN_LEASE_MS);
  check(mortise_lock_extend(turn_.get(), rest_ms, error_.get()));
}

void locks::release_turn() {
  if (turn_) check(mortise_lock_unlock(turn_.get(), error_.get()));
}

}  // namespace mortise::cli::exec
