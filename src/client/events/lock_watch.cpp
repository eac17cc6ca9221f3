#include "client/events/lock_watch.hpp"

#include <new>
#include <utility>

#include "base/time.hpp"

namespace mortise::client {

namespace {

// Of a change that users see. `none` for any other.
event_kind kind_of(lock::event_kind change) noexcept {
  switch (change) {
    case lock::event_kind::ended:
      return event_kind::wait_failed;
    case lock::event_kind::granted:
    case lock::event_kind::passed:
      return event_kind::hold_began;
    case lock::event_kind::upgraded:
    case lock::event_kind::downgraded:
      return event_kind::hold_changed;
    case lock::event_kind::released:
    case lock::event_kind::exported:
    case lock::event_kind::lost:
      return event_kind::hold_ended;
    default:
      return event_kind::none;
  }
}

const char* text_of(lock::lock_kind kind, lock::hold_mode mode) noexcept {
  if (kind == lock::lock_kind::mutex) return "mutex";
  if (kind == lock::lock_kind::semaphore) return "semaphore";
  return mode == lock::hold_mode::exclusive ? "write" : "read";
}

outcome outcome_of(event_kind kind, const lock::lock_event& change) noexcept {
  if (change.kind == lock::event_kind::lost) return outcome::lost(static_cast<reason>(change.code));
  if (kind == event_kind::wait_failed || change.code != 0) {
    return outcome::of(static_cast<status>(change.code));
  }
  if (kind == event_kind::wait_began) return outcome::because(status::ok, "the wait began");
  if (kind == event_kind::hold_began) return outcome::because(status::ok, "the hold began");
  if (kind == event_kind::hold_changed) {
    return outcome::because(status::ok, "the hold changed its mode");
  }
  const bool is_exported = change.kind == lock::event_kind::exported;
  return outcome::because(status::ok,
                          is_exported ? "the hold was exported" : "the hold was unlocked");
}

}  // namespace

outcome lock_watch::watch(std::shared_ptr<event_queue> queue, std::int64_t tag) {
  if (queue && queue->is_shut_down()) {
    return outcome::of(status::shut_down, "the queue was shut down");
  }
  const std::lock_guard guard(mutex_);
  if (is_ended_) return client_freed();
  queue_.swap(queue);  // the previous queue is freed without the mutex
  tag_ = tag;
  dropped_ = 0;
  is_on_ = queue_ != nullptr;
  return {};
}

void lock_watch::end() noexcept {
  std::shared_ptr<event_queue> last;
  const std::lock_guard guard(mutex_);
  is_ended_ = true;
  is_on_ = false;
  last.swap(queue_);
}

void lock_watch::note_wait(const lock::lock_event& wait, const watched_lock& lock) noexcept {
  report(event_kind::wait_began, wait, lock);
}

void lock_watch::note(const lock::lock_event& change, const watched_lock& lock) noexcept {
  const auto kind = kind_of(change.kind);
  if (kind != event_kind::none) report(kind, change, lock);
}

void lock_watch::report(event_kind kind, const lock::lock_event& change,
                        const watched_lock& lock) noexcept {
  const std::lock_guard guard(mutex_);
  if (!queue_) return;
  ++dropped_;
  try {
    if (queue_->report(node_of(kind, change, lock))) dropped_ = 0;
  } catch (const std::bad_alloc&) {
    return;  // counted as dropped
  }
}

std::unique_ptr<event_node> lock_watch::node_of(event_kind kind, const lock::lock_event& change,
                                                const watched_lock& lock) const {
  auto node = std::make_unique<event_node>();
  auto& reported = node->content;
  reported.kind = kind;
  reported.tag = tag_;
  reported.token = change.token;
  reported.hold_number = change.hold_number;
  reported.error = outcome_of(kind, change);
  reported.dropped_records = dropped_ - 1;  // without this event
  reported.lock_kind = text_of(lock.kind, change.mode);
  reported.handle_number = static_cast<std::int64_t>(change.handle);
  reported.time_us = wall_us_at(change.at);
  reported.lasted_us = (change.at - change.since) / ns_per_us;
  node->lock = lock.name;
  return node;
}

}  // namespace mortise::client
