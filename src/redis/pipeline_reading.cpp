// Reading: the part of pipeline that carries out the decisions of leader_followers.
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <utility>

#include "net/threads/futex.hpp"
#include "net/threads/thread.hpp"
#include "net/threads/wake_scope.hpp"
#include "redis/pipeline.hpp"
#include "redis/resp/error_text.hpp"
#include "redis/resp/server_error.hpp"

namespace mortise::redis {

bool pipeline::await(net::caller& caller, time_ns deadline) noexcept {
  if (!caller.leads_early() && caller.settle()) return true;
  lock_type lock(mutex_);
  for (;;) {
    if (lead_.is_to_lead(caller, situation())) {
      if (take_lead(lock, caller, deadline)) return caller.settle();
      continue;  // no request of its own is open, or the connection broke
    }
    if (net::leader_followers::has_open(caller, situation()) && lead_.follow(caller))
      update_interest();
    if (!caller.begin_sleep() || sleep(lock, caller, deadline)) break;
  }
  leave(lock, caller);
  return caller.settle();
}

bool pipeline::take_lead(lock_type& lock, net::caller& caller, time_ns deadline) noexcept {
  const net::wake_scope together;
  lead(lock, caller, deadline);
  pass_lead(lock, &caller);
  if (caller.settle() || boot_now() >= deadline) return true;
  lock.lock();
  return false;
}

bool pipeline::sleep(lock_type& lock, net::caller& caller, time_ns deadline) noexcept {
  lock.unlock();
  caller.sleep(deadline);
  const bool is_over = caller.settle() || boot_now() >= deadline;
  lock.lock();
  return is_over;
}

void pipeline::leave(lock_type& lock, net::caller& caller) noexcept {
  lead_.unfollow(caller);
  if (lead_.is_chosen(caller)) return pass_lead(lock, nullptr);  // chosen too late
  lock.unlock();
}

// The end of a rest, after which its thread sends nothing until it returns.
void pipeline::expect_messages(int change) noexcept {
  const lock_type lock(mutex_);
  if (!lead_.expect_messages(change)) return;
  update_interest();
  if (!sender_.is_empty() && !std::exchange(is_flush_posted_, true)) loop_.post(flush_task_);
}

// The reader's own fields may be read by the reader, or while there is no reader.
net::leader_followers::situation pipeline::situation(bool is_by_reader) const noexcept {
  net::leader_followers::situation now;
  now.is_alive = is_alive();
  now.has_output = !sender_.is_empty();
  now.submitted = submitted_;
  now.answered = replies_.answered();
  if (is_by_reader || lead_.is_free()) {
    const request* oldest =
        replies_.oldest() != nullptr ? replies_.oldest() : submitted_list_.first();
    now.is_calm =
        !sender_.is_finishing() && !sender_.is_stalled() && read_wait_ == net::io_state::want_read;
    now.is_next_awaited = oldest != nullptr && oldest->is_for_callers_;
  }
  return now;
}

void pipeline::lead(lock_type& lock, net::caller& caller, time_ns deadline) noexcept {
  const bool is_early = lead_.begin(caller, ::pthread_self(), situation());
  update_interest();
  if (!caller.begin_leading(kick_fd_)) return;
  if (!sender_.is_empty()) send_output(lock);
  const time_ns request_ns = caller.request_time(is_early);
  for (bool is_first = true;
       !is_broken_ && net::leader_followers::has_open(caller, situation(true)); is_first = false) {
    const bool is_alone = !lead_.has_followers();
    replies_.expect(submitted_list_);  // saves the reader a call of take_submitted()
    lock.unlock();
    net::wake_scope::flush();
    const bool may_nap = is_first && net::caller::may_nap(request_ns, deadline);
    const bool is_in_time =
        (is_alone && spin(request_ns, deadline)) || wait_for_input(deadline, may_nap);
    lock.lock();
    sender_.resume(net::io_state::want_read);
    if (!sender_.is_empty()) send_output(lock);
    if (!is_in_time || !caller.is_leading()) break;
  }
  if (request_ns > 0 && !net::leader_followers::has_open(caller, situation(true))) {
    spin_.note_reply(request_ns, received_ns_.load(std::memory_order_relaxed));
  }
  caller.end_leading();
}

// Chooses the next reader, and unlocks.
void pipeline::pass_lead(lock_type& lock, const net::caller* before) noexcept {
  const auto after = lead_.pass(before, situation(true));
  const auto* const sleeper = after.next == nullptr ? nullptr : after.next->address();
  if (after.look_after_ns > 0) loop_.schedule(rest_timer_, boot_now() + after.look_after_ns);
  if (!lead_.is_resting()) update_interest();
  post_teardown_when_free();
  lock.unlock();
  if (sleeper != nullptr) net::futex_wake_one(sleeper);
}

void pipeline::look_at_rest(time_ns now) noexcept {
  lock_type lock(mutex_);
  const bool was_resting = lead_.is_resting();
  const time_ns again_ns = lead_.look_at_rest();
  if (again_ns > 0) return loop_.schedule(rest_timer_, now + again_ns);
  if (!was_resting) return;
  update_interest();
  if (!sender_.is_empty()) send_output(lock);
}

// Looks for input without sleeping. True when it has read something.
bool pipeline::spin(time_ns request_ns, time_ns deadline) noexcept {
  if (!spin_.is_due(request_ns)) return false;
  time_ns now = boot_now();
  if (spin_.needs_cores(now)) spin_.note_cores(net::usable_cores(), now);
  if (!spin_.begin(request_ns, now)) return false;
  while (!read()) {
    now = boot_now();
    if (now >= deadline || !spin_.may_continue(now)) return false;
  }
  return true;
}

// Sleeps until there is input, and reads it. Returns false after the deadline, but still reads
// available input: a thread that lost its core then returns the outcome instead of "unknown".
bool pipeline::wait_for_input(time_ns deadline, bool may_nap) noexcept {
  // Most replies come soon. finish() does not interrupt a nap, but a nap is short.
  if (may_nap && read(true)) return true;
  const time_ns left = std::min(deadline - boot_now(), net::longest_sleep_ns);
  if (left <= 0) {
    read();
    return false;
  }
  const timespec timeout{static_cast<std::time_t>(left / ns_per_s),
                         static_cast<long>(left % ns_per_s)};
  const short events = read_wait_ == net::io_state::want_write ? POLLOUT : POLLIN;
  pollfd waits[] = {{transport_->descriptor(), events, 0}, {kick_fd_, POLLIN, 0}};
  if (::ppoll(waits, 2, &timeout, nullptr) <= 0) return true;  // the caller looks again
  if (waits[1].revents != 0) {
    std::uint64_t ignored = 0;
    [[maybe_unused]] const auto count = ::read(kick_fd_, &ignored, sizeof ignored);
  }
  if (waits[0].revents != 0) read();
  return true;
}

void pipeline::on_ready(std::uint32_t events) noexcept {
  lock_type lock(mutex_);
  if (!transport_) return;
  if (is_broken_) return unwatch();
  const bool has_ended = (events & (EPOLLHUP | EPOLLERR)) != 0;
  const bool is_writable = (events & EPOLLOUT) != 0 || has_ended;
  const bool is_readable = (events & EPOLLIN) != 0 || has_ended;
  if ((is_writable && sender_.resume(net::io_state::want_write)) ||
      (is_readable && sender_.resume(net::io_state::want_read))) {
    send_output(lock);
  }
  if (lead_.is_caller()) {
    // epoll reports the end in any case, and the leader notices it too. So stop watching until the
    // leader passes the lead.
    return has_ended ? unwatch() : update_interest();
  }
  const bool is_due = read_wait_ == net::io_state::want_write ? is_writable : is_readable;
  if (is_broken_ || !is_due) return update_interest();
  lead_.begin_io_thread(::pthread_self());
  lock.unlock();
  const net::wake_scope together;
  read();
  lock.lock();
  if (!sender_.is_empty()) send_output(lock);
  pass_lead(lock, nullptr);
}

// The transport's receive, after making room. An end or failure breaks off the connection.
net::io_result pipeline::receive(reading mode) noexcept {
  try {
    replies_.make_room();
  } catch (const std::bad_alloc&) {
    break_off(outcome::of(status::no_memory, "cannot read a reply: out of memory"));
    return {net::io_state::failed};
  }
  auto* const buffer = replies_.tail();
  const auto room = replies_.room();
  const auto result = mode == reading::held  ? transport_->receive_held(buffer, room)
                      : mode == reading::nap ? transport_->receive_or_nap(buffer, room)
                                             : transport_->receive(buffer, room);
  if (result.state == net::io_state::closed) {
    break_off(outcome::of(status::unreachable, "the server closed the connection"));
  } else if (result.state == net::io_state::failed) {
    auto why =
        outcome::of(status::unreachable, "receiving failed: ", transport_->describe(result.error));
    why.is_retryable = !transport_->advise(result.error).is_definite;
    break_off(std::move(why));
  } else if (result.state != net::io_state::done) {
    read_wait_ = result.state;
  }
  return result;
}

// Receives and processes the available input. True when there was any.
bool pipeline::read(bool may_nap) noexcept {
  // Bounds one call: an endless stream would otherwise block deadlines and timers. The descriptor
  // stays readable for the rest, except for bytes that the transport holds.
  constexpr std::size_t enough = 256 * std::size_t{1024};
  std::size_t received = 0;
  for (auto mode = may_nap ? reading::nap : reading::at_once;;) {
    const auto result = receive(mode);
    if (result.state != net::io_state::done) return received > 0;
    received += result.bytes;
    const bool is_all = result.bytes < replies_.room();
    const time_ns now = boot_now();
    received_ns_.store(now, std::memory_order_relaxed);
    if (!replies_.take(result.bytes, now)) {
      break_off(replies_.problem());
      return true;
    }
    mode = received < enough ? reading::at_once : reading::held;
    if (mode == reading::at_once && is_all) return true;
    // More input waits. Requests that the replies submitted should not wait for all of it.
    lock_type lock(mutex_);
    if (!sender_.is_empty()) send_output(lock);
  }
}

// This request, and those with replies already received, learn that they were not carried out. The
// fate of all others is unknown.
void pipeline::on_error(const request& item, std::string_view text) noexcept {
  const auto* const unfit = unfitness_of(text);
  if (unfit == nullptr || (config_.is_of_cluster && unfit->is_of_slot)) return;
  auto why = outcome::of(status::refused, unfit->message);
  why.is_retryable = true;
  why.cause = unfit->summary;
  why.server_text = without_secrets(text, item.says);
  break_off(std::move(why));
}

request_list pipeline::take_submitted() noexcept {
  const lock_type lock(mutex_);
  return std::exchange(submitted_list_, {});
}

}  // namespace mortise::redis
