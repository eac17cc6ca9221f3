// What an operation came to, inside the library. The numbers are those of the C ABI; capi/ asserts
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

// Why a hold was lost, or is at risk. The numbers are those of the C ABI.
enum class reason : std::int32_t {
  none = 0,
  expired = 1,
  replaced = 2,
  server_lost = 3,
  max_hold = 4,
  forced = 5,
};

// In words; "" for none.
const char* reason_text(reason why) noexcept;

// The parts as one text; empty where memory has run out.
std::string joined(std::initializer_list<std::string_view> parts) noexcept;

// A status with its details. `ok()` for success, so that a function can return it by value. Making,
// copying and completing one never throws: where memory has run out it keeps its numbers and loses
// its words, so it can be told from where nobody could catch an exception. That is why texts are
// given in parts, which may be anything that a string_view can be made of.
struct outcome {
  status code = status::ok;
  reason why = reason::none;  // of a loss or a risk
  bool is_retryable = false;
  bool is_ambiguous = false;  // it may have been carried out although it failed
  std::string message;        // one line: what was wrong and how to fix it
  std::string server_text;    // the server's own words, when it had any
  // What to say while the message is empty; costs no memory.
  const char* cause = nullptr;
  bool is_named = false;  // the message says of which lock it is told
  // The name of that lock; none for several. Apart, as few outcomes ever have it.
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
    // Nothing was sent: the same call may succeed later.
    result.is_retryable = code == status::limit || code == status::unreachable;
    return result;
  }
  // Another message, of which the present one may be a part.
  template <class... Parts>
  void say(const Parts&... parts) noexcept {
    message = joined({std::string_view(parts)...});
  }

  // The same for what happens often, and mostly without anybody who reads it.
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
  // What there is to say.
  [[nodiscard]] std::string_view words() const noexcept {
    if (!message.empty() || ok()) return message;
    return cause != nullptr && *cause != '\0' ? cause : status_text(code);
  }
  // Says of which lock it is told, once, and in one line whatever the name; a wrong argument is
  // named by itself.
  void name(std::string_view of_lock) noexcept;
  // The same for what has no name of its own, in words for people.
  void describe(std::string_view what) noexcept;

 private:
  static std::string copy_of(const std::string& text) noexcept {
    return text.empty() ? std::string() : joined({text});
  }
};

// Of a handle whose client is gone.
inline outcome client_freed() { return outcome::of(status::closed, "the client was freed"); }

}  // namespace mortise
