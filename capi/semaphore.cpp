// mortise_semaphore.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::lock::hold_mode;
using mortise::lock::portion;
using namespace mortise::capi;  // NOLINT(google-build-using-namespace): the ABI's own file

namespace {

portion permits_of(int64_t weight) { return {hold_mode::part, weight}; }

outcome check_permits(int64_t permits) {
  if (permits >= 1 && permits <= MORTISE_MAX_PERMITS) return {};
  return bad_argument("permits", std::to_string(permits) + " is out of range; give 1 to " +
                                     std::to_string(MORTISE_MAX_PERMITS));
}

// Runs a call with a weight that the handle's semaphore can have.
template <class Body>
mortise_status with_weight(mortise_semaphore* semaphore, int64_t weight, mortise_error* error,
                           Body&& body) noexcept {
  const auto how =
      with(semaphore, "semaphore", error, [&](lock_handle&) { return check_weight(weight); });
  return how == MORTISE_OK ? body() : how;
}

}  // namespace

mortise_semaphore* mortise_semaphore_new(mortise_client* client, const char* name, size_t name_len,
                                         int64_t permits, const mortise_options* options,
                                         mortise_error* error) {
  const auto checked = guard(error, [&] { return check_permits(permits); });
  if (checked != MORTISE_OK) return nullptr;
  return new_handle<mortise_semaphore>(client, mortise::lock::lock_kind::semaphore, name, name_len,
                                       options, permits, error);
}

void mortise_semaphore_free(mortise_semaphore* semaphore) { free_handle(semaphore); }

mortise_status mortise_semaphore_try(mortise_semaphore* semaphore, int64_t weight,
                                     mortise_error* error) {
  return with_weight(semaphore, weight, error,
                     [&] { return try_now(semaphore, "semaphore", permits_of(weight), error); });
}

mortise_status mortise_semaphore_acquire(mortise_semaphore* semaphore, int64_t weight,
                                         int64_t timeout_ms, mortise_error* error) {
  return with_weight(semaphore, weight, error, [&] {
    return acquire(semaphore, "semaphore", permits_of(weight), timeout_ms, error);
  });
}

mortise_status mortise_semaphore_release(mortise_semaphore* semaphore, mortise_error* error) {
  return unlock(semaphore, "semaphore", hold_mode::part, error);
}

mortise_status mortise_semaphore_resize(mortise_semaphore* semaphore, int64_t permits,
                                        mortise_error* error) {
  return with(semaphore, "semaphore", error, [&](lock_handle& handle) {
    const auto checked = check_permits(permits);
    return checked.ok() ? handle.resize(permits) : checked;
  });
}

mortise_status mortise_semaphore_try_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                           int64_t tag, int64_t weight, mortise_error* error) {
  return with_weight(semaphore, weight, error, [&] {
    return try_async(semaphore, "semaphore", queue, tag, permits_of(weight), error);
  });
}

mortise_status mortise_semaphore_acquire_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                               int64_t tag, int64_t weight, int64_t timeout_ms,
                                               mortise_error* error) {
  return with_weight(semaphore, weight, error, [&] {
    return acquire_async(semaphore, "semaphore", queue, tag, permits_of(weight), timeout_ms, error);
  });
}

mortise_status mortise_semaphore_release_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                               int64_t tag, mortise_error* error) {
  return unlock_async(semaphore, "semaphore", queue, tag, hold_mode::part, error);
}

int32_t mortise_semaphore_is_held(const mortise_semaphore* semaphore) {
  return look<int32_t>(semaphore,
                       [](const lock_handle& handle) { return handle.is_held() ? 1 : 0; });
}

mortise_status mortise_semaphore_extend(mortise_semaphore* semaphore, int64_t lease_ms,
                                        mortise_error* error) {
  return extend(semaphore, "semaphore", lease_ms, error);
}

mortise_status mortise_semaphore_cancel(mortise_semaphore* semaphore, mortise_error* error) {
  return cancel(semaphore, "semaphore", error);
}

int64_t mortise_semaphore_valid_ms(const mortise_semaphore* semaphore) {
  return look<int64_t>(semaphore, [](const lock_handle& handle) { return handle.valid_ms(); });
}

int64_t mortise_semaphore_token(const mortise_semaphore* semaphore) {
  return look<int64_t>(semaphore, [](const lock_handle& handle) { return handle.token(); });
}

mortise_status mortise_semaphore_query(mortise_semaphore* semaphore, mortise_info* info,
                                       mortise_error* error) {
  return query(semaphore, "semaphore", info, error);
}

mortise_status mortise_semaphore_extend_async(mortise_semaphore* semaphore, mortise_queue* queue,
                                              int64_t tag, int64_t lease_ms, mortise_error* error) {
  return extend_async(semaphore, "semaphore", queue, tag, lease_ms, error);
}

mortise_status mortise_semaphore_watch(mortise_semaphore* semaphore, mortise_queue* queue,
                                       int64_t tag, mortise_error* error) {
  return watch(semaphore, "semaphore", queue, tag, error);
}

mortise_status mortise_semaphore_interrupt(mortise_semaphore* semaphore, int32_t is_on,
                                           mortise_error* error) {
  return interrupt(semaphore, "semaphore", is_on, error);
}

const char* mortise_semaphore_name(const mortise_semaphore* semaphore, size_t* name_len) {
  return name_of(semaphore, name_len);
}

int64_t mortise_semaphore_deadline_ns(const mortise_semaphore* semaphore) {
  return look<int64_t>(semaphore, [](const lock_handle& handle) { return handle.deadline_ns(); });
}
