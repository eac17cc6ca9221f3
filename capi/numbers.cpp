// Checks that the header's numbers equal those in src.
#include "base/log.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "client/events/event_queue.hpp"
#include "client/handles/multi_handle.hpp"
#include "mortise/mortise.h"
#include "protocol/health/health.hpp"

namespace {

using mortise::log_level;
using mortise::log_subject;
using mortise::reason;
using mortise::status;
using mortise::client::event_kind;
using mortise::protocol::finding_severity;

template <class Ours>
constexpr bool is_same(int theirs, Ours ours) {
  return theirs == static_cast<int>(ours);
}

static_assert(is_same(MORTISE_OK, status::ok));
static_assert(is_same(MORTISE_NOT_ACQUIRED, status::not_acquired));
static_assert(is_same(MORTISE_TIMED_OUT, status::timed_out));
static_assert(is_same(MORTISE_CANCELLED, status::cancelled));
static_assert(is_same(MORTISE_LOST, status::lost));
static_assert(is_same(MORTISE_NOT_OWNER, status::not_owner));
static_assert(is_same(MORTISE_SHUT_DOWN, status::shut_down));
static_assert(is_same(MORTISE_NOT_WAITING, status::not_waiting));
static_assert(is_same(MORTISE_DEADLOCK, status::deadlock));
static_assert(is_same(MORTISE_INVALID_ARGUMENT, status::invalid_argument));
static_assert(is_same(MORTISE_UNREACHABLE, status::unreachable));
static_assert(is_same(MORTISE_UNKNOWN, status::unknown));
static_assert(is_same(MORTISE_REFUSED, status::refused));
static_assert(is_same(MORTISE_ALREADY_HELD, status::already_held));
static_assert(is_same(MORTISE_BUSY, status::busy));
static_assert(is_same(MORTISE_LIMIT, status::limit));
static_assert(is_same(MORTISE_CLOSED, status::closed));
static_assert(is_same(MORTISE_FORKED, status::forked));
static_assert(is_same(MORTISE_UNSUPPORTED, status::unsupported));
static_assert(is_same(MORTISE_NO_MEMORY, status::no_memory));
static_assert(is_same(MORTISE_INTERNAL, status::internal));

static_assert(is_same(MORTISE_REASON_NONE, reason::none));
static_assert(is_same(MORTISE_REASON_EXPIRED, reason::expired));
static_assert(is_same(MORTISE_REASON_REPLACED, reason::replaced));
static_assert(is_same(MORTISE_REASON_SERVER_LOST, reason::server_lost));
static_assert(is_same(MORTISE_REASON_MAX_HOLD, reason::max_hold));
static_assert(is_same(MORTISE_REASON_FORCED, reason::forced));
static_assert(is_same(MORTISE_REASON_STALLED, reason::stalled));

static_assert(is_same(MORTISE_EVENT_NONE, event_kind::none));
static_assert(is_same(MORTISE_EVENT_ACQUIRED, event_kind::acquired));
static_assert(is_same(MORTISE_EVENT_UNLOCKED, event_kind::unlocked));
static_assert(is_same(MORTISE_EVENT_EXTENDED, event_kind::extended));
static_assert(is_same(MORTISE_EVENT_LOST, event_kind::lost));
static_assert(is_same(MORTISE_EVENT_AT_RISK, event_kind::at_risk));
static_assert(is_same(MORTISE_EVENT_UPGRADED, event_kind::upgraded));
static_assert(is_same(MORTISE_EVENT_DOWNGRADED, event_kind::downgraded));
static_assert(is_same(MORTISE_EVENT_LOG, event_kind::log));
static_assert(is_same(MORTISE_EVENT_STATS, event_kind::stats));
static_assert(is_same(MORTISE_EVENT_CONTENDED, event_kind::contended));
static_assert(is_same(MORTISE_EVENT_VALUE_SET, event_kind::value_set));
static_assert(is_same(MORTISE_EVENT_LEADER, event_kind::leader));
static_assert(is_same(MORTISE_EVENT_NO_LEADER, event_kind::no_leader));
static_assert(is_same(MORTISE_EVENT_WAIT_BEGAN, event_kind::wait_began));
static_assert(is_same(MORTISE_EVENT_WAIT_FAILED, event_kind::wait_failed));
static_assert(is_same(MORTISE_EVENT_HOLD_BEGAN, event_kind::hold_began));
static_assert(is_same(MORTISE_EVENT_HOLD_CHANGED, event_kind::hold_changed));
static_assert(is_same(MORTISE_EVENT_HOLD_ENDED, event_kind::hold_ended));

static_assert(is_same(MORTISE_LOG_LEVEL_NONE, log_level::none));
static_assert(is_same(MORTISE_LOG_LEVEL_ERROR, log_level::error));
static_assert(is_same(MORTISE_LOG_LEVEL_WARNING, log_level::warning));
static_assert(is_same(MORTISE_LOG_LEVEL_INFO, log_level::info));

static_assert(is_same(MORTISE_LOG_NONE, log_subject::none));
static_assert(is_same(MORTISE_LOG_RECONNECTED, log_subject::reconnected));
static_assert(is_same(MORTISE_LOG_REDIRECTED, log_subject::redirected));
static_assert(is_same(MORTISE_LOG_DISCONNECTED, log_subject::disconnected));
static_assert(is_same(MORTISE_LOG_UNREACHABLE, log_subject::unreachable));
static_assert(is_same(MORTISE_LOG_REFUSED, log_subject::refused));
static_assert(is_same(MORTISE_LOG_SLOW, log_subject::slow));
static_assert(is_same(MORTISE_LOG_LOST, log_subject::lost));

static_assert(is_same(MORTISE_SEVERITY_OK, finding_severity::ok));
static_assert(is_same(MORTISE_SEVERITY_UNKNOWN, finding_severity::unknown));
static_assert(is_same(MORTISE_SEVERITY_WARN, finding_severity::warn));
static_assert(is_same(MORTISE_SEVERITY_BAD, finding_severity::bad));

static_assert(MORTISE_MAX_MS == mortise::longest_ms);
static_assert(MORTISE_MIN_LEASE_MS == mortise::shortest_lease_ms);
static_assert(MORTISE_MAX_LABEL_LEN == mortise::longest_label);
static_assert(MORTISE_MAX_VALUE_LEN == mortise::longest_value);
static_assert(MORTISE_MAX_MEMBERS == mortise::client::multi_handle::most_members);

static_assert(MORTISE_VERSION_NUMBER == MORTISE_VERSION_MAJOR * 1000000 +
                                            MORTISE_VERSION_MINOR * 1000 + MORTISE_VERSION_PATCH);

}  // namespace
