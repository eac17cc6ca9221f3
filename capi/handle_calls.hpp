// What the entries of all kinds of lock share: checked arguments, and the calls whose meaning does not
// depend on the kind.
#pragma once

#include <memory>
#include <string>

#include "handles.hpp"

namespace mortise::capi {

using client::lock_handle;

inline outcome check_name(const char* name, size_t name_len) {
  if (name == nullptr) return is_null("name");
  if (name_len >= 1 && name_len <= MORTISE_MAX_NAME_LEN) return {};
  return bad_argument("name", std::to_string(name_len) + " bytes; give 1 to " +
                                  std::to_string(MORTISE_MAX_NAME_LEN));
}

inline outcome check_extension(int64_t lease_ms) {
  if (lease_ms == 0 || (lease_ms >= MORTISE_MIN_LEASE_MS && lease_ms <= MORTISE_MAX_MS)) return {};
  return bad_argument("lease_ms", std::to_string(lease_ms) + " is out of range; give 0, or " +
                                      std::to_string(MORTISE_MIN_LEASE_MS) + " to " +
                                      std::to_string(MORTISE_MAX_MS));
}

inline outcome check_weight(int64_t weight) {
  if (weight >= 1 && weight <= MORTISE_MAX_PERMITS) return {};
  return bad_argument("weight", std::to_string(weight) + " is out of range; give 1 to " +
                                    std::to_string(MORTISE_MAX_PERMITS));
}

// A new handle of the C type, or nullptr with the error filled.
template <class Handle>
Handle* new_handle(mortise_client* client, lock::lock_kind kind, const char* name, size_t name_len,
                   const mortise_options* options, int64_t permits, mortise_error* error) noexcept {
  auto made = std::unique_ptr<Handle>();
  const auto how = with(client, "client", error, [&](client::client& self) -> outcome {
    if (auto checked = check_name(name, name_len); !checked.ok()) return checked;
    if (options != nullptr) {
      if (auto fit = check_fit_for_handle(options->values); !fit.ok()) return fit;
    }
    auto handle = std::make_unique<Handle>();
    auto created = self.new_handle(kind, {name, name_len},
                                   options == nullptr ? self.defaults() : options->values, permits,
                                   handle->object);
    if (created.ok()) made = std::move(handle);
    created.name({name, name_len});
    return created;
  });
  return how == MORTISE_OK ? made.release() : nullptr;
}

template <class Handle>
void free_handle(Handle* handle) noexcept {
  if (handle == nullptr || handle->is_foreign()) return;
  const uncancellable here;
  handle->object->release();
  delete handle;
}

// A call on a handle and a queue, both of this process; a queue serves any handle.
template <class Handle, class Body>
mortise_status with_queue(Handle* handle, const char* name, mortise_queue* queue,
                          mortise_error* error, Body&& body) noexcept {
  return with(handle, name, error, [&](lock_handle& object) -> outcome {
    if (auto checked = usable(queue, "queue"); !checked.ok()) return checked;
    return body(object, queue->object);
  });
}

template <class Value, class Handle, class Body>
Value look(const Handle* handle, Body&& body) noexcept {
  return guard_value<Value>(0, [&]() -> Value {
    if (handle == nullptr || handle->is_foreign()) return 0;
    const auto object = handle->object;
    return body(*object);
  });
}

// ---- blocking -------------------------------------------------------------------------------

template <class Handle>
mortise_status try_now(Handle* handle, const char* name, const lock::portion& wanted,
                       mortise_error* error) noexcept {
  return with(handle, name, error, [&](lock_handle& object) { return object.try_acquire(wanted); });
}

template <class Handle>
mortise_status acquire(Handle* handle, const char* name, const lock::portion& wanted,
                       int64_t timeout_ms, mortise_error* error) noexcept {
  return with(handle, name, error, [&](lock_handle& object) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? object.acquire(wanted, timeout_ms) : checked;
  });
}

template <class Handle>
mortise_status unlock(Handle* handle, const char* name, lock::hold_mode mode,
                      mortise_error* error) noexcept {
  return with(handle, name, error, [&](lock_handle& object) { return object.unlock(mode); });
}

template <class Handle>
mortise_status extend(Handle* handle, const char* name, int64_t lease_ms,
                      mortise_error* error) noexcept {
  return with(handle, name, error, [&](lock_handle& object) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? object.extend(lease_ms) : checked;
  });
}

template <class Handle>
mortise_status cancel(Handle* handle, const char* name, mortise_error* error) noexcept {
  return with(handle, name, error, [](lock_handle& object) { return object.cancel(); });
}

template <class Handle>
mortise_status interrupt(Handle* handle, const char* name, int32_t is_on,
                         mortise_error* error) noexcept {
  return with(handle, name, error, [&](auto& object) -> outcome {
    if (is_on == 0 || is_on == 1) return object.interrupt(is_on == 1);
    return bad_argument("is_on", std::to_string(is_on) + " is neither 0 nor 1");
  });
}

// It never changes, so that a forked child may have it, too.
template <class Handle>
const char* name_of(const Handle* handle, size_t* name_len) noexcept {
  return text_of(handle == nullptr ? nullptr : &handle->object->name(), name_len);
}

template <class Handle>
mortise_status query(Handle* handle, const char* name, mortise_info* info,
                     mortise_error* error) noexcept {
  return with(handle, name, error, [&](lock_handle& object) {
    return info == nullptr ? is_null("info") : object.query(info->told);
  });
}

template <class Handle>
mortise_status watch(Handle* handle, const char* name, mortise_queue* queue, int64_t tag,
                     mortise_error* error) noexcept {
  if (queue != nullptr) {
    return with_queue(handle, name, queue, error, [&](lock_handle& object, const auto& events) {
      return object.watch(events, tag);
    });
  }
  return with(handle, name, error, [&](lock_handle& object) { return object.watch(nullptr, tag); });
}

// ---- asynchronous ---------------------------------------------------------------------------

template <class Handle>
mortise_status try_async(Handle* handle, const char* name, mortise_queue* queue, int64_t tag,
                         const lock::portion& wanted, mortise_error* error) noexcept {
  return with_queue(handle, name, queue, error, [&](lock_handle& object, const auto& events) {
    return object.try_async(events, tag, wanted);
  });
}

template <class Handle>
mortise_status acquire_async(Handle* handle, const char* name, mortise_queue* queue, int64_t tag,
                             const lock::portion& wanted, int64_t timeout_ms,
                             mortise_error* error) noexcept {
  return with_queue(handle, name, queue, error, [&](lock_handle& object, const auto& events) {
    const auto checked = check_timeout(timeout_ms);
    return checked.ok() ? object.acquire_async(events, tag, wanted, timeout_ms) : checked;
  });
}

template <class Handle>
mortise_status unlock_async(Handle* handle, const char* name, mortise_queue* queue, int64_t tag,
                            lock::hold_mode mode, mortise_error* error) noexcept {
  return with_queue(handle, name, queue, error, [&](lock_handle& object, const auto& events) {
    return object.unlock_async(events, tag, mode);
  });
}

template <class Handle>
mortise_status extend_async(Handle* handle, const char* name, mortise_queue* queue, int64_t tag,
                            int64_t lease_ms, mortise_error* error) noexcept {
  return with_queue(handle, name, queue, error, [&](lock_handle& object, const auto& events) {
    const auto checked = check_extension(lease_ms);
    return checked.ok() ? object.extend_async(events, tag, lease_ms) : checked;
  });
}

}  // namespace mortise::capi
