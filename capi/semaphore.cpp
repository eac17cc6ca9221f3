// mortise_semaphore.
#include "handle_calls.hpp"

using mortise::lock::amount;
using mortise::lock::hold_mode;
using namespace mortise::capi;  // the ABI's own file

mortise_semaphore* mortise_semaphore_new(mortise_client* client, const char* name, size_t name_len,
                                         int64_t capacity, const mortise_options* options,
                                         mortise_error* error) {
  const auto checked = guard(error, [&] { return argument::capacity{capacity}.check(); });
  if (checked != MORTISE_OK) return nullptr;
  return make_lock<mortise_semaphore>(client, name, name_len, capacity, options, error);
}

void mortise_semaphore_free(mortise_semaphore* semaphore) {
  free_handle(semaphore, &lock_handle::release);
}

mortise_status mortise_semaphore_try(mortise_semaphore* semaphore, int64_t permits,
                                     mortise_error* error) {
  return call(semaphore, error, &lock_handle::try_acquire, argument::permits{permits});
}

mortise_status mortise_semaphore_acquire(mortise_semaphore* semaphore, int64_t permits,
                                         int64_t timeout_ms, mortise_error* error) {
  return call(semaphore, error, &lock_handle::acquire, argument::permits{permits},
              argument::timeout{timeout_ms});
}

mortise_status mortise_semaphore_release(mortise_semaphore* semaphore, mortise_error* error) {
  return call(semaphore, error, &lock_handle::unlock, hold_mode::shared, any_hold);
}

mortise_status mortise_semaphore_resize(mortise_semaphore* semaphore, int64_t capacity,
                                        mortise_error* error) {
  return call(semaphore, error, &lock_handle::resize, argument::capacity{capacity});
}

mortise_status mortise_semaphore_try_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                           int64_t tag, int64_t permits, mortise_error* error) {
  // A wrong number is reported before a wrong queue.
  const auto start = [&](lock_handle& handle, const amount& requested, const auto& events) {
    return handle.try_async(events, tag, requested);
  };
  return call(semaphore, error, start, argument::permits{permits}, argument::handle{queue});
}

mortise_status mortise_semaphore_acquire_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                               int64_t tag, int64_t permits, int64_t timeout_ms,
                                               mortise_error* error) {
  const auto start = [&](lock_handle& handle, const amount& requested, const auto& events,
                         int64_t within_ms) {
    return handle.acquire_async(events, tag, requested, within_ms);
  };
  return call(semaphore, error, start, argument::permits{permits}, argument::handle{queue},
              argument::timeout{timeout_ms});
}

mortise_status mortise_semaphore_release_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                               int64_t tag, mortise_error* error) {
  return call(semaphore, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::shared, any_hold);
}

mortise_status mortise_semaphore_release_hold(mortise_semaphore* semaphore, int64_t hold_number,
                                              mortise_error* error) {
  return call(semaphore, error, &lock_handle::unlock, hold_mode::shared,
              argument::hold_number{hold_number});
}

mortise_status mortise_semaphore_release_hold_async(mortise_semaphore* semaphore,
                                                    mortise_queue* queue, int64_t tag,
                                                    int64_t hold_number, mortise_error* error) {
  return call(semaphore, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::shared, argument::hold_number{hold_number});
}

int32_t mortise_semaphore_is_held(const mortise_semaphore* semaphore) {
  return look(semaphore, &lock_handle::is_held);
}

mortise_status mortise_semaphore_extend(mortise_semaphore* semaphore, int64_t lease_ms,
                                        mortise_error* error) {
  return call(semaphore, error, &lock_handle::extend, argument::lease{lease_ms});
}

mortise_status mortise_semaphore_progress(mortise_semaphore* semaphore, mortise_error* error) {
  return call(semaphore, error, &lock_handle::note_progress, any_hold);
}

mortise_hold_id* mortise_semaphore_export(mortise_semaphore* semaphore, int64_t lease_ms,
                                          mortise_error* error) {
  return export_hold(semaphore, lease_ms, error);
}

mortise_status mortise_semaphore_adopt(mortise_semaphore* semaphore, const char* id, size_t id_len,
                                       mortise_error* error) {
  return call(semaphore, error, &lock_handle::adopt, argument::id{id, id_len});
}

mortise_status mortise_semaphore_cancel(mortise_semaphore* semaphore, mortise_error* error) {
  return call(semaphore, error, &lock_handle::cancel);
}

int64_t mortise_semaphore_valid_ms(const mortise_semaphore* semaphore) {
  return look(semaphore, &lock_handle::valid_ms);
}

int64_t mortise_semaphore_token(const mortise_semaphore* semaphore) {
  return look(semaphore, &lock_handle::token);
}

mortise_status mortise_semaphore_query(mortise_semaphore* semaphore, mortise_info* info,
                                       mortise_error* error) {
  return call(semaphore, error, &lock_handle::query, argument::result{info});
}

mortise_status mortise_semaphore_force_release(mortise_semaphore* semaphore, const char* owner,
                                               size_t owner_len, mortise_error* error) {
  return call(semaphore, error, &lock_handle::force_release, argument::owner{owner, owner_len});
}

mortise_status mortise_semaphore_extend_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                              int64_t tag, int64_t lease_ms, mortise_error* error) {
  return call(semaphore, error, &lock_handle::extend_async, argument::handle{queue}, tag,
              argument::lease{lease_ms});
}

mortise_status mortise_semaphore_watch(mortise_semaphore* semaphore, mortise_queue* queue,
                                       int64_t tag, mortise_error* error) {
  return call(semaphore, error, &lock_handle::watch, argument::handle_or_none{queue}, tag);
}

mortise_status mortise_semaphore_interrupt(mortise_semaphore* semaphore, int32_t is_on,
                                           mortise_error* error) {
  return call(semaphore, error, &lock_handle::interrupt, argument::is_on{is_on});
}

mortise_status mortise_semaphore_set_task(mortise_semaphore* semaphore, int64_t task,
                                          mortise_error* error) {
  return call(semaphore, error, &lock_handle::set_task, argument::task{task});
}

const char* mortise_semaphore_name(const mortise_semaphore* semaphore, size_t* name_len) {
  return name_of(semaphore, name_len);
}

int64_t mortise_semaphore_deadline_ns(const mortise_semaphore* semaphore) {
  return look(semaphore, &lock_handle::deadline_ns);
}

int64_t mortise_semaphore_hold_number(const mortise_semaphore* semaphore) {
  return look(semaphore, &lock_handle::hold_number);
}

mortise_status mortise_semaphore_set_value(mortise_semaphore* semaphore, const char* value,
                                           size_t value_len, mortise_error* error) {
  return call(semaphore, error, &lock_handle::set_value, argument::hold_value{value, value_len});
}

mortise_status mortise_semaphore_set_value_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                                 int64_t tag, const char* value, size_t value_len,
                                                 mortise_error* error) {
  return call(semaphore, error, &lock_handle::set_value_async, argument::handle{queue}, tag,
              argument::hold_value{value, value_len});
}
