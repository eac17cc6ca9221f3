#include "net/threads/leader_followers.hpp"

#include <utility>

namespace mortise::net {

namespace {

// A message without a known waiter is delayed by less than twice this.
constexpr time_ns rest_ns = 1 * ns_per_ms;
// The same while requests are open or unsent.
constexpr time_ns short_rest_ns = 500 * ns_per_us;

}  // namespace

// ---- a caller's way -------------------------------------------------------------------------

bool leader_followers::has_open(const caller& caller, const situation& now) noexcept {
  const auto number = caller.wish_ == caller::wish::anything ? now.submitted : caller.last_request_;
  return number > now.answered;
}

bool leader_followers::can_lead(const caller& caller, const situation& now) const noexcept {
  if (!is_free() || !now.is_alive || !has_open(caller, now)) return false;
  return caller.wish_ == caller::wish::anything || now.is_next_awaited;
}

// A caller that leads another connection may never await this one.
bool leader_followers::lead_early(caller& caller, const situation& now) noexcept {
  if (caller.is_leading() || !can_lead(caller, now)) return false;
  caller.leads_early_ = true;
  leader_ = &caller;
  reader_ = reader::caller;
  return true;
}

bool leader_followers::begin(caller& caller, pthread_t thread, const situation& now) noexcept {
  unfollow(caller);
  leader_ = &caller;
  reader_ = reader::caller;
  is_reading_ = true;
  reader_thread_ = thread;
  open_at_lead_ = now.submitted - now.answered;
  return std::exchange(caller.leads_early_, false);
}

leader_followers::succession leader_followers::pass(const caller* before,
                                                    const situation& now) noexcept {
  leader_ = nullptr;
  reader_ = reader::io_thread_armed;
  is_reading_ = false;
  succession after;
  after.next = choose(now);
  if (before != nullptr && can_rest(*before, now)) after.look_after_ns = rest(*before);
  return after;
}

// Makes the first follower with an open request the leader, unless the I/O thread is to read.
caller* leader_followers::choose(const situation& now) noexcept {
  if (!now.is_alive) return nullptr;
  while (first_follower_ != nullptr) {
    caller& next = *first_follower_;
    // Answered, but not finished: it waits for another event, and cannot lead.
    if (has_open(next, now)) {
      if (!can_lead(next, now)) return nullptr;
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

bool leader_followers::follow(caller& caller) noexcept {
  if (caller.is_following_) return end_rest();
  caller.is_following_ = true;
  caller.next_ = nullptr;
  caller.previous_ = last_follower_;
  (last_follower_ == nullptr ? first_follower_ : last_follower_->next_) = &caller;
  last_follower_ = &caller;
  return end_rest();
}

void leader_followers::unfollow(caller& caller) noexcept {
  if (!caller.is_following_) return;
  caller.is_following_ = false;
  (caller.previous_ == nullptr ? first_follower_ : caller.previous_->next_) = caller.next_;
  (caller.next_ == nullptr ? last_follower_ : caller.next_->previous_) = caller.previous_;
}

// ---- the I/O thread -------------------------------------------------------------------------

void leader_followers::begin_io_thread(pthread_t thread) noexcept {
  reader_ = reader::io_thread_reading;
  is_reading_ = true;
  reader_thread_ = thread;
}

void leader_followers::reset() noexcept {
  reader_ = reader::io_thread_armed;
  is_reading_ = false;
}

// ---- rests ----------------------------------------------------------------------------------

// Not while a reply or message is due that another thread may wait for.
bool leader_followers::can_rest(const caller& before, const situation& now) const noexcept {
  if (reader_ != reader::io_thread_armed || !now.is_alive || !now.is_calm) return false;
  if (expected_ > 0 || first_follower_ != nullptr || !before.is_done()) return false;
  if (last_left_ > now.answered) return false;
  return before.wish_ == caller::wish::anything || (!now.has_output && !now.has_open());
}

time_ns leader_followers::rest(const caller& before) noexcept {
  reader_ = reader::nobody;
  has_rested_ = true;
  was_for_anything_ = before.wish_ == caller::wish::anything;
  const time_ns length = was_for_anything_ ? short_rest_ns : rest_ns;
  if (is_rest_timed_ && rest_ns_ <= length) return 0;
  is_rest_timed_ = true;
  rest_ns_ = length;
  return length;
}

bool leader_followers::end_rest() noexcept {
  if (!is_resting()) return false;
  reader_ = reader::io_thread_armed;
  return true;
}

time_ns leader_followers::look_at_rest() noexcept {
  is_rest_timed_ = std::exchange(has_rested_, false);
  if (is_rest_timed_) return rest_ns_;
  end_rest();
  return 0;
}

bool leader_followers::expect_messages(int change) noexcept {
  expected_ += change;
  return expected_ > 0 && end_rest();
}

}  // namespace mortise::net
