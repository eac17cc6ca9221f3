// How a call of the ABI reaches the object behind its handle: the firewall and all that is checked,
// in one frame.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "arguments.hpp"

namespace mortise::capi {

using client::event_queue;
using client::lock_handle;
using client::multi_handle;

// The number of whatever hold there is.
constexpr std::int64_t any_hold = 0;

// Whether it is right; `how` says what is wrong with it.
template <class Argument>
bool is_right(const Argument& argument, outcome& how) {
  if constexpr (requires { argument.check(); }) how = argument.check();
  return how.ok();
}

template <class Argument>
decltype(auto) value_of(const Argument& argument) {
  if constexpr (requires { argument.value(); }) {
    return argument.value();
  } else {
    return (argument);
  }
}

// Says of which lock a failure is told. A forked child must not look into a multi, whose mutex may
// be held by a thread that it does not have.
template <class Object>
void name(outcome& how, const Object& object) noexcept {
  if constexpr (std::is_same_v<Object, lock_handle>) {
    how.name(object.name());
  } else if constexpr (std::is_same_v<Object, multi_handle>) {
    if (how.code != status::forked) object.name(how);
  }
}

// Calls a member function of the object behind the handle, or what else takes that object, with
// these arguments when they are right.
template <class Handle, class Callee, class... Arguments>
mortise_status call(const Handle* handle, mortise_error* error, Callee&& callee,
                    const Arguments&... arguments) noexcept {
  const uncancellable here;
  try {
    auto how = usable(handle);
    if (handle == nullptr) return report(std::move(how), error);
    // Kept for the length of the call so that a concurrent free does no harm.
    const auto object = handle->object;
    if (how.ok() && (is_right(arguments, how) && ...)) {
      if constexpr (std::is_member_function_pointer_v<std::remove_reference_t<Callee>>) {
        how = ((*object).*callee)(value_of(arguments)...);
      } else {
        how = callee(*object, value_of(arguments)...);
      }
    }
    if (error != nullptr && !how.ok()) capi::name(how, *object);
    return report(std::move(how), error);
  } catch (...) {
    return report(caught(), error);
  }
}

// What the object says that is asked for no more than this; 0 where there is none.
template <class Handle, class Object, class Value, class... Arguments>
Value look(const Handle* handle, Value (Object::*callee)(Arguments...) const,
           const std::type_identity_t<Arguments>&... arguments) noexcept {
  return guard_value<Value>(0, [&]() -> Value {
    if (handle == nullptr || handle->is_foreign()) return 0;
    const auto object = handle->object;
    return ((*object).*callee)(arguments...);
  });
}

// It never changes, so that a forked child may have it, too.
template <class Handle>
const char* name_of(const Handle* handle, size_t* name_len) noexcept {
  return text_of(handle == nullptr ? nullptr : &handle->object->name(), name_len);
}

// A new handle, or nullptr with the error filled. The body is given the client and what is to be
// filled.
template <class Handle, class Body, class... Arguments>
Handle* make(const mortise_client* client, mortise_error* error, Body&& body,
             const Arguments&... arguments) noexcept {
  std::unique_ptr<Handle> made;
  const auto fill = [&](client::client& self, const auto&... values) -> outcome {
    auto handle = std::make_unique<Handle>();
    auto filled = body(self, *handle, values...);
    if (filled.ok()) made = std::move(handle);
    return filled;
  };
  return call(client, error, fill, arguments...) == MORTISE_OK ? made.release() : nullptr;
}

// `limit` is how much there is of the lock.
template <class Handle>
Handle* make_lock(mortise_client* client, const char* name, size_t name_len, std::int64_t limit,
                  const mortise_options* options, mortise_error* error) noexcept {
  const auto fill = [&](client::client& self, Handle& handle, std::string_view named) -> outcome {
    if (options != nullptr) {
      if (auto fit = check_fit_for_handle(options->values); !fit.ok()) return fit;
    }
    const auto& terms = options == nullptr ? self.defaults() : options->values;
    auto created = self.new_handle(Handle::kind, named, terms, limit, handle.object);
    created.name(named);
    return created;
  };
  return make<Handle>(client, error, fill, argument::name{name, name_len});
}

// Ends what its object does, and frees the handle. In a forked child it is left as it is: its
// threads and their locks are the parent's.
template <class Handle, class Object>
void free_handle(Handle* handle, void (Object::*end)() noexcept) noexcept {
  if (handle == nullptr || handle->is_foreign()) return;
  const uncancellable here;
  ((*handle->object).*end)();
  delete handle;
}

}  // namespace mortise::capi
