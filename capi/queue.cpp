// mortise_queue and mortise_event.
#include "handle_calls.hpp"

using mortise::outcome;
using namespace mortise::capi;  // the ABI's own file

namespace {

constexpr int64_t default_capacity = 65536;

}  // namespace

mortise_queue* mortise_queue_new(mortise_client* client, int64_t capacity, mortise_error* error) {
  return make<mortise_queue>(client, error, [&](auto& self, mortise_queue& queue) -> outcome {
    if (capacity < 0 || capacity > MORTISE_MAX_QUEUE_CAPACITY) {
      return out_of_range(
          "capacity", capacity,
          "1 to " + std::to_string(MORTISE_MAX_QUEUE_CAPACITY) + ", or 0 for the default");
    }
    if (self.is_closed()) return mortise::client_freed();
    queue.object =
        std::make_shared<event_queue>(capacity == 0 ? default_capacity : capacity, client->object);
    return queue.object->open();
  });
}

void mortise_queue_free(mortise_queue* queue) { free_handle(queue, &event_queue::close); }

mortise_status mortise_queue_next(mortise_queue* queue, int64_t timeout_ms, mortise_event* event,
                                  mortise_error* error) {
  const auto next = [](event_queue& events, auto& next_event, int64_t within_ms) {
    return outcome::of(events.next(mortise::client::client::deadline_after(within_ms), next_event));
  };
  return call(queue, error, next, argument::result{event}, argument::timeout{timeout_ms});
}

mortise_status mortise_queue_next_batch(mortise_queue* queue, int64_t timeout_ms, int64_t* records,
                                        int64_t capacity, int64_t* count, mortise_error* error) {
  return call(queue, error, [&](event_queue& events) -> outcome {
    if (records == nullptr) return is_null("records");
    if (count == nullptr) return is_null("count");
    *count = 0;
    if (capacity < 1) {
      return bad_argument("capacity", std::to_string(capacity) + " is too small; give 1 or more");
    }
    if (auto checked = argument::timeout{timeout_ms}.check(); !checked.ok()) return checked;
    const auto deadline = mortise::client::client::deadline_after(timeout_ms);
    return outcome::of(events.next_batch(deadline, capacity, [&](const auto& event) {
      int64_t* const record = records + *count * MORTISE_RECORD_FIELDS;
      record[0] = static_cast<int64_t>(event.kind);
      record[1] = event.tag;
      record[2] = code_of(event.error.code);
      record[3] = event.token;
      record[4] = event.hold_number;
      ++*count;
    }));
  });
}

int32_t mortise_queue_fd(const mortise_queue* queue) {
  return guard_value<int32_t>(-1, [&] {
    return queue == nullptr || queue->is_foreign() ? -1 : queue->object->descriptor();
  });
}

void mortise_queue_wake(mortise_queue* queue) {
  if (queue == nullptr || queue->is_foreign()) return;
  const uncancellable here;
  queue->object->wake();
}

void mortise_queue_shutdown(mortise_queue* queue) {
  if (queue == nullptr || queue->is_foreign()) return;
  const uncancellable here;
  // A reader may free the queue as soon as it sees the shutdown.
  const auto kept = queue->object;
  kept->shut_down();
}

mortise_event* mortise_event_new(void) { return new (std::nothrow) mortise_event; }

void mortise_event_free(mortise_event* event) { delete event; }

mortise_kind mortise_event_kind(const mortise_event* event) {
  return event == nullptr ? MORTISE_EVENT_NONE : static_cast<mortise_kind>(event->content.kind);
}

int64_t mortise_event_tag(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.tag;
}

mortise_status mortise_event_status(const mortise_event* event) {
  return event == nullptr ? MORTISE_OK : code_of(event->content.error.code);
}

int64_t mortise_event_token(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.token;
}

int64_t mortise_event_hold_number(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.hold_number;
}

const char* mortise_event_message(const mortise_event* event) {
  return event == nullptr ? "" : event->content.error.message.c_str();
}

const char* mortise_event_lock_name(const mortise_event* event, size_t* name_len) {
  return text_of(event == nullptr ? nullptr : event->content.error.lock.get(), name_len);
}

const char* mortise_event_server_text(const mortise_event* event) {
  return event == nullptr ? "" : event->content.error.server_text.c_str();
}

int32_t mortise_event_is_retryable(const mortise_event* event) {
  return event != nullptr && event->content.error.is_retryable ? 1 : 0;
}

int32_t mortise_event_is_ambiguous(const mortise_event* event) {
  return event != nullptr && event->content.error.is_ambiguous ? 1 : 0;
}

mortise_reason mortise_event_reason(const mortise_event* event) {
  return event == nullptr ? MORTISE_REASON_NONE
                          : static_cast<mortise_reason>(event->content.error.why);
}

mortise_log_level mortise_event_log_level(const mortise_event* event) {
  return event == nullptr ? MORTISE_LOG_LEVEL_NONE
                          : static_cast<mortise_log_level>(event->content.level);
}

mortise_log_subject mortise_event_log_subject(const mortise_event* event) {
  return event == nullptr ? MORTISE_LOG_NONE
                          : static_cast<mortise_log_subject>(event->content.subject);
}

int64_t mortise_event_dropped_records(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.dropped_records;
}

const char* mortise_event_lock_kind(const mortise_event* event) {
  return event == nullptr ? "" : event->content.lock_kind;
}

int64_t mortise_event_handle_number(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.handle_number;
}

int64_t mortise_event_time_us(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.time_us;
}

int64_t mortise_event_lasted_us(const mortise_event* event) {
  return event == nullptr ? 0 : event->content.lasted_us;
}

mortise_status mortise_event_leader(const mortise_event* event, mortise_info* info,
                                    mortise_error* error) {
  return guard(error, [&]() -> outcome {
    if (event == nullptr) return is_null("event");
    if (info == nullptr) return is_null("info");
    if (event->content.leader == nullptr) {
      return bad_argument("event", "is of kind " + std::to_string(mortise_event_kind(event)) +
                                       "; give one of kind MORTISE_EVENT_LEADER or "
                                       "MORTISE_EVENT_NO_LEADER");
    }
    info->content = *event->content.leader;
    return {};
  });
}

const char* mortise_log_level_text(mortise_log_level level) {
  return mortise::text_of(static_cast<mortise::log_level>(level));
}

const char* mortise_log_subject_text(mortise_log_subject subject) {
  return mortise::text_of(static_cast<mortise::log_subject>(subject));
}
