// Arguments that can be wrong. Each type checks its value, describes the error, and converts the
// value for the object behind the handle. The checks run in the order of the arguments, before the
// call.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "handles.hpp"
#include "lock/gate/owner.hpp"

namespace mortise::capi {

// `range` describes the valid values.
inline outcome out_of_range(const char* name, std::int64_t value, const std::string& range) {
  return bad_argument(name, std::to_string(value) + " is out of range; give " + range);
}

inline outcome check_permits(const char* name, std::int64_t count) {
  if (count >= 1 && count <= MORTISE_MAX_PERMITS) return {};
  return out_of_range(name, count, "1 to " + std::to_string(MORTISE_MAX_PERMITS));
}

}  // namespace mortise::capi

namespace mortise::capi::argument {

// The time to wait.
struct timeout {
  std::int64_t ms;
  [[nodiscard]] outcome check() const {
    if (ms == MORTISE_FOREVER || (ms >= 0 && ms <= MORTISE_MAX_MS)) return {};
    return out_of_range("timeout_ms", ms,
                        "0 to " + std::to_string(MORTISE_MAX_MS) + ", or MORTISE_FOREVER");
  }
  [[nodiscard]] std::int64_t value() const { return ms; }
};

// The time that other clients have to reply.
struct patience {
  std::int64_t ms;
  static constexpr std::int64_t most_ms = 60'000;
  [[nodiscard]] outcome check() const {
    if (ms >= 1 && ms <= most_ms) return {};
    return out_of_range("timeout_ms", ms, "1 to " + std::to_string(most_ms));
  }
  [[nodiscard]] std::int64_t value() const { return ms; }
};

// How far a history goes back.
struct window {
  std::int64_t ms;
  [[nodiscard]] outcome check() const {
    if (ms >= 1 && ms <= protocol::longest_history_ms) return {};
    return out_of_range("window_ms", ms, "1 to " + std::to_string(protocol::longest_history_ms));
  }
  [[nodiscard]] std::int64_t value() const { return ms; }
};

// The pattern of the keys in a scan; none for Mortise's own.
struct pattern {
  const char* bytes;
  std::size_t length;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr && length > 0) return is_null("pattern");
    if (length <= MORTISE_MAX_NAME_LEN) return {};
    return bad_argument("pattern", std::to_string(length) + " bytes; give at most " +
                                       std::to_string(MORTISE_MAX_NAME_LEN));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, bytes == nullptr ? 0 : length}; }
};

// The number of keys to scan.
struct most_keys {
  std::int64_t count;
  static constexpr std::int64_t most = 1'000'000'000;
  [[nodiscard]] outcome check() const {
    if (count >= 1 && count <= most) return {};
    return out_of_range("most_keys", count, "1 to " + std::to_string(most));
  }
  [[nodiscard]] std::int64_t value() const { return count; }
};

// The lease after an extension; 0 for the handle's own.
struct lease {
  std::int64_t ms;
  [[nodiscard]] outcome check() const {
    if (ms == 0 || (ms >= MORTISE_MIN_LEASE_MS && ms <= MORTISE_MAX_MS)) return {};
    return out_of_range(
        "lease_ms", ms,
        "0, or " + std::to_string(MORTISE_MIN_LEASE_MS) + " to " + std::to_string(MORTISE_MAX_MS));
  }
  [[nodiscard]] std::int64_t value() const { return ms; }
};

// The number of permits to acquire.
struct permits {
  std::int64_t count;
  [[nodiscard]] outcome check() const { return check_permits("permits", count); }
  [[nodiscard]] lock::amount value() const { return {lock::hold_mode::shared, count}; }
};

// The number of permits of a semaphore.
struct capacity {
  std::int64_t count;
  [[nodiscard]] outcome check() const { return check_permits("capacity", count); }
  [[nodiscard]] std::int64_t value() const { return count; }
};

struct hold_number {
  std::int64_t number;
  [[nodiscard]] outcome check() const {
    if (number > 0) return {};
    return bad_argument(
        "hold_number",
        std::to_string(number) +
            " is not a hold number; give the result of mortise_lock_hold_number during the hold");
  }
  [[nodiscard]] std::int64_t value() const { return number; }
};

struct is_on {
  std::int32_t given;
  [[nodiscard]] outcome check() const {
    if (given == 0 || given == 1) return {};
    return bad_argument("is_on", std::to_string(given) + " is neither 0 nor 1");
  }
  [[nodiscard]] bool value() const { return given == 1; }
};

// The task of later calls.
struct task {
  std::int64_t number;
  [[nodiscard]] outcome check() const {
    if (number >= 0) return {};
    return out_of_range("task", number, "0 to " + std::to_string(INT64_MAX));
  }
  [[nodiscard]] std::int64_t value() const { return number; }
};

// The level of the log records to report, if enabled.
struct log_level_of_watch {
  mortise_log_level level;
  bool is_on;
  [[nodiscard]] outcome check() const {
    if (!is_on || (level >= MORTISE_LOG_LEVEL_ERROR && level <= MORTISE_LOG_LEVEL_INFO)) return {};
    return out_of_range("level", level,
                        std::to_string(MORTISE_LOG_LEVEL_ERROR) + " (ERROR) to " +
                            std::to_string(MORTISE_LOG_LEVEL_INFO) + " (INFO)");
  }
  [[nodiscard]] log_level value() const { return static_cast<log_level>(level); }
};

// The interval between reports, if enabled.
struct interval_of_watch {
  std::int64_t ms;
  bool is_on;
  static constexpr std::int64_t shortest_ms = 10;
  [[nodiscard]] outcome check() const {
    if (!is_on || (ms >= shortest_ms && ms <= MORTISE_MAX_MS)) return {};
    return out_of_range("interval_ms", ms,
                        std::to_string(shortest_ms) + " to " + std::to_string(MORTISE_MAX_MS));
  }
  [[nodiscard]] std::int64_t value() const { return ms; }
};

// The interval between queries of an observed election, if enabled; 0 for the default.
struct interval_of_observation {
  std::int64_t ms;
  bool is_on;
  static constexpr std::int64_t default_ms = 1000;
  [[nodiscard]] outcome check() const {
    if (!is_on || ms == 0 || (ms >= interval_of_watch::shortest_ms && ms <= MORTISE_MAX_MS)) {
      return {};
    }
    return out_of_range("interval_ms", ms,
                        std::to_string(interval_of_watch::shortest_ms) + " to " +
                            std::to_string(MORTISE_MAX_MS) + ", or 0 for 1 s");
  }
  [[nodiscard]] std::int64_t value() const { return ms == 0 ? default_ms : ms; }
};

// The name of a lock, as any bytes.
struct name {
  const char* bytes;
  std::size_t length;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr) return is_null("name");
    if (length >= 1 && length <= MORTISE_MAX_NAME_LEN) return {};
    return bad_argument("name", std::to_string(length) + " bytes; give 1 to " +
                                    std::to_string(MORTISE_MAX_NAME_LEN));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, length}; }
};

// The holder of a lock, as in a query.
struct owner {
  const char* bytes;
  std::size_t length;
  static constexpr std::size_t most_bytes = 4096;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr) return is_null("owner");
    if (length >= 1 && length <= most_bytes) return {};
    return bad_argument("owner", std::to_string(length) +
                                     " bytes; give the result of mortise_info_entry_owner, 1 to " +
                                     std::to_string(most_bytes));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, length}; }
};

// The value of a hold.
struct hold_value {
  const char* bytes;
  std::size_t length;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr && length > 0) return is_null("value");
    if (length > MORTISE_MAX_VALUE_LEN) {
      return bad_argument("value", std::to_string(length) + " bytes; give at most " +
                                       std::to_string(MORTISE_MAX_VALUE_LEN));
    }
    const auto fault = fault_of_value(value());
    return fault.empty() ? outcome{}
                         : bad_argument("value", fault + "; give UTF-8 without zero bytes");
  }
  [[nodiscard]] std::string_view value() const { return {bytes, bytes == nullptr ? 0 : length}; }
};

// The text of a hold's id.
struct id {
  const char* bytes;
  std::size_t length;
  static constexpr std::size_t most_bytes = 4096;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr) return is_null("id");
    if (length >= 1 && length <= most_bytes) return {};
    return bad_argument("id", std::to_string(length) +
                                  " bytes; give the result of mortise_hold_id_text, 1 to " +
                                  std::to_string(most_bytes));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, length}; }
};

// The user of a login, as any bytes. Error messages do not show it.
struct user {
  const char* bytes;
  std::size_t length;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr && length > 0) return is_null("user");
    if (length <= MORTISE_MAX_PASSWORD_LEN) return {};
    return bad_argument("user", std::to_string(length) + " bytes; give at most " +
                                    std::to_string(MORTISE_MAX_PASSWORD_LEN));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, bytes == nullptr ? 0 : length}; }
};

struct password {
  const char* bytes;
  std::size_t length;
  [[nodiscard]] outcome check() const {
    if (bytes == nullptr) return is_null("password");
    if (length >= 1 && length <= MORTISE_MAX_PASSWORD_LEN) return {};
    return bad_argument("password", std::to_string(length) + " bytes; give 1 to " +
                                        std::to_string(MORTISE_MAX_PASSWORD_LEN));
  }
  [[nodiscard]] std::string_view value() const { return {bytes, length}; }
};

// A second handle of the call. Its object is copied, because another thread may free a queue as
// soon as it has read the event of the call.
template <class Handle>
struct handle {
  const Handle* given;
  [[nodiscard]] outcome check() const { return usable(given); }
  [[nodiscard]] auto value() const { return given->object; }
};
template <class Handle>
handle(const Handle*) -> handle<Handle>;

// The same, but NULL is valid and means none.
template <class Handle>
struct handle_or_none {
  const Handle* given;
  [[nodiscard]] outcome check() const { return given == nullptr ? outcome{} : usable(given); }
  [[nodiscard]] auto value() const { return given == nullptr ? nullptr : given->object; }
};
template <class Handle>
handle_or_none(const Handle*) -> handle_or_none<Handle>;

// The result that the call fills: an event or an info.
template <class Result>
struct result {
  Result* given;
  [[nodiscard]] outcome check() const {
    return given == nullptr ? is_null(Result::argument_name) : outcome{};
  }
  [[nodiscard]] auto& value() const { return given->content; }
};
template <class Result>
result(Result*) -> result<Result>;

}  // namespace mortise::capi::argument
