// mortise_lock.
#include "handles.hpp"

using mortise::outcome;
using mortise::client::lock_handle;

namespace mortise::capi {

outcome check_timeout(std::int64_t timeout_ms) {
  if (timeout_ms == MORTISE_FOREVER || (timeout_ms >= 0 && timeout_ms <= MORTISE_MAX_MS)) return {};
  return bad_argument("timeout_ms", std::to_string(timeout_ms) + " is out of range; give 0 to " +
                                        std::to_string(MORTISE_MAX_MS) + ", or MORTISE_FOREVER");
}

namespace {

outcome check_name(const char* name, size_t name_len) {
  if (name == nullptr) return is_null("name");
  if (name_len >= 1 && name_len <= MORTISE_MAX_NAME_LEN) return {};
  return bad_argument("name", std::to_string(name_len) + " bytes; give 1 to " +
                                  std::to_string(MORTISE_MAX_NAME_LEN));
}

outcome check_extension(int64_t lease_ms) {
  if (lease_ms == 0 || (lease_ms >= MORTISE_MIN_LEASE_MS && lease_ms <= MORTISE_MAX_MS)) return {};
  return bad_argument("lease_ms", std::to_string(lease_ms) + " is out of range; give 0, or " +
                                      std::to_string(MORTISE_MIN_LEASE_MS) + " to " +
                                      std::to_string(MORTISE_MAX_MS));
}

// A call on a lock and a queue, both of this process and of one client's making or not: a queue
// serves any handle.
template <class Body>
mortise_status with_queue(mortise_lock* lock, mortise_queue* queue, mortise_error* error,
                          Body&& body) noexcept {
  return with(lock, "lock", error, [&](lock_handle& handle) -> outcome {
    if (auto checked = usable(queue, "queue"); !checked.ok()) return checked;
    return body(handle, queue->object);
  });
}

template <class Value, class Body>
Value look(const mortise_lock* lock, Body&& body) noexcept {
  return guard_value<Value>(0, [&]() -> Value {
    if (lock == nullptr || lock->is_foreign()) return 0;
    const auto object = lock->object;
    return body(*object);
  });
}

}  // namespace

}  // namespace mortise::capi

using namespace mortise::capi;  // NOLINT(google-build-using-namespace): the ABI's own file

mortise_lock* mortise_lock_new(mortise_client* client, const char* name, size_t name_len,
                               const mortise_options* options, mortise_error* error) {
  auto made = std::unique_ptr<mortise_lock>();
  const auto how = with(client, "client", error, [&](mortise::client::core& core) -> outcome {
    if (auto checked = check_name(name, name_len); !checked.ok()) return checked;
    auto handle = std::make_unique<mortise_lock>();
    auto created = core.new_lock(
        {name, name_len}, options == nullptr ? core.defaults() : options->values, handle->object);
    if (created.ok()) made = std::move(handle);
    return created;
  });
  return how == MORTISE_OK ? made.release() : nullptr;
}

void mortise_lock_free(mortise_lock* lock) {
  if (lock == nullptr || lock->is_foreign()) return;
  const uncancellable here;
  lock->object->release();
  delete lock;
}

mortise_status mortise_lock_try(mortise_lock* lock, mortise_error* error) {
  return with(lock, "lock", error, [](lock_handle& handle) { return handle.try_acquire(); });
}

mortise_status mortise_lock_acquire(mortise_lock* lock, int64_t timeout_ms, mortise_error* error) {
  return with(lock, "lock", error, [&](lock_handle& handle) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? handle.acquire(timeout_ms) : checked;
  });
}

mortise_status mortise_lock_unlock(mortise_lock* lock, mortise_error* error) {
  return with(lock, "lock", error, [](lock_handle& handle) { return handle.unlock(); });
}

mortise_status mortise_lock_extend(mortise_lock* lock, int64_t lease_ms, mortise_error* error) {
  return with(lock, "lock", error, [&](lock_handle& handle) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? handle.extend(lease_ms) : checked;
  });
}

mortise_status mortise_lock_cancel(mortise_lock* lock, mortise_error* error) {
  return with(lock, "lock", error, [](lock_handle& handle) { return handle.cancel(); });
}

int32_t mortise_lock_is_held(const mortise_lock* lock) {
  return look<int32_t>(lock, [](const lock_handle& handle) { return handle.is_held() ? 1 : 0; });
}

int64_t mortise_lock_valid_ms(const mortise_lock* lock) {
  return look<int64_t>(lock, [](const lock_handle& handle) { return handle.valid_ms(); });
}

int64_t mortise_lock_token(const mortise_lock* lock) {
  return look<int64_t>(lock, [](const lock_handle& handle) { return handle.token(); });
}

mortise_status mortise_lock_query(mortise_lock* lock, mortise_info* info, mortise_error* error) {
  return with(lock, "lock", error, [&](lock_handle& handle) {
    return info == nullptr ? is_null("info") : handle.query(info->told);
  });
}

mortise_status mortise_lock_try_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                      mortise_error* error) {
  return with_queue(lock, queue, error, [&](lock_handle& handle, const auto& events) {
    return handle.try_async(events, tag);
  });
}

mortise_status mortise_lock_acquire_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                          int64_t timeout_ms, mortise_error* error) {
  return with_queue(lock, queue, error, [&](lock_handle& handle, const auto& events) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? handle.acquire_async(events, tag, timeout_ms) : checked;
  });
}

mortise_status mortise_lock_unlock_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         mortise_error* error) {
  return with_queue(lock, queue, error, [&](lock_handle& handle, const auto& events) {
    return handle.unlock_async(events, tag);
  });
}

mortise_status mortise_lock_extend_async(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                         int64_t lease_ms, mortise_error* error) {
  return with_queue(lock, queue, error, [&](lock_handle& handle, const auto& events) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? handle.extend_async(events, tag, lease_ms) : checked;
  });
}

mortise_status mortise_lock_watch(mortise_lock* lock, mortise_queue* queue, int64_t tag,
                                  mortise_error* error) {
  if (queue != nullptr) {
    return with_queue(lock, queue, error, [&](lock_handle& handle, const auto& events) {
      return handle.watch(events, tag);
    });
  }
  return with(lock, "lock", error, [&](lock_handle& handle) { return handle.watch(nullptr, tag); });
}
