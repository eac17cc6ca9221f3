/** The numbers of the C header as types: statuses, kinds of events, reasons, severities. */
#ifndef MORTISE_STATUS_HPP
#define MORTISE_STATUS_HPP

#include <cstdint>
#include <string_view>

#include "language.hpp"
#include "mortise.h"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * The result of a call, as `mortise_status`: 0 for success, positive for a normal outcome, negative
 * for an error. A later library may add values. Treat an unknown value by its sign.
 */
enum class status : std::int32_t {
  ok = MORTISE_OK,
  not_acquired = MORTISE_NOT_ACQUIRED,
  timed_out = MORTISE_TIMED_OUT,
  cancelled = MORTISE_CANCELLED,
  lost = MORTISE_LOST,
  not_owner = MORTISE_NOT_OWNER,
  shut_down = MORTISE_SHUT_DOWN,
  not_waiting = MORTISE_NOT_WAITING,
  deadlock = MORTISE_DEADLOCK,
  invalid_argument = MORTISE_INVALID_ARGUMENT,
  unreachable = MORTISE_UNREACHABLE,
  unknown = MORTISE_UNKNOWN,
  refused = MORTISE_REFUSED,
  already_held = MORTISE_ALREADY_HELD,
  busy = MORTISE_BUSY,
  limit = MORTISE_LIMIT,
  closed = MORTISE_CLOSED,
  forked = MORTISE_FORKED,
  unsupported = MORTISE_UNSUPPORTED,
  no_memory = MORTISE_NO_MEMORY,
  internal = MORTISE_INTERNAL
};

/** The kind of an event, as `mortise_event_kind`. */
enum class event_kind : std::int32_t {
  none = MORTISE_EVENT_NONE,
  acquired = MORTISE_EVENT_ACQUIRED,
  unlocked = MORTISE_EVENT_UNLOCKED,
  extended = MORTISE_EVENT_EXTENDED,
  lost = MORTISE_EVENT_LOST,
  at_risk = MORTISE_EVENT_AT_RISK,
  upgraded = MORTISE_EVENT_UPGRADED,
  downgraded = MORTISE_EVENT_DOWNGRADED,
  log = MORTISE_EVENT_LOG,
  stats = MORTISE_EVENT_STATS,
  contended = MORTISE_EVENT_CONTENDED,
  value_set = MORTISE_EVENT_VALUE_SET,
  leader = MORTISE_EVENT_LEADER,
  no_leader = MORTISE_EVENT_NO_LEADER,
  wait_began = MORTISE_EVENT_WAIT_BEGAN,
  wait_failed = MORTISE_EVENT_WAIT_FAILED,
  hold_began = MORTISE_EVENT_HOLD_BEGAN,
  hold_changed = MORTISE_EVENT_HOLD_CHANGED,
  hold_ended = MORTISE_EVENT_HOLD_ENDED
};

/** Severity of a log record, as `mortise_log_level`. Lower values are more severe. */
enum class log_level : std::int32_t {
  none = MORTISE_LOG_LEVEL_NONE,
  error = MORTISE_LOG_LEVEL_ERROR,
  warning = MORTISE_LOG_LEVEL_WARNING,
  info = MORTISE_LOG_LEVEL_INFO
};

/** The subject of a log record, as `mortise_log_subject`. */
enum class log_subject : std::int32_t {
  none = MORTISE_LOG_NONE,
  reconnected = MORTISE_LOG_RECONNECTED,
  redirected = MORTISE_LOG_REDIRECTED,
  disconnected = MORTISE_LOG_DISCONNECTED,
  unreachable = MORTISE_LOG_UNREACHABLE,
  refused = MORTISE_LOG_REFUSED,
  slow = MORTISE_LOG_SLOW,
  lost = MORTISE_LOG_LOST
};

/** The reason why a hold was lost or is at risk, as `mortise_reason`. */
enum class reason : std::int32_t {
  none = MORTISE_REASON_NONE,
  expired = MORTISE_REASON_EXPIRED,
  replaced = MORTISE_REASON_REPLACED,
  server_lost = MORTISE_REASON_SERVER_LOST,
  max_hold = MORTISE_REASON_MAX_HOLD,
  forced = MORTISE_REASON_FORCED,
  stalled = MORTISE_REASON_STALLED
};

/**
 * Severity of one finding of a health check, as `mortise_severity`. Higher values are more severe.
 */
enum class severity : std::int32_t {
  ok = MORTISE_SEVERITY_OK,
  unknown = MORTISE_SEVERITY_UNKNOWN,
  warn = MORTISE_SEVERITY_WARN,
  bad = MORTISE_SEVERITY_BAD
};

/** A short English name, such as "timed out". Static. */
inline std::string_view text(status code) noexcept {
  return mortise_status_text(static_cast<mortise_status>(code));
}

/** "error", "warning" or "info". Static. */
inline std::string_view text(log_level level) noexcept {
  return mortise_log_level_text(static_cast<mortise_log_level>(level));
}

/** The subject in one word, such as "reconnected". Static. */
inline std::string_view text(log_subject subject) noexcept {
  return mortise_log_subject_text(static_cast<mortise_log_subject>(subject));
}

/** "ok", "unknown", "warn" or "bad". Static. */
inline std::string_view text(severity found) noexcept {
  return mortise_severity_text(static_cast<mortise_severity>(found));
}

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_STATUS_HPP
