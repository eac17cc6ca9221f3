// Who reads: the part of pipeline that passes the lead between callers and the I/O thread.
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "net/futex.hpp"
#include "net/wake_scope.hpp"
#include "redis/pipeline.hpp"

namespace mortise::redis {

namespace {

// A message that nobody is known to wait for waits for less than twice this.
constexpr time_ns rest_ns = 1 * ns_per_ms;
// The same while requests are open or wait to be sent.
constexpr time_ns short_rest_ns = 500 * ns_per_us;

}  // namespace

bool pipeline::await(net::waiter& who, time_ns deadline) noexcept {
  if (!who.leads_early_ && who.settle()) return true;
  lock_type lock(mutex_);
  for (;;) {
    if (leader_ == &who || can_lead(who)) {
      const net::wake_scope together;
      lead(lock, who, deadline);
      pass_lead(lock, &who);
      if (who.settle()) return true;
      if (boot_now() >= deadline) return false;
      lock.lock();
      continue;  // it has no request of its own any more, or the connection broke
    }
    if (has_open(who)) follow(who);
    if (!who.begin_sleep()) break;
    lock.unlock();
    who.sleep(deadline);
    const bool is_over = who.settle() || boot_now() >= deadline;
    lock.lock();
    if (is_over) break;
  }
  unfollow(who);
  if (leader_ == &who) pass_lead(lock, nullptr);  // it was chosen too late
  if (lock.owns_lock()) lock.unlock();
  return who.settle();
}

bool pipeline::can_lead(const net::waiter& who) const noexcept {
  const bool is_free = reader_ == reader::io_thread_armed || reader_ == reader::nobody;
  if (!is_free || !transport_ || is_broken_ || !has_open(who)) return false;
  if (who.wish_ == net::waiter::wish::anything) return true;
  const request* oldest =
      replies_.oldest() != nullptr ? replies_.oldest() : submitted_list_.first();
  return oldest != nullptr && oldest->has_caller_;
}

void pipeline::lead_early(net::waiter& who) noexcept {
  if (!can_lead(who)) return;
  who.leads_early_ = true;
  leader_ = &who;
  reader_ = reader::caller;
  update_interest();
}

void pipeline::lead(lock_type& lock, net::waiter& who, time_ns deadline) noexcept {
  unfollow(who);
  const bool is_early = std::exchange(who.leads_early_, false);
  leader_ = &who;
  begin_reading(reader::caller);
  open_at_lead_ = submitted_ - replies_.answered();
  update_interest();
  if (!who.begin_leading(kick_fd_)) return;
  if (!output_.is_empty()) send_output(lock);
  for (bool is_first = true; !is_broken_ && has_open(who); is_first = false) {
    const bool is_alone = first_follower_ == nullptr;
    replies_.expect(submitted_list_);  // so that the reader need not come for it
    lock.unlock();
    net::wake_scope::flush();
    const bool may_nap = is_first && who.may_nap(is_early, deadline);
    const bool is_in_time = wait_for_input(deadline, is_alone, may_nap);
    lock.lock();
    if (stall_ == stall::until_readable) stall_ = stall::none;
    if (!output_.is_empty()) send_output(lock);
    if (!is_in_time || !who.is_leading()) break;
  }
  who.end_leading();
}

void pipeline::pass_lead(lock_type& lock, const net::waiter* before) noexcept {
  leader_ = nullptr;
  reader_ = reader::io_thread_armed;
  is_reading_ = false;
  net::waiter* const next = choose_leader();
  const auto* const sleeper = next == nullptr ? nullptr : &next->state_;
  if (before != nullptr && can_rest(*before)) {
    rest(*before);
  } else {
    update_interest();
  }
  post_teardown_when_free();
  lock.unlock();
  if (sleeper != nullptr) net::futex_wake_one(sleeper);
}

// ---- resting --------------------------------------------------------------------------------

// Not while anything is to be read that somebody else may wait for.
bool pipeline::can_rest(const net::waiter& before) const noexcept {
  const bool is_possible = reader_ == reader::io_thread_armed && transport_ && !is_broken_ &&
                           !is_finishing_ && stall_ == stall::none &&
                           wanted_ == net::io_state::want_read;
  if (!is_possible || expected_ > 0 || first_follower_ != nullptr || !before.is_done()) {
    return false;
  }
  if (last_left_ > replies_.answered()) return false;
  return before.wish_ == net::waiter::wish::anything ||
         (output_.is_empty() && submitted_ == replies_.answered());
}

void pipeline::rest(const net::waiter& before) noexcept {
  reader_ = reader::nobody;
  has_rested_ = true;
  was_for_anything_ = before.wish_ == net::waiter::wish::anything;
  const time_ns length = was_for_anything_ ? short_rest_ns : rest_ns;
  if (is_rest_timed_ && rest_ns_ <= length) return;
  is_rest_timed_ = true;
  rest_ns_ = length;
  loop_.schedule(rest_timer_, boot_now() + length);
}

// Whether this thread led last, for anything, and is expected to do so again.
bool pipeline::is_back_soon() const noexcept {
  return reader_ == reader::nobody && was_for_anything_ && is_coming_back() &&
         ::pthread_equal(reader_thread_, ::pthread_self()) != 0;
}

void pipeline::end_rest() noexcept {
  reader_ = reader::io_thread_armed;
  update_interest();
}

// A rest ends unless a caller has led since the last look.
void pipeline::look_at_rest(time_ns now) noexcept {
  lock_type lock(mutex_);
  is_rest_timed_ = std::exchange(has_rested_, false);
  if (is_rest_timed_) return loop_.schedule(rest_timer_, now + rest_ns_);
  if (reader_ != reader::nobody) return;
  end_rest();
  if (!output_.is_empty()) send_output(lock);
}

void pipeline::expect_messages(int change) noexcept {
  const lock_type lock(mutex_);
  expected_ += change;
  if (expected_ > 0 && reader_ == reader::nobody) end_rest();
}

// ---- following ------------------------------------------------------------------------------

// Makes the first follower with an open request the leader, unless the I/O thread is to read.
net::waiter* pipeline::choose_leader() noexcept {
  if (!transport_ || is_broken_) return nullptr;
  while (first_follower_ != nullptr) {
    net::waiter& next = *first_follower_;
    // Answered, but not finished: it waits for something else, and cannot lead.
    if (has_open(next)) {
      if (!can_lead(next)) return nullptr;
      unfollow(next);
      if (next.rouse()) {
        leader_ = &next;
        reader_ = reader::caller;
        return &next;
      }
    } else {
      unfollow(next);
    }
  }
  return nullptr;
}

void pipeline::follow(net::waiter& who) noexcept {
  if (who.is_following_) return;
  who.is_following_ = true;
  who.next_ = nullptr;
  who.previous_ = last_follower_;
  (last_follower_ == nullptr ? first_follower_ : last_follower_->next_) = &who;
  last_follower_ = &who;
}

void pipeline::unfollow(net::waiter& who) noexcept {
  if (!who.is_following_) return;
  who.is_following_ = false;
  (who.previous_ == nullptr ? first_follower_ : who.previous_->next_) = who.next_;
  (who.next_ == nullptr ? last_follower_ : who.next_->previous_) = who.previous_;
}

// Sleeps until there is something to read, and reads it. False when the deadline passed first.
bool pipeline::wait_for_input(time_ns deadline, bool is_alone, bool may_nap) noexcept {
  if (is_alone && limits_.busy_poll_ns > 0) {
    const time_ns end = std::min(deadline, boot_now() + limits_.busy_poll_ns);
    do {
      if (read()) return true;
    } while (boot_now() < end);
  }
  // Most replies come soon. A nap is not interrupted by finish(), but it is over as soon.
  if (may_nap && read(true)) return true;
  const time_ns left = std::min(deadline - boot_now(), net::longest_sleep_ns);
  if (left <= 0) return false;
  const timespec timeout{static_cast<std::time_t>(left / ns_per_s),
                         static_cast<long>(left % ns_per_s)};
  const short events = wanted_ == net::io_state::want_write ? POLLOUT : POLLIN;
  pollfd waits[] = {{transport_->descriptor(), events, 0}, {kick_fd_, POLLIN, 0}};
  if (::ppoll(waits, 2, &timeout, nullptr) <= 0) return true;  // whoever called looks again
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
  if ((stall_ == stall::until_writable && is_writable) ||
      (stall_ == stall::until_readable && is_readable)) {
    stall_ = stall::none;
    send_output(lock);
  }
  if (reader_ == reader::caller) {
    // The end is reported whatever one waits for. The leader sees it too: be quiet until it passes
    // the lead.
    return has_ended ? unwatch() : update_interest();
  }
  const bool is_due = wanted_ == net::io_state::want_write ? is_writable : is_readable;
  if (is_broken_ || !is_due) return update_interest();
  begin_reading(reader::io_thread_reading);
  lock.unlock();
  const net::wake_scope together;
  read();
  lock.lock();
  if (!output_.is_empty()) send_output(lock);
  pass_lead(lock, nullptr);
}

}  // namespace mortise::redis
