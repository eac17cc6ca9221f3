// mortise_lock.
#include "handle_calls.hpp"

using mortise::lock::hold_mode;
using mortise::lock::portion;
using namespace mortise::capi;  // NOLINT(google-build-using-namespace): the ABI's own file

namespace {

constexpr portion mutex{hold_mode::whole, 1};

}  // namespace

mortise_lock* mortise_lock_new(mortise_client* client, const char* name, size_t name_len,
                               const mortise_options* options, mortise_error* error) {
  return new_handle<mortise_lock>(client, mortise::lock::lock_kind::mutex, name, name_len, options,
                                  1, error);
}

void mortise_lock_free(mortise_lock* lock) { free_handle(lock); }

mortise_status mortise_lock_try(mortise_lock* lock, mortise_error* error) {
  return try_now(lock, "lock", mutex, error);
}

mortise_status mortise_lock_acquire(mortise_lock* lock, int64_t timeout_ms, mortise_error* error) {
  return acquire(lock, "lock", mutex, timeout_ms, error);
}

mortise_status mortise_lock_unlock(mortise_lock* lock, mortise_error* error) {
  return unlock(lock, "lock", hold_mode::whole, error);
}

mortise_status mortise_lock_try_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                      mortise_error* error) {
  return try_async(lock, "lock", queue, tag, mutex, error);
}

mortise_status mortise_lock_acquire_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                          int64_t timeout_ms, mortise_error* error) {
  return acquire_async(lock, "lock", queue, tag, mutex, timeout_ms, error);
}

mortise_status mortise_lock_unlock_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         mortise_error* error) {
  return unlock_async(lock, "lock", queue, tag, hold_mode::whole, error);
}

int32_t mortise_lock_is_held(const mortise_lock* lock) {
  return look<int32_t>(lock, [](const lock_handle& handle) { return handle.is_held() ? 1 : 0; });
}

mortise_status mortise_lock_extend(mortise_lock* lock, int64_t lease_ms, mortise_error* error) {
  return extend(lock, "lock", lease_ms, error);
}

mortise_status mortise_lock_cancel(mortise_lock* lock, mortise_error* error) {
  return cancel(lock, "lock", error);
}

int64_t mortise_lock_valid_ms(const mortise_lock* lock) {
  return look<int64_t>(lock, [](const lock_handle& handle) { return handle.valid_ms(); });
}

int64_t mortise_lock_token(const mortise_lock* lock) {
  return look<int64_t>(lock, [](const lock_handle& handle) { return handle.token(); });
}

mortise_status mortise_lock_query(mortise_lock* lock, mortise_info* info, mortise_error* error) {
  return query(lock, "lock", info, error);
}

mortise_status mortise_lock_extend_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         int64_t lease_ms, mortise_error* error) {
  return extend_async(lock, "lock", queue, tag, lease_ms, error);
}

mortise_status mortise_lock_watch(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                  mortise_error* error) {
  return watch(lock, "lock", queue, tag, error);
}

mortise_status mortise_lock_interrupt(mortise_lock* lock, int32_t is_on, mortise_error* error) {
  return interrupt(lock, "lock", is_on, error);
}

const char* mortise_lock_name(const mortise_lock* lock, size_t* name_len) {
  return name_of(lock, name_len);
}

int64_t mortise_lock_deadline_ns(const mortise_lock* lock) {
  return look<int64_t>(lock, [](const lock_handle& handle) { return handle.deadline_ns(); });
}
