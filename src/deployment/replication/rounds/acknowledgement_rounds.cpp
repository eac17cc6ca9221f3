#include "deployment/replication/rounds/acknowledgement_rounds.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text/decimal.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "protocol/refusal.hpp"

namespace mortise::deployment {

namespace {

// The longest single wait for replicas.
constexpr std::int64_t longest_wait_ms = 250;
// The same while the Sentinels are asked for a newer list.
constexpr std::int64_t list_wait_ms = 20;
// How long a replica stays discounted after the Sentinels reported it as down. It may have returned
// without the data that it missed, and they could promote it (hazard 8).
constexpr time_ns list_life_ns = 250 * ns_per_ms;

}  // namespace

acknowledgement_rounds::acknowledgement_rounds(const protocol::acknowledgement_terms& terms,
                                               bool asks_cluster, protocol::client_identity client)
    : terms_(terms), asks_cluster_(asks_cluster && wants_all()), client_(std::move(client)) {}

void acknowledgement_rounds::begin(const protocol::replication& state, std::string_view own_name) {
  history_ = state.history;
  own_name_ = own_name;
  replicas_.connected = state.connected;
}

int acknowledgement_rounds::next(std::string& out, const context& at, notifications& pending) {
  if (is_polling_) return 0;
  // The last mark still covers the covered items.
  const bool with_mark = covered_.is_empty();
  if (with_mark) covered_.take_all(open_);
  if (covered_.is_empty()) return 0;
  const auto required = needed(at);
  if (!required && !asks_cluster_) {
    pending.is_short = true;
    fail_all(pending, too_few(at));
    return 0;
  }
  const bool is_old = is_list_old(at);
  pending.is_short = pending.is_short || is_old;
  poll_ = {};
  poll_.place = covered_.first()->place_;
  if (with_mark) protocol::write_mark(out, client_, poll_.place);
  // Half of the remaining time, so that the count is known before its end. The wait is short,
  // because fewer replicas may be needed by then.
  const auto half_ms = std::min((covered_.latest_deadline() - at.now) / ns_per_ms / 2,
                                is_old ? list_wait_ms : longest_wait_ms);
  protocol::write_wait(out, terms_, required.value_or(1), std::max<std::int64_t>(half_ms, 1));
  // Last, so that it reports the history that the replicas were waited for.
  protocol::write_replication(out);
  if (asks_cluster_) protocol::write_replicas(out, own_name_);
  poll_.part = with_mark ? 0 : 2;
  poll_.is_marked = !with_mark;
  if (with_mark) replicas_.acknowledged = terms_.is_fsynced ? -1 : 0;
  is_polling_ = true;
  return last_part() - poll_.part;
}

void acknowledgement_rounds::fail_poll(status why, notifications& pending) noexcept {
  is_polling_ = false;
  // If the connection has ended, drop() follows.
  if (why != status::unreachable) fail_all(pending, outcome::of(why));
}

void acknowledgement_rounds::fail_all(notifications& pending, outcome why) noexcept {
  pending.why = std::move(why);
  pending.failed.take_all(covered_);
}

void acknowledgement_rounds::poll::take(const redis::value& reply,
                                        const protocol::acknowledgement_terms& terms) noexcept try {
  const auto error = reply.is_error() ? reply.text() : std::string_view();
  switch (part++) {
    case 0:
      is_marked = protocol::is_marked(reply, {});
      mark_error = error;
      return;
    case 1:
      // The mark was created, or it existed and was extended.
      is_marked = is_marked || protocol::is_marked({}, reply);
      if (mark_error.empty()) mark_error = error;
      return;
    case 2:
      wait_error = error;
      acknowledged = protocol::read_wait(terms, reply);
      return;
    case 3:
      state = protocol::read_replication(reply.text());
      return;
    default:
      replicas = protocol::count_replicas(reply);
  }
} catch (const std::bad_alloc&) {
  is_marked = false;
}

bool acknowledgement_rounds::take(const redis::value& reply) noexcept {
  poll_.take(reply, terms_);
  if (poll_.part < last_part()) return false;
  is_polling_ = false;
  return true;
}

bool acknowledgement_rounds::is_of_replica() const noexcept {
  const std::string_view error = poll_.wait_error;
  return !poll_.state || error.starts_with("UNBLOCKED") ||
         error.find("replica instances") != error.npos;
}

void acknowledgement_rounds::finish(const context& at, notifications& pending) noexcept {
  // Only the count of the last WAIT. A replica in an earlier count may be dead, and may no longer
  // be needed (hazard 8).
  replicas_.acknowledged = poll_.acknowledged;
  replicas_.online = poll_.state->online;
  replicas_.connected = poll_.state->connected;
  replicas_.counted = poll_.replicas;
  if (!poll_.is_marked) {
    pending.why = refusal(*at.name, poll_.mark_error);
    // This slot may have moved. The items of the server's other slots are polled again.
    covered_.part(pending.failed, [&](const unacknowledged& item) {
      return item.place_.data() == poll_.place.data();
    });
    covered_.take_all(open_);
    std::swap(covered_, open_);
    return;
  }
  if (!poll_.wait_error.empty()) return fail_all(pending, refusal(*at.name, poll_.wait_error));
  if (poll_.state->history != history_) {
    // After a failover and back the data differ, whatever the present replicas have. So all
    // requests are sent again. The first replica of a server also changes the history.
    std::swap(history_, poll_.state->history);
    pending.is_ready_again = true;
    return drop(pending);
  }
  const auto required = needed(at);
  if (required && replicas_.acknowledged >= *required)
    return pending.acknowledged.take_all(covered_);
  pending.is_short = wants_all();
  pending.why = too_few(at);
  covered_.part(pending.failed,
                [&](const unacknowledged& item) { return item.deadline_ <= at.now; });
}

void acknowledgement_rounds::drop(notifications& pending) noexcept {
  pending.lost.take_all(covered_);
  pending.lost.take_all(open_);
}

void acknowledgement_rounds::expire(time_ns now, notifications& pending) noexcept {
  const auto is_late = [&](const unacknowledged& item) { return item.deadline_ <= now; };
  covered_.part(pending.failed, is_late);
  open_.part(pending.failed, is_late);
}

time_ns acknowledgement_rounds::earliest_deadline() const noexcept {
  return std::min(covered_.earliest_deadline(), open_.earliest_deadline());
}

// The number of replicas that must have the data: all that could become the master. At least the
// connected ones, because WAIT only counts (hazard 8).
std::optional<std::int64_t> acknowledgement_rounds::needed(const context& at) const noexcept {
  if (!wants_all()) return terms_.replicas;
  auto listed = replicas_.counted;
  if (at.list) listed = is_list_old(at) ? at.list->all : at.list->up;
  if (!listed) return std::nullopt;
  return std::max(*listed, replicas_.connected);
}

// Whether the Sentinels' list has discounted replicas for too long.
bool acknowledgement_rounds::is_list_old(const context& at) const noexcept {
  return at.list && at.list->up < at.list->all && at.now - at.list->asked_at > list_life_ns;
}

outcome acknowledgement_rounds::too_few(const context& at) const noexcept {
  const auto required = needed(at);
  auto why = outcome::of(status::unreachable);
  why.is_retryable = true;
  if (!required) {
    why.say("acks: the number of replicas of ", *at.name, " is not known yet");
  } else if (replicas_.acknowledged < 0) {
    why.say("durability: ", *at.name, " did not write it to disk in time");
  } else {
    why.say("acks: ", decimal(replicas_.acknowledged), " of ", decimal(*required), " replicas of ",
            *at.name, " have it, ", decimal(replicas_.online),
            " are online; fix them, or give a lower number");
  }
  return why;
}

outcome acknowledgement_rounds::refusal(std::string_view name,
                                        std::string_view error) const noexcept try {
  auto why = protocol::read_error(error).details;
  const bool has_moved = error.starts_with("MOVED ") || cluster::is_migration_error(error);
  why.is_retryable = why.is_retryable || has_moved;
  why.code = why.is_retryable ? status::unreachable : status::refused;
  why.is_ambiguous = false;
  const char* remedy = "";
  if (error.find("appendonly") != error.npos) remedy = "; set appendonly yes, or durability=memory";
  if (error.find("unknown command") != error.npos) {
    remedy = terms_.is_fsynced ? "; use Redis 7.2 or Valkey, or give durability=memory" : "";
  }
  why.say(terms_.is_fsynced ? "durability: " : "acks: ", name, " refused it: ", why.words(),
          remedy);
  return why;
} catch (const std::bad_alloc&) {
  return outcome::of(status::no_memory);
}

}  // namespace mortise::deployment
