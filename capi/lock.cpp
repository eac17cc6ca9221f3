// mortise_lock.
#include "handle_calls.hpp"

using mortise::lock::amount;
using mortise::lock::hold_mode;
using namespace mortise::capi;  // the ABI's own file

namespace {

constexpr amount mutex{hold_mode::exclusive, 1};

}  // namespace

mortise_lock* mortise_lock_new(mortise_client* client, const char* name, size_t name_len,
                               const mortise_options* options, mortise_error* error) {
  return make_lock<mortise_lock>(client, name, name_len, 1, options, error);
}

void mortise_lock_free(mortise_lock* lock) { free_handle(lock, &lock_handle::release); }

mortise_status mortise_lock_try(mortise_lock* lock, mortise_error* error) {
  return call(lock, error, &lock_handle::try_acquire, mutex);
}

mortise_status mortise_lock_acquire(mortise_lock* lock, int64_t timeout_ms, mortise_error* error) {
  return call(lock, error, &lock_handle::acquire, mutex, argument::timeout{timeout_ms});
}

mortise_status mortise_lock_unlock(mortise_lock* lock, mortise_error* error) {
  return call(lock, error, &lock_handle::unlock, hold_mode::exclusive, any_hold);
}

mortise_status mortise_lock_try_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                      mortise_error* error) {
  return call(lock, error, &lock_handle::try_async, argument::handle{queue}, tag, mutex);
}

mortise_status mortise_lock_acquire_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                          int64_t timeout_ms, mortise_error* error) {
  return call(lock, error, &lock_handle::acquire_async, argument::handle{queue}, tag, mutex,
              argument::timeout{timeout_ms});
}

mortise_status mortise_lock_unlock_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         mortise_error* error) {
  return call(lock, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::exclusive, any_hold);
}

mortise_status mortise_lock_unlock_hold(mortise_lock* lock, int64_t hold_number,
                                        mortise_error* error) {
  return call(lock, error, &lock_handle::unlock, hold_mode::exclusive,
              argument::hold_number{hold_number});
}

mortise_status mortise_lock_unlock_hold_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                              int64_t hold_number, mortise_error* error) {
  return call(lock, error, &lock_handle::unlock_async, argument::handle{queue}, tag,
              hold_mode::exclusive, argument::hold_number{hold_number});
}

int32_t mortise_lock_is_held(const mortise_lock* lock) { return look(lock, &lock_handle::is_held); }

mortise_status mortise_lock_extend(mortise_lock* lock, int64_t lease_ms, mortise_error* error) {
  return call(lock, error, &lock_handle::extend, argument::lease{lease_ms});
}

mortise_status mortise_lock_progress(mortise_lock* lock, mortise_error* error) {
  return call(lock, error, &lock_handle::note_progress, any_hold);
}

mortise_hold_id* mortise_lock_export(mortise_lock* lock, int64_t lease_ms, mortise_error* error) {
  return export_hold(lock, lease_ms, error);
}

mortise_status mortise_lock_adopt(mortise_lock* lock, const char* id, size_t id_len,
                                  mortise_error* error) {
  return call(lock, error, &lock_handle::adopt, argument::id{id, id_len});
}

mortise_status mortise_lock_cancel(mortise_lock* lock, mortise_error* error) {
  return call(lock, error, &lock_handle::cancel);
}

int64_t mortise_lock_valid_ms(const mortise_lock* lock) {
  return look(lock, &lock_handle::valid_ms);
}

int64_t mortise_lock_token(const mortise_lock* lock) { return look(lock, &lock_handle::token); }

mortise_status mortise_lock_query(mortise_lock* lock, mortise_info* info, mortise_error* error) {
  return call(lock, error, &lock_handle::query, argument::result{info});
}

mortise_status mortise_lock_force_release(mortise_lock* lock, const char* owner, size_t owner_len,
                                          mortise_error* error) {
  return call(lock, error, &lock_handle::force_release, argument::owner{owner, owner_len});
}

mortise_status mortise_lock_extend_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         int64_t lease_ms, mortise_error* error) {
  return call(lock, error, &lock_handle::extend_async, argument::handle{queue}, tag,
              argument::lease{lease_ms});
}

mortise_status mortise_lock_watch(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                  mortise_error* error) {
  return call(lock, error, &lock_handle::watch, argument::handle_or_none{queue}, tag);
}

mortise_status mortise_lock_interrupt(mortise_lock* lock, int32_t is_on, mortise_error* error) {
  return call(lock, error, &lock_handle::interrupt, argument::is_on{is_on});
}

mortise_status mortise_lock_set_task(mortise_lock* lock, int64_t task, mortise_error* error) {
  return call(lock, error, &lock_handle::set_task, argument::task{task});
}

const char* mortise_lock_name(const mortise_lock* lock, size_t* name_len) {
  return name_of(lock, name_len);
}

int64_t mortise_lock_deadline_ns(const mortise_lock* lock) {
  return look(lock, &lock_handle::deadline_ns);
}

int64_t mortise_lock_hold_number(const mortise_lock* lock) {
  return look(lock, &lock_handle::hold_number);
}

mortise_status mortise_lock_set_value(mortise_lock* lock, const char* value, size_t value_len,
                                      mortise_error* error) {
  return call(lock, error, &lock_handle::set_value, argument::hold_value{value, value_len});
}

mortise_status mortise_lock_set_value_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                            const char* value, size_t value_len,
                                            mortise_error* error) {
  return call(lock, error, &lock_handle::set_value_async, argument::handle{queue}, tag,
              argument::hold_value{value, value_len});
}
