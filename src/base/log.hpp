// Log records: events that no failed call reports. The numbers are those of the C ABI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mortise {

// Lower values are more severe.
enum class log_level : std::int32_t { none = 0, error = 1, warning = 2, info = 3 };

// The event of a record.
enum class log_subject : std::int32_t {
  none = 0,
  reconnected = 1,
  redirected = 2,
  disconnected = 3,
  unreachable = 4,
  refused = 5,
  slow = 6,
  lost = 7,
};
constexpr std::size_t log_subject_count = 8;

constexpr log_level level_of(log_subject what) noexcept {
  switch (what) {
    case log_subject::none:
      return log_level::none;
    case log_subject::reconnected:
    case log_subject::redirected:
      return log_level::info;
    case log_subject::disconnected:
    case log_subject::unreachable:
    case log_subject::slow:
      return log_level::warning;
    case log_subject::refused:
    case log_subject::lost:
      return log_level::error;
  }
  return log_level::none;
}

// The level as one word; "unknown" for any other number.
constexpr const char* text_of(log_level level) noexcept {
  switch (level) {
    case log_level::none:
      return "none";
    case log_level::error:
      return "error";
    case log_level::warning:
      return "warning";
    case log_level::info:
      return "info";
  }
  return "unknown";
}

constexpr const char* text_of(log_subject what) noexcept {
  switch (what) {
    case log_subject::none:
      return "none";
    case log_subject::reconnected:
      return "reconnected";
    case log_subject::redirected:
      return "redirected";
    case log_subject::disconnected:
      return "disconnected";
    case log_subject::unreachable:
      return "unreachable";
    case log_subject::refused:
      return "refused";
    case log_subject::slow:
      return "slow";
    case log_subject::lost:
      return "lost";
  }
  return "unknown";
}

}  // namespace mortise
