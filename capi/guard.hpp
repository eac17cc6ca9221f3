// The firewall around every entry of the C ABI. No exception passes it, no thread is canceled
// inside, and the details of a failure are stored in the caller's error object.
#pragma once

#include <pthread.h>

#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status.hpp"
#include "base/system/fork.hpp"
#include "mortise/mortise.h"

struct mortise_error {
  mortise::outcome content;
};

namespace mortise::capi {

// A canceled thread unwinds. A catch-all would then end the process.
class uncancellable {
 public:
  uncancellable() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancellable() { pthread_setcancelstate(before_, nullptr); }
  uncancellable(const uncancellable&) = delete;
  uncancellable& operator=(const uncancellable&) = delete;

 private:
  int before_ = 0;
};

inline mortise_status code_of(status code) noexcept { return static_cast<mortise_status>(code); }

// Fills the error and returns its code. Success clears the error.
inline mortise_status report(outcome&& result, mortise_error* error) noexcept {
  const auto code = code_of(result.code);
  if (error == nullptr) return code;
  if (!result.ok() && result.message.empty()) {
    try {
      result.message = result.words();
    } catch (...) {
      result.message.clear();
    }
  }
  error->content = std::move(result);
  return code;
}

// Bytes as the ABI returns them; "" for nullptr.
inline const char* text_of(const std::string* text, size_t* length) noexcept {
  if (length != nullptr) *length = text == nullptr ? 0 : text->size();
  return text == nullptr ? "" : text->c_str();
}

inline outcome bad_argument(const char* name, const std::string& problem) {
  return outcome::of(status::invalid_argument, std::string(name) + ": " + problem);
}
inline outcome is_null(const char* name) { return bad_argument(name, "is NULL; give a value"); }

// The error for the exception that was just caught.
inline outcome caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return outcome::of(status::no_memory);
  } catch (...) {
    return outcome::of(status::internal);
  }
}

// Runs the body, which returns an outcome.
template <class Body>
mortise_status guard(mortise_error* error, Body&& body) noexcept {
  const uncancellable here;
  try {
    return report(body(), error);
  } catch (...) {
    return report(caught(), error);
  }
}

// Runs a body that returns a value and reports no error. Returns `otherwise` if the body fails.
template <class Value, class Body>
Value guard_value(Value otherwise, Body&& body) noexcept {
  const uncancellable here;
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

}  // namespace mortise::capi
