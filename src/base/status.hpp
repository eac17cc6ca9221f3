// What an operation came to, inside the library. The numbers are those of the C ABI; capi/ asserts
// that they agree.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace mortise {

enum class status : std::int32_t {
  ok = 0,
  not_acquired = 1,
  timed_out = 2,
  cancelled = 3,
  lost = 4,
  not_owner = 5,
  shut_down = 6,
  invalid_argument = -1,
  unreachable = -2,
  unknown = -3,
  refused = -4,
  already_held = -5,
  busy = -6,
  limit = -7,
  closed = -8,
  forked = -9,
  unsupported = -10,
  no_memory = -11,
  internal = -12,
};

const char* status_text(status code) noexcept;

// A status with its details. `ok()` for success, so that a function can return it by value.
struct outcome {
  status code = status::ok;
  std::string message;      // one line: what was wrong and how to mend it
  std::string server_text;  // the server's own words, when it had any
  bool is_retryable = false;
  bool is_ambiguous = false;  // it may have been carried out although it failed

  [[nodiscard]] bool ok() const noexcept { return code == status::ok; }

  static outcome of(status code, std::string message = {}) {
    outcome result;
    result.code = code;
    result.message = std::move(message);
    // Nothing was sent: the same call may succeed later.
    result.is_retryable = code == status::limit || code == status::unreachable;
    return result;
  }
};

// Of a handle whose client is gone.
inline outcome client_freed() { return outcome::of(status::closed, "the client was freed"); }

}  // namespace mortise
