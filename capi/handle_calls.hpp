// The path from a call of the ABI to the object behind its handle: the firewall and all checks, in
// one frame.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "arguments.hpp"

namespace mortise::capi {

using client::election_handle;
using client::event_queue;
using client::lock_handle;
using client::multi_handle;

// The number that matches any hold.
constexpr std::int64_t any_hold = 0;

// Whether the argument is valid. Otherwise `result` gets the error.
template <class Argument>
bool is_right(const Argument& argument, outcome& result) {
  if constexpr (requires { argument.check(); }) result = argument.check();
  return result.ok();
}

template <class Argument>
decltype(auto) value_of(const Argument& argument) {
  if constexpr (requires { argument.value(); }) {
    return argument.value();
  } else {
    return (argument);
  }
}

// Adds the lock's name to an error. A forked child must not access a multi, because a thread of the
// parent may hold its mutex.
template <class Object>
void name(outcome& result, const Object& object) noexcept {
  if constexpr (std::is_base_of_v<lock_handle, Object>) {
    result.name(object.name());
  } else if constexpr (std::is_same_v<Object, multi_handle>) {
    if (result.code != status::forked) object.name(result);
  }
}

// Calls a member function of the object behind the handle, or a callable with that object, if the
// arguments are valid.
template <class Handle, class Callee, class... Arguments>
mortise_status call(const Handle* handle, mortise_error* error, Callee&& callee,
                    const Arguments&... arguments) noexcept {
  const uncancellable here;
  try {
    auto result = usable(handle);
    if (handle == nullptr) return report(std::move(result), error);
    // Keeps the object during the call, so that a concurrent free is harmless.
    const auto object = handle->object;
    if (result.ok() && (is_right(arguments, result) && ...)) {
      if constexpr (std::is_member_function_pointer_v<std::remove_reference_t<Callee>>) {
        result = ((*object).*callee)(value_of(arguments)...);
      } else {
        result = callee(*object, value_of(arguments)...);
      }
    }
    if (error != nullptr && !result.ok()) capi::name(result, *object);
    return report(std::move(result), error);
  } catch (...) {
    return report(caught(), error);
  }
}

// The value of a const getter; 0 without a handle.
template <class Handle, class Object, class Value, class... Arguments>
Value look(const Handle* handle, Value (Object::*callee)(Arguments...) const,
           const std::type_identity_t<Arguments>&... arguments) noexcept {
  return guard_value<Value>(0, [&]() -> Value {
    if (handle == nullptr || handle->is_foreign()) return 0;
    const auto object = handle->object;
    return ((*object).*callee)(arguments...);
  });
}

// The name never changes, so a forked child may read it, too.
template <class Handle>
const char* name_of(const Handle* handle, size_t* name_len) noexcept {
  return text_of(handle == nullptr ? nullptr : &handle->object->name(), name_len);
}

// A new handle, or nullptr with the error filled. The body gets the client and the handle to fill.
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

// `capacity` is the number of the lock's permits.
template <class Handle>
Handle* make_lock(mortise_client* client, const char* name, size_t name_len, std::int64_t capacity,
                  const mortise_options* options, mortise_error* error) noexcept {
  const auto fill = [&](client::client& self, Handle& handle, std::string_view named) -> outcome {
    if (options != nullptr) {
      if (auto fit = check_fit_for_handle(options->values); !fit.ok()) return fit;
    }
    const auto& terms = options == nullptr ? self.defaults() : options->values;
    auto created = self.new_handle(Handle::kind, named, terms, capacity, handle.object);
    created.name(named);
    return created;
  };
  return make<Handle>(client, error, fill, argument::name{name, name_len});
}

// The id of the exported hold, or nullptr with the error filled.
template <class Handle>
mortise_hold_id* export_hold(Handle* handle, std::int64_t lease_ms, mortise_error* error) noexcept {
  std::unique_ptr<mortise_hold_id> made;
  const auto fill = [&](lock_handle& self, std::int64_t lease) -> outcome {
    auto id = std::make_unique<mortise_hold_id>();
    auto exported = self.export_hold(lease, id->text);
    if (exported.ok()) exported = protocol::read_exported_hold(id->text, id->content);
    if (exported.ok()) made = std::move(id);
    return exported;
  };
  return call(handle, error, fill, argument::lease{lease_ms}) == MORTISE_OK ? made.release()
                                                                            : nullptr;
}

// Ends the object's work and frees the handle. In a forked child it does nothing: the threads and
// mutexes belong to the parent.
template <class Handle, class Object>
void free_handle(Handle* handle, void (Object::*end)() noexcept) noexcept {
  if (handle == nullptr || handle->is_foreign()) return;
  const uncancellable here;
  ((*handle->object).*end)();
  delete handle;
}

}  // namespace mortise::capi
