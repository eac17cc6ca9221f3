// mortise_rw.
#include "handle_calls.hpp"
#include "lock/owner.hpp"

using mortise::lock::hold_mode;
using mortise::lock::portion;
using mortise::lock::whole_weight;
using namespace mortise::capi;  // NOLINT(google-build-using-namespace): the ABI's own file

namespace {

constexpr portion reading{hold_mode::part, 1};
constexpr portion writing{hold_mode::whole, whole_weight};

}  // namespace

mortise_rw* mortise_rw_new(mortise_client* client, const char* name, size_t name_len,
                           const mortise_options* options, mortise_error* error) {
  return new_handle<mortise_rw>(client, mortise::lock::lock_kind::rw, name, name_len, options,
                                whole_weight, error);
}

void mortise_rw_free(mortise_rw* rw) { free_handle(rw); }

mortise_status mortise_rw_read_try(mortise_rw* rw, mortise_error* error) {
  return try_now(rw, "rw", reading, error);
}

mortise_status mortise_rw_read_acquire(mortise_rw* rw, int64_t timeout_ms, mortise_error* error) {
  return acquire(rw, "rw", reading, timeout_ms, error);
}

mortise_status mortise_rw_read_unlock(mortise_rw* rw, mortise_error* error) {
  return unlock(rw, "rw", hold_mode::part, error);
}

mortise_status mortise_rw_read_try_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                         mortise_error* error) {
  return try_async(rw, "rw", queue, tag, reading, error);
}

mortise_status mortise_rw_read_acquire_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                             int64_t timeout_ms, mortise_error* error) {
  return acquire_async(rw, "rw", queue, tag, reading, timeout_ms, error);
}

mortise_status mortise_rw_read_unlock_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                            mortise_error* error) {
  return unlock_async(rw, "rw", queue, tag, hold_mode::part, error);
}

mortise_status mortise_rw_write_try(mortise_rw* rw, mortise_error* error) {
  return try_now(rw, "rw", writing, error);
}

mortise_status mortise_rw_write_acquire(mortise_rw* rw, int64_t timeout_ms, mortise_error* error) {
  return acquire(rw, "rw", writing, timeout_ms, error);
}

mortise_status mortise_rw_write_unlock(mortise_rw* rw, mortise_error* error) {
  return unlock(rw, "rw", hold_mode::whole, error);
}

mortise_status mortise_rw_write_try_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return try_async(rw, "rw", queue, tag, writing, error);
}

mortise_status mortise_rw_write_acquire_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                              int64_t timeout_ms, mortise_error* error) {
  return acquire_async(rw, "rw", queue, tag, writing, timeout_ms, error);
}

mortise_status mortise_rw_write_unlock_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                             mortise_error* error) {
  return unlock_async(rw, "rw", queue, tag, hold_mode::whole, error);
}

mortise_status mortise_rw_upgrade_try(mortise_rw* rw, mortise_error* error) {
  return with(rw, "rw", error, [](lock_handle& handle) { return handle.upgrade(); });
}

mortise_status mortise_rw_downgrade(mortise_rw* rw, mortise_error* error) {
  return with(rw, "rw", error, [](lock_handle& handle) { return handle.downgrade(); });
}

mortise_status mortise_rw_upgrade_try_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                            mortise_error* error) {
  return with_queue(rw, "rw", queue, error, [&](lock_handle& handle, const auto& events) {
    return handle.upgrade_async(events, tag);
  });
}

mortise_status mortise_rw_downgrade_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                          mortise_error* error) {
  return with_queue(rw, "rw", queue, error, [&](lock_handle& handle, const auto& events) {
    return handle.downgrade_async(events, tag);
  });
}

int32_t mortise_rw_is_reading(const mortise_rw* rw) {
  return look<int32_t>(
      rw, [](const lock_handle& handle) { return handle.is_held(hold_mode::part) ? 1 : 0; });
}

int32_t mortise_rw_is_writing(const mortise_rw* rw) {
  return look<int32_t>(
      rw, [](const lock_handle& handle) { return handle.is_held(hold_mode::whole) ? 1 : 0; });
}

mortise_status mortise_rw_extend(mortise_rw* rw, int64_t lease_ms, mortise_error* error) {
  return extend(rw, "rw", lease_ms, error);
}

mortise_status mortise_rw_cancel(mortise_rw* rw, mortise_error* error) {
  return cancel(rw, "rw", error);
}

int64_t mortise_rw_valid_ms(const mortise_rw* rw) {
  return look<int64_t>(rw, [](const lock_handle& handle) { return handle.valid_ms(); });
}

int64_t mortise_rw_token(const mortise_rw* rw) {
  return look<int64_t>(rw, [](const lock_handle& handle) { return handle.token(); });
}

mortise_status mortise_rw_query(mortise_rw* rw, mortise_info* info, mortise_error* error) {
  return query(rw, "rw", info, error);
}

mortise_status mortise_rw_extend_async(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                       int64_t lease_ms, mortise_error* error) {
  return extend_async(rw, "rw", queue, tag, lease_ms, error);
}

mortise_status mortise_rw_watch(mortise_rw* rw, mortise_queue* queue, int64_t tag,
                                mortise_error* error) {
  return watch(rw, "rw", queue, tag, error);
}

mortise_status mortise_rw_interrupt(mortise_rw* rw, int32_t is_on, mortise_error* error) {
  return interrupt(rw, "rw", is_on, error);
}

const char* mortise_rw_name(const mortise_rw* rw, size_t* name_len) {
  return name_of(rw, name_len);
}

int64_t mortise_rw_deadline_ns(const mortise_rw* rw) {
  return look<int64_t>(rw, [](const lock_handle& handle) { return handle.deadline_ns(); });
}
