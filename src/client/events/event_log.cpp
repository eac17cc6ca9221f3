#include "client/events/event_log.hpp"

#include <new>
#include <utility>

namespace mortise::client {

outcome event_log::watch(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level) {
  if (queue && queue->is_shut_down()) {
    return outcome::of(status::shut_down, "the queue was shut down");
  }
  const std::lock_guard guard(mutex_);
  if (is_ended_) return client_freed();
  queue_.swap(queue);  // the previous queue is freed without the mutex
  tag_ = tag;
  level_ = level;
  allowances_ = {};
  dropped_records_ = 0;
  return {};
}

void event_log::end() noexcept {
  std::shared_ptr<event_queue> last;
  const std::lock_guard guard(mutex_);
  is_ended_ = true;
  last.swap(queue_);
}

void event_log::note(log_subject what, const outcome& result,
                     const std::string& lock_name) noexcept {
  const std::lock_guard guard(mutex_);
  if (!queue_ || level_of(what) > level_) return;
  ++dropped_records_;
  if (!allowances_[static_cast<std::size_t>(what)].take(boot_now())) return;
  try {
    if (queue_->report(line(what, result, lock_name))) dropped_records_ = 0;
  } catch (const std::bad_alloc&) {
    return;  // counted as dropped
  }
}

std::unique_ptr<event_node> event_log::line(log_subject what, const outcome& result,
                                            const std::string& lock_name) const {
  auto node = std::make_unique<event_node>();
  auto& record = node->content;
  record.kind = event_kind::log;
  record.tag = tag_;
  record.error = result;
  if (record.error.message.empty()) record.error.say(result.words());
  record.level = level_of(what);
  record.subject = what;
  record.dropped_records = dropped_records_ - 1;  // without this record
  node->lock = lock_name;
  return node;
}

}  // namespace mortise::client
