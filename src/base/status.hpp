// The result of an operation inside the library. The numbers are those of the C ABI. capi/ asserts
// that they agree.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace mortise {

enum class status : std::int32_t {
  ok = 0,
  not_acquired = 1,
  timed_out = 2,
  cancelled = 3,
  lost = 4,
  not_owner = 5,
  shut_down = 6,
  not_waiting = 7,
  deadlock = 8,
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

// The cause of a loss or a risk. The numbers are those of the C ABI.
enum class reason : std::int32_t {
  none = 0,
  expired = 1,
  replaced = 2,
  server_lost = 3,
  max_hold = 4,
  forced = 5,
  stalled = 6,
};

// A text; "" for none.
const char* reason_text(reason why) noexcept;

// The joined parts; empty when memory has run out.
std::string joined(std::initializer_list<std::string_view> parts) noexcept;

// A status with its details. `ok()` means success, so that a function can return it by value. No
// operation on it throws: without memory it keeps its numbers and loses its texts. So code that
// must not throw can report it. Therefore texts are given in parts, each convertible to a
// string_view.
struct outcome {
  status code = status::ok;
  reason why = reason::none;  // of a loss or a risk
  bool is_retryable = false;
  bool is_ambiguous = false;  // may have been executed in spite of the error
  std::string message;        // one line: the problem and the remedy
  std::string server_text;    // the server's own error text, if any
  // The text while the message is empty. Needs no allocation.
  const char* cause = nullptr;
  bool is_named = false;  // the message already names its lock
  // The name of that lock; null for several locks. On the heap, because few results have it.
  std::shared_ptr<const std::string> lock;

  outcome() noexcept = default;
  ~outcome() = default;
  outcome(outcome&&) noexcept = default;
  outcome& operator=(outcome&&) noexcept = default;
  outcome(const outcome& other) noexcept
      : code(other.code),
        why(other.why),
        is_retryable(other.is_retryable),
        is_ambiguous(other.is_ambiguous),
        message(copy_of(other.message)),
        server_text(copy_of(other.server_text)),
        cause(other.cause),
        is_named(other.is_named),
        lock(other.lock) {}
  outcome& operator=(const outcome& other) noexcept { return *this = outcome(other); }

  [[nodiscard]] bool ok() const noexcept { return code == status::ok; }

  template <class... Parts>
  static outcome of(status code, const Parts&... parts) noexcept {
    outcome result;
    result.code = code;
    if constexpr (sizeof...(parts) > 0) result.say(parts...);
    // No request was sent, so the same call may succeed later.
    result.is_retryable = code == status::limit || code == status::unreachable;
    return result;
  }
  // Replaces the message. The present message may be a part of the new one.
  template <class... Parts>
  void say(const Parts&... parts) noexcept {
    message = joined({std::string_view(parts)...});
  }

  // The same for frequent errors that are mostly not read.
  static outcome because(status code, const char* cause) noexcept {
    auto result = of(code);
    result.cause = cause;
    return result;
  }
  static outcome lost(reason why) noexcept {
    auto result = because(status::lost, reason_text(why));
    result.why = why;
    return result;
  }
  // The most detailed text.
  [[nodiscard]] std::string_view words() const noexcept {
    if (!message.empty() || ok()) return message;
    return cause != nullptr && *cause != '\0' ? cause : status_text(code);
  }
  // Adds the lock's name to the message, once, and as one line for any name. A wrong argument
  // already has a name.
  void name(std::string_view of_lock) noexcept;
  // The same for an object without a name, with a description for people.
  void describe(std::string_view what) noexcept;

 private:
  static std::string copy_of(const std::string& text) noexcept {
    return text.empty() ? std::string() : joined({text});
  }
};

// The error of a handle whose client was freed.
inline outcome client_freed() { return outcome::of(status::closed, "the client was freed"); }

}  // namespace mortise
