// What is behind the opaque handles: a shared object, and the process that it was made in.
#pragma once

#include <memory>
#include <string>

#include "base/fork.hpp"
#include "base/options.hpp"
#include "client/client.hpp"
#include "client/event_queue.hpp"
#include "client/lock_handle.hpp"
#include "client/multi_handle.hpp"
#include "client/query.hpp"
#include "guard.hpp"

struct mortise_options {
  mortise::settings values;
};

struct mortise_event {
  mortise::client::event told;
};

struct mortise_info {
  mortise::client::lock_info told;
};

namespace mortise::capi {

// A handle with threads and sockets behind it. In a forked child it is inert: it answers `forked`
// and is never taken apart, because its locks may be held by threads that the child does not have
// (hazard 21).
template <class Object>
struct process_handle {
  std::shared_ptr<Object> object;
  std::uint64_t process = process_mark();
  [[nodiscard]] bool is_foreign() const noexcept { return process != process_mark(); }
};

// ok when the handle can be used.
template <class Handle>
outcome usable(const Handle* handle, const char* name) {
  if (handle == nullptr) return is_null(name);
  if (handle->is_foreign()) {
    return outcome::of(status::forked, "this ", name,
                       " was made before fork(); make a new client here");
  }
  return {};
}

// Says of which lock a failure is told. A forked child must not look into a multi, whose mutex may be
// held by a thread that it does not have.
inline void name(outcome& how, const client::lock_handle& handle) noexcept {
  how.name(handle.name());
}
inline void name(outcome& how, const client::multi_handle& handle) noexcept {
  if (how.code != status::forked) handle.name(how);
}
template <class Object>
void name(outcome& /*how*/, const Object& /*of_no_lock*/) noexcept {}

// The object, kept for the length of the call so that a concurrent free does no harm.
template <class Handle, class Body>
mortise_status with(const Handle* handle, const char* name, mortise_error* error,
                    Body&& body) noexcept {
  return guard(error, [&]() -> outcome {
    if (handle == nullptr) return is_null(name);
    auto how = usable(handle, name);
    const auto object = handle->object;
    if (how.ok()) how = body(*object);
    if (error != nullptr && !how.ok()) capi::name(how, *object);
    return how;
  });
}

// Milliseconds to wait: 0 to MORTISE_MAX_MS, or MORTISE_FOREVER.
inline outcome check_timeout(std::int64_t timeout_ms) {
  if (timeout_ms == MORTISE_FOREVER || (timeout_ms >= 0 && timeout_ms <= MORTISE_MAX_MS)) return {};
  return bad_argument("timeout_ms", std::to_string(timeout_ms) + " is out of range; give 0 to " +
                                        std::to_string(MORTISE_MAX_MS) + ", or MORTISE_FOREVER");
}

}  // namespace mortise::capi

struct mortise_client : mortise::capi::process_handle<mortise::client::client> {};
struct mortise_lock : mortise::capi::process_handle<mortise::client::lock_handle> {};
struct mortise_rw : mortise::capi::process_handle<mortise::client::lock_handle> {};
struct mortise_semaphore : mortise::capi::process_handle<mortise::client::lock_handle> {};
struct mortise_multi : mortise::capi::process_handle<mortise::client::multi_handle> {};
struct mortise_queue : mortise::capi::process_handle<mortise::client::event_queue> {};
