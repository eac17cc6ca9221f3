#include "client/events/event_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "base/text/decimal.hpp"
#include "client/client.hpp"
#include "net/threads/caller.hpp"
#include "net/threads/futex.hpp"

namespace mortise::client {

struct event_queue::consumer {
  net::caller caller{net::caller::wish::anything};
  consumer* next = nullptr;
};

event_queue::event_queue(std::int64_t capacity, std::shared_ptr<client> client)
    : capacity_(capacity), client_(std::move(client)) {}

event_queue::~event_queue() { close(); }

outcome event_queue::open() {
  event_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event_fd_ >= 0) return {};
  return outcome::of(status::limit,
                     "cannot create the queue: no file descriptor is left; raise the limit");
}

outcome event_queue::reserve_locked() {
  if (is_shut_down_) return outcome::of(status::shut_down, "the queue was shut down");
  if (reserved_ >= capacity_) {
    return outcome::of(status::limit, "the queue is full (capacity ", decimal(capacity_),
                       "); read its events or make it larger");
  }
  ++reserved_;
  return {};
}

outcome event_queue::reserve() {
  const std::lock_guard guard(mutex_);
  return reserve_locked();
}

void event_queue::unreserve() noexcept {
  const std::lock_guard guard(mutex_);
  --reserved_;
}

outcome event_queue::admit(event_node& call) {
  std::list<event_node*> place;
  if (call.content.kind == event_kind::acquired) place.push_back(&call);
  const std::lock_guard guard(mutex_);
  call.is_watched_for = is_polled_;
  auto admitted = reserve_locked();
  if (!admitted.ok()) return admitted;
  ++open_calls_;
  call.is_waiting_acquire_ = !place.empty();
  call.waiting_position_ = place.begin();
  waiting_.splice(waiting_.end(), place);
  return {};
}

void event_queue::dismiss(event_node& call) noexcept {
  const std::lock_guard guard(mutex_);
  --reserved_;
  --open_calls_;
  if (call.is_waiting_acquire_) waiting_.erase(call.waiting_position_);
  call.is_waiting_acquire_ = false;
  if (is_drained_locked()) wake_all_locked();
}

bool event_queue::is_shut_down() {
  const std::lock_guard guard(mutex_);
  return is_shut_down_;
}

std::unique_ptr<event_node> event_queue::deliver(std::unique_ptr<event_node> ended) noexcept {
  const std::lock_guard guard(mutex_);
  auto* const node = ended.get();
  if (!is_notice(node->content.kind)) --open_calls_;
  if (node->is_waiting_acquire_) waiting_.erase(node->waiting_position_);
  node->is_waiting_acquire_ = false;
  if (is_freed_) return ended;
  if (node->content.kind == event_kind::at_risk) ++unread_risks_;
  static_cast<void>(ended.release());
  ended_.push(*node);
  signal_locked();
  return nullptr;
}

bool event_queue::has_room_for_risk() {
  const std::lock_guard guard(mutex_);
  return unread_risks_ < capacity_;
}

bool event_queue::report(std::unique_ptr<event_node> node) noexcept {
  const std::lock_guard guard(mutex_);
  if (is_shut_down_ || !take_report_place_locked(node->content.kind)) return false;
  node->uses_capacity = false;
  reports_.push(*node.release());
  signal_locked();
  return true;
}

bool event_queue::take_report_place_locked(event_kind kind) noexcept {
  if (kind == event_kind::stats) return !std::exchange(is_stats_unread_, true);
  auto& unread = is_of_lock(kind) ? unread_lock_reports_ : unread_lines_;
  if (unread >= (is_of_lock(kind) ? longest_lock_reports : longest_reports)) return false;
  ++unread;
  return true;
}

void event_queue::signal_locked() noexcept {
  call_one_locked();
  if (!is_polled_ || is_signalled_) return;
  is_signalled_ = true;
  const std::uint64_t one = 1;
  // Fails only if it is signalled already.
  [[maybe_unused]] const auto written = write(event_fd_, &one, sizeof one);
}

void event_queue::call_one_locked() noexcept {
  auto* const called = first_consumer_.load();
  if (called == nullptr) return;
  first_consumer_ = called->next;
  called->caller.finish();  // the consumer lives until it has locked the mutex
}

void event_queue::wake_all_locked() noexcept {
  while (first_consumer_.load() != nullptr) call_one_locked();
}

void event_queue::unsignal_locked() noexcept {
  if (!is_signalled_ || !is_empty_locked() || is_shut_down_) return;
  is_signalled_ = false;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = read(event_fd_, &count, sizeof count);
}

event_node* event_queue::pop_locked() noexcept {
  auto& node = *(ended_.is_empty() ? reports_ : ended_).pop();
  if (node.uses_capacity) --reserved_;
  if (node.content.kind == event_kind::at_risk) --unread_risks_;
  if (node.content.kind == event_kind::log) --unread_lines_;
  if (is_of_lock(node.content.kind)) --unread_lock_reports_;
  if (node.content.kind == event_kind::stats) is_stats_unread_ = false;
  return &node;
}

status event_queue::next(time_ns deadline, event& result) {
  std::unique_lock guard(mutex_);
  for (;;) {
    if (!is_empty_locked()) {
      const std::unique_ptr<event_node> node(pop_locked());
      after_take_locked();
      guard.unlock();
      result = std::move(node->content);
      result.complete_message(node->handle ? node->handle->name() : node->lock);
      return status::ok;
    }
    unsignal_locked();
    if (is_freed_ || is_drained_locked()) return status::shut_down;
    if (take_wake_up_locked()) return status::timed_out;
    if (boot_now() >= deadline) return status::timed_out;
    wait_for_event(guard, deadline);
  }
}

std::unique_ptr<event_node> event_queue::take_ready(std::int64_t count) noexcept {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<event_node> taken;
  auto* place = &taken;
  for (; count > 0 && !is_empty_locked(); --count) {
    place->reset(pop_locked());
    place = &(*place)->next_finished;
  }
  after_take_locked();
  return taken;
}

// Each wake-up ends one wait. Several may have reached the same consumer, so it calls the next one.
bool event_queue::take_wake_up_locked() noexcept {
  if (wake_ups_.load() == 0) return false;
  if (wake_ups_.fetch_sub(1) > 1) call_one_locked();
  return true;
}

void event_queue::after_take_locked() noexcept {
  unsignal_locked();
  // Wakes another consumer for the remaining events, or all consumers if no event will come.
  if (!is_empty_locked() || wake_ups_.load() > 0) call_one_locked();
  if (is_drained_locked()) wake_all_locked();
}

void event_queue::wait_for_event(std::unique_lock<std::mutex>& guard, time_ns deadline) {
  {
    consumer self;
    self.next = first_consumer_.load();
    first_consumer_.store(&self);
    guard.unlock();
    // A wake() that did not see this consumer is noticed now: each side writes before it reads.
    if (wake_ups_.load() == 0) {
      if (client_) {
        client_->servers().await_any(self.caller, deadline);
      } else {
        self.caller.wait(deadline);
      }
    }
    guard.lock();
    leave_locked(self);
    guard.unlock();  // a waker may need the mutex before it wakes this consumer
    await_wakers();
  }
  guard.lock();
}

void event_queue::leave_locked(const consumer& self) noexcept {
  auto* at = first_consumer_.load();
  if (at == &self) return first_consumer_.store(self.next);
  for (; at != nullptr; at = at->next) {
    if (at->next == &self) at->next = self.next;
  }
}

void event_queue::await_wakers() noexcept {
  while (const auto inside = wakers_.load()) net::futex_wait(wakers_, inside, time_never);
}

int event_queue::descriptor() {
  const std::lock_guard guard(mutex_);
  if (is_freed_) return -1;
  is_polled_ = true;
  if (!is_empty_locked() || is_shut_down_) signal_locked();
  return event_fd_;
}

// Only atomics and system calls: a signal handler may have interrupted the thread that holds the
// mutex.
void event_queue::wake() noexcept {
  wakers_.fetch_add(1);
  wake_ups_.fetch_add(1);
  if (auto* const called = first_consumer_.load()) called->caller.finish_from_signal();
  if (wakers_.fetch_sub(1) == 1) net::futex_wake_all(&wakers_);
}

void event_queue::shut_down() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_shut_down_ = true;
    signal_locked();
    wake_all_locked();
  }
  // Without the mutex, because gates deliver to this queue under their own mutex.
  while (const auto handle = next_to_cancel()) handle->cancel();
}

// No acquire is added after a shutdown. Cancelled acquires move to the end of the list.
std::shared_ptr<cancellable> event_queue::next_to_cancel() noexcept {
  const std::lock_guard guard(mutex_);
  if (waiting_.empty() || waiting_.front()->is_cancelled_) return nullptr;
  auto* const node = waiting_.front();
  node->is_cancelled_ = true;
  waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
  return node->handle;
}

void event_queue::close() noexcept {
  shut_down();
  {
    const std::lock_guard guard(mutex_);
    is_freed_ = true;
    signal_locked();
    wake_all_locked();
    // Now, because a watch keeps the queue, and an event loop that still has the descriptor would
    // spin. wake() does not use the descriptor.
    if (event_fd_ >= 0) ::close(std::exchange(event_fd_, -1));
  }
  take_ready(std::numeric_limits<std::int64_t>::max());
  await_wakers();  // the wake-up may have been read already
}

}  // namespace mortise::client
