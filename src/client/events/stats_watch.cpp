#include "client/events/stats_watch.hpp"

#include <new>
#include <utility>

namespace mortise::client {

outcome stats_watch::watch(std::shared_ptr<event_queue> queue, std::int64_t tag,
                           std::int64_t interval_ms) {
  if (queue && queue->is_shut_down()) {
    return outcome::of(status::shut_down, "the queue was shut down");
  }
  const std::lock_guard guard(mutex_);
  if (is_ended_) return client_freed();
  queue_.swap(queue);  // the previous queue is freed without the mutex
  tag_ = tag;
  interval_ns_ = interval_ms * ns_per_ms;
  if (queue_) loop_.schedule(*this, boot_now() + interval_ns_);
  return {};
}

void stats_watch::end() noexcept {
  std::shared_ptr<event_queue> last;
  {
    const std::lock_guard guard(mutex_);
    is_ended_ = true;
    last.swap(queue_);
  }
  // Without the mutex, which on_timer() may be waiting for.
  loop_.cancel(*this);
}

void stats_watch::on_timer(time_ns now) noexcept {
  std::shared_ptr<event_queue> last;  // freed without the mutex
  const std::lock_guard guard(mutex_);
  if (!queue_) return;
  if (queue_->is_shut_down()) return last.swap(queue_);
  loop_.schedule(*this, now + interval_ns_);
  std::unique_ptr<event_node> due(new (std::nothrow) event_node);
  if (!due) return;  // the next interval retries
  due->content.kind = event_kind::stats;
  due->content.tag = tag_;
  // An unread earlier event reports the same.
  static_cast<void>(queue_->report(std::move(due)));
}

}  // namespace mortise::client
