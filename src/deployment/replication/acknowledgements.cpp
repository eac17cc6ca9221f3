#include "deployment/replication/acknowledgements.hpp"

#include <new>
#include <utility>

#include "base/text/decimal.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "net/threads/futex.hpp"
#include "protocol/refusal.hpp"

namespace mortise::deployment {

namespace {

// The pause before the next look at a server that gives no acknowledgements for now.
constexpr time_ns check_pause_ns = ns_per_s;
// The longest single wait for replicas.
constexpr std::int64_t longest_wait_ms = 250;
// The same while the Sentinels are asked for a newer list.
constexpr std::int64_t list_wait_ms = 20;
// How long a replica stays discounted after the Sentinels reported it as down. It may have returned
// without the data that it missed, and they could promote it (hazard 8).
constexpr time_ns list_life_ns = 250 * ns_per_ms;
// Divides the command timeout, so that a waiter receives the reason before its own patience ends.
constexpr int acknowledged_within = 2;

// The server has become a replica. Requests to it are lost.
bool is_of_replica(std::string_view error) noexcept {
  return error.starts_with("UNBLOCKED") || error.find("replica instances") != error.npos;
}

}  // namespace

std::unique_ptr<acknowledgements> acknowledgements::make(
    net::reactor& loop, const redis::connection_config& base_config, const settings& terms,
    std::string_view client_id, count_listed listed, listener& events) {
  if (!is_needed(terms)) return nullptr;
  auto where = std::make_shared<followed_server>(base_config.where->text());
  redis::connection_config config;
  config.where = where;
  config.make_transport = base_config.make_transport;
  config.hint_at_end = base_config.hint_at_end;
  config.why_no_cluster = base_config.why_no_cluster;
  config.is_of_cluster = base_config.is_of_cluster;
  config.is_silence_normal = true;
  config.identity = base_config.identity;
  config.client_name = base_config.client_name;
  config.database = base_config.database;
  config.command_timeout_ms = base_config.command_timeout_ms;
  // The constructor is private.
  return std::unique_ptr<acknowledgements>(new acknowledgements(
      loop, std::move(config), std::move(where), terms, client_id, std::move(listed), events));
}

acknowledgements::acknowledgements(net::reactor& loop, redis::connection_config config,
                                   std::shared_ptr<followed_server> where, const settings& terms,
                                   std::string_view client_id, count_listed listed,
                                   listener& events)
    : loop_(loop),
      terms_{terms.acks, terms.durability == "fsync"},
      asks_cluster_(config.is_of_cluster &&
                    terms_.replicas == protocol::acknowledgement_terms::all),
      patience_ns_(to_ns(terms.command_timeout_ms) / acknowledged_within),
      client_id_(client_id),
      listed_(std::move(listed)),
      listener_(events),
      where_(std::move(where)),
      problem_(outcome::of(status::unreachable, "acks: still connecting to ", *where_->name())),
      connection_(loop, std::move(config), *this) {
  readiness_check_.takes_each = true;
  readiness_check_.reply_count = asks_cluster_ ? 3 : 2;
  takes_each = true;
}

acknowledgements::~acknowledgements() { close(); }

void acknowledgements::close() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_closed_ = true;
  }
  connection_.close();
  loop_.cancel(static_cast<net::timer&>(*this));
  loop_.cancel(check_timer_);
  on_server_down();
}

void acknowledgements::change_server(std::string name,
                                     std::shared_ptr<const std::string> shared_name) noexcept {
  where_->rename(std::move(shared_name));
  connection_.change_server(std::move(name));
  const std::lock_guard guard(mutex_);
  problem_ = {};
}

// ---- readiness --------------------------------------------------------------------------------

bool acknowledgements::note_session(const redis::session_facts& server) noexcept try {
  where_->follow(server);
  const std::lock_guard guard(mutex_);
  const auto before = std::exchange(server_.run, server.run_id);
  return before != server_.run;
} catch (const std::bad_alloc&) {
  // The runs then count as different, and the server is connected again.
  const std::lock_guard guard(mutex_);
  server_.run.clear();
  return true;
}

void acknowledgements::on_server_up() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (is_closed_) return;
    server_.is_up = true;
  }
  if (!is_begun_) return;
  if (is_of_server()) return check_readiness();
  if (connection_run_.empty()) return connection_.look();
  connection_.leave(outcome::of(status::unreachable, "connected to a different server"));
}

void acknowledgements::begin() noexcept {
  if (is_begun_.exchange(true)) {
    if (is_resting_.exchange(false)) connection_.resume();
    return;
  }
  if (auto begun = connection_.begin(); !begun.ok()) refuse(std::move(begun));
}

void acknowledgements::rest() noexcept {
  if (is_begun_ && !is_resting_.exchange(true)) connection_.rest();
}

void acknowledgements::on_server_down() noexcept {
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    server_.is_up = false;
    drop(pending);
  }
  notify(pending, boot_now());
}

// Waiting steps were carried out, or were lost with the server.
void acknowledgements::drop(notifications& pending) noexcept {
  ready_since_ = 0;
  pending.lost.take_all(waiting_.early);
  pending.lost.take_all(waiting_.covered);
  pending.lost.take_all(waiting_.open);
}

bool acknowledgements::is_of_server() const noexcept {
  const std::lock_guard guard(mutex_);
  return server_.is_up && !connection_run_.empty() && connection_run_ == server_.run;
}

void acknowledgements::on_up(const redis::session_facts& facts) noexcept {
  if (facts.run_id.empty()) {
    return refuse(outcome::of(status::refused, "acks: ", *where_->name(),
                              " hides INFO, so acknowledgements cannot be verified; allow the user "
                              "+info, or give acks=0"));
  }
  try {
    connection_run_ = facts.run_id;
  } catch (const std::bad_alloc&) {
    return connection_.leave(outcome::of(status::no_memory));
  }
  if (is_of_server()) return check_readiness();
  bool is_left_behind = false;
  {
    const std::lock_guard guard(mutex_);
    is_left_behind = server_.is_up;
  }
  // The server's own connection belongs to a run that has ended.
  if (is_left_behind) {
    listener_.on_unacknowledging(
        outcome::of(status::unreachable, *where_->name(), " has restarted"));
  }
}

void acknowledgements::on_down(const outcome& why) noexcept {
  const bool was_of_server = is_of_server();
  connection_run_.clear();
  notifications pending;
  bool is_over = false;
  {
    const std::lock_guard guard(mutex_);
    drop(pending);
    problem_ = why;
    problem_.say("acks: ", why.words());
    is_over = is_closed_;
  }
  notify(pending, boot_now());
  if (was_of_server && !is_over) listener_.on_unacknowledging(why);
}

void acknowledgements::on_failed(const outcome& why, bool is_definite) noexcept {
  bool is_server_up = false;
  {
    const std::lock_guard guard(mutex_);
    is_server_up = server_.is_up && !is_closed_;
  }
  auto problem = why;
  problem.say("acks: ", why.words());
  refuse(std::move(problem));
  if (is_server_up && !is_definite) listener_.on_unacknowledging(why);
}

void acknowledgements::refuse(outcome why) noexcept {
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    problem_ = std::move(why);
    // Waiting does not help without a remedy.
    if (!problem_.is_retryable) pending.failed.take_all(waiting_.early);
    pending.why = problem_;
  }
  notify(pending, boot_now());
  ++changes_;
  net::futex_wake_all(&changes_);
  check_later();
}

void acknowledgements::check_later() noexcept {
  loop_.schedule(check_timer_, boot_now() + check_pause_ns);
}

// The data may have been replaced, and the user may lack a right.
void acknowledgements::check_readiness() noexcept try {
  if (std::exchange(readiness_check_.is_open, true)) return;
  readiness_check_.part = 0;
  std::string bytes;
  protocol::write_replication(bytes);
  protocol::write_wait(bytes, terms_, 0, 1);
  if (asks_cluster_) protocol::write_own_name(bytes);
  const auto sent = connection_.submit(readiness_check_, bytes, redis::flush::by_io_thread);
  readiness_check_.is_open = sent == status::ok;
  if (sent != status::ok) check_later();
} catch (const std::bad_alloc&) {
  readiness_check_.is_open = false;
  check_later();
}

void acknowledgements::readiness_check::on_broken(bool /*was_sent*/) noexcept { is_open = false; }

void acknowledgements::on_readiness_reply(const redis::value& reply, time_ns now) noexcept try {
  if (readiness_check_.part++ == 0) {
    readiness_check_.state = protocol::read_replication(reply.text());
    readiness_check_.error.clear();
    return;
  }
  if (reply.is_error() && readiness_check_.error.empty()) readiness_check_.error = reply.text();
  if (readiness_check_.part < readiness_check_.reply_count) return;
  readiness_check_.is_open = false;
  if (!readiness_check_.error.empty()) return refuse(refusal(readiness_check_.error));
  if (!readiness_check_.state) {
    auto why = outcome::of(status::unreachable, "acks: ", *where_->name(),
                           " does not report its replication state, or is a replica");
    why.is_retryable = true;
    return refuse(std::move(why));
  }
  if (!is_of_server()) return;
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    if (server_.history == readiness_check_.state->history && is_ready()) return;
    server_.history = readiness_check_.state->history;
    server_.own_name = reply.text();
    replicas_.connected = readiness_check_.state->connected;
    problem_ = {};
    ready_since_ = now;
    pending.acknowledged.take_all(waiting_.early);
  }
  ++changes_;
  net::futex_wake_all(&changes_);
  notify(pending, now);
  listener_.on_acknowledging();
} catch (const std::bad_alloc&) {
  readiness_check_.is_open = false;
  check_later();
}

outcome acknowledgements::problem() const noexcept {
  if (is_ready()) return {};
  const std::lock_guard guard(mutex_);
  if (!problem_.ok()) return problem_;
  return outcome::of(status::unreachable, "acks: still connecting to ", *where_->name());
}

outcome acknowledgements::await_ready(time_ns deadline) {
  for (;;) {
    const auto seen = changes_.load();
    auto why = problem();
    const bool is_definite = why.code != status::unreachable && !why.is_retryable;
    if (why.ok() || is_definite || boot_now() >= deadline) return why;
    net::futex_wait(changes_, seen, deadline);
  }
}

void acknowledgements::await_ready(unacknowledged& item, time_ns now) noexcept {
  begin();
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    if (!server_.is_up || is_closed_) {
      pending.lost.push(item);
    } else if (is_ready()) {
      pending.acknowledged.push(item);
    } else {
      item.deadline_ = now + patience_ns_;
      waiting_.early.push(item);
      plan(item.deadline_);
      // A replica may have become the master since.
      loop_.schedule(check_timer_, now);
    }
  }
  notify(pending, now);
}

// ---- replies ----------------------------------------------------------------------------------

void acknowledgements::await(unacknowledged& item, std::string_view place, time_ns asked_at,
                             time_ns now, std::int64_t lease_ms) noexcept {
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    const auto since = ready_since_.load();
    if (since == 0 || asked_at <= since) {
      pending.why = problem_;
      if (pending.why.ok()) {
        pending.why = outcome::of(status::unreachable, "acks: the connection to ", *where_->name(),
                                  " was replaced meanwhile; retry");
      }
      pending.why.is_retryable = true;
      pending.failed.push(item);
    } else {
      item.place_ = place;
      item.deadline_ =
          now + (lease_ms > 0 ? std::min(patience_ns_, to_ns(lease_ms)) : patience_ns_);
      waiting_.open.push(item);
      plan(item.deadline_);
      poll_next(now, pending);
    }
  }
  notify(pending, now);
}

// Under the mutex, like all functions below except notify().
void acknowledgements::poll_next(time_ns now, notifications& pending) noexcept {
  if (is_asking_) return;
  // The last mark still covers these items.
  if (!waiting_.covered.is_empty()) return send_poll(false, now, pending);
  if (waiting_.open.is_empty()) return;
  waiting_.covered.take_all(waiting_.open);
  send_poll(true, now, pending);
}

void acknowledgements::send_poll(bool with_mark, time_ns now, notifications& pending) noexcept try {
  const auto required = needed(now);
  if (!required && !asks_cluster_) {
    pending.is_short = true;
    return fail_all(pending, too_few(now));
  }
  const bool is_old = is_list_old(now);
  pending.is_short = pending.is_short || is_old;
  poll_ = {};
  poll_.place = waiting_.covered.first()->place_;
  std::string bytes;
  if (with_mark) protocol::write_mark(bytes, client_id_, poll_.place);
  // Half of the remaining time, so that the count is known before its end. The wait is short,
  // because fewer replicas may be needed by then.
  const auto half_ms = std::min((waiting_.covered.latest_deadline() - now) / ns_per_ms / 2,
                                is_old ? list_wait_ms : longest_wait_ms);
  protocol::write_wait(bytes, terms_, required.value_or(1), std::max<std::int64_t>(half_ms, 1));
  // Last, so that it reports the history that the replicas were waited for.
  protocol::write_replication(bytes);
  if (asks_cluster_) protocol::write_replicas(bytes, server_.own_name);
  reply_count = last_part() - (with_mark ? 0 : 2);
  poll_.part = with_mark ? 0 : 2;
  poll_.is_marked = !with_mark;
  if (with_mark) replicas_.acknowledged = terms_.is_fsynced ? -1 : 0;
  const auto sent = connection_.submit(*this, bytes, redis::flush::now);
  is_asking_ = sent == status::ok;
  // If the connection has ended, on_down() drops the waiting items.
  if (sent != status::ok && sent != status::unreachable) fail_all(pending, outcome::of(sent));
} catch (const std::bad_alloc&) {
  fail_all(pending, outcome::of(status::no_memory));
}

void acknowledgements::fail_all(notifications& pending, outcome why) noexcept {
  pending.why = std::move(why);
  pending.failed.take_all(waiting_.covered);
}

void acknowledgements::poll::take(const redis::value& reply,
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

void acknowledgements::on_reply(const redis::value& reply, time_ns now) noexcept {
  notifications pending;
  bool is_replica = false;
  {
    const std::lock_guard guard(mutex_);
    poll_.take(reply, terms_);
    if (poll_.part < last_part()) return;
    is_asking_ = false;
    is_replica = is_of_replica(poll_.wait_error) || !poll_.state;
    if (!is_replica) {
      read(poll_, now, pending);
      poll_next(now, pending);
    }
  }
  // The server is no longer the master. The requests are sent again to the new one.
  if (is_replica) {
    return connection_.leave(
        outcome::of(status::unreachable, *where_->name(), " is a replica now"));
  }
  notify(pending, now);
}

void acknowledgements::read(poll& result, time_ns now, notifications& pending) noexcept {
  // Only the count of the last WAIT. A replica in an earlier count may be dead, and may no longer
  // be needed (hazard 8).
  replicas_.acknowledged = result.acknowledged;
  replicas_.online = result.state->online;
  replicas_.connected = result.state->connected;
  replicas_.counted = result.replicas;
  if (!result.is_marked) {
    pending.why = refusal(result.mark_error);
    // This slot may have moved. The items of the server's other slots are polled again.
    waiting_.covered.part(pending.failed, [&](const unacknowledged& item) {
      return item.place_.data() == result.place.data();
    });
    waiting_.covered.take_all(waiting_.open);
    std::swap(waiting_.covered, waiting_.open);
    return;
  }
  if (!result.wait_error.empty()) return fail_all(pending, refusal(result.wait_error));
  if (result.state->history != server_.history) {
    // After a failover and back the data differ, whatever the present replicas have. So all
    // requests are sent again. The first replica of a server also changes the history.
    std::swap(server_.history, result.state->history);
    ready_since_ = now;
    pending.is_ready_again = true;
    pending.lost.take_all(waiting_.covered);
    return pending.lost.take_all(waiting_.open);
  }
  const auto required = needed(now);
  if (required && replicas_.acknowledged >= *required)
    return pending.acknowledged.take_all(waiting_.covered);
  pending.is_short = terms_.replicas == protocol::acknowledgement_terms::all;
  pending.why = too_few(now);
  waiting_.covered.part(pending.failed,
                        [&](const unacknowledged& item) { return item.deadline_ <= now; });
}

void acknowledgements::on_broken(bool /*was_sent*/) noexcept {
  const std::lock_guard guard(mutex_);
  is_asking_ = false;  // on_down() drops the waiting items
}

// Callbacks run without the mutex, because they may call this object.
void acknowledgements::notify(notifications& pending, time_ns now) noexcept {
  while (auto* const item = pending.acknowledged.pop()) item->on_acknowledged({}, now);
  while (auto* const item = pending.failed.pop()) item->on_acknowledged(pending.why, now);
  while (auto* const item = pending.lost.pop()) item->on_server_lost(now);
  if (pending.is_ready_again) listener_.on_acknowledging();
  if (pending.is_short) listener_.on_shortfall();
}

// The number of replicas that must have the data: all that could become the master. At least the
// connected ones, because WAIT only counts (hazard 8).
std::optional<std::int64_t> acknowledgements::needed(time_ns now) const noexcept {
  if (terms_.replicas != protocol::acknowledgement_terms::all) return terms_.replicas;
  auto listed = replicas_.counted;
  if (!asks_cluster_) {
    const auto list = listed_(where_->address());
    if (list) listed = is_list_old(now) ? list->all : list->up;
  }
  if (!listed) return std::nullopt;
  return std::max(*listed, replicas_.connected);
}

// Whether the Sentinels' list has discounted replicas for too long.
bool acknowledgements::is_list_old(time_ns now) const noexcept {
  if (terms_.replicas != protocol::acknowledgement_terms::all || asks_cluster_) return false;
  const auto list = listed_(where_->address());
  return list && list->up < list->all && now - list->asked_at > list_life_ns;
}

outcome acknowledgements::too_few(time_ns now) const noexcept {
  const auto required = needed(now);
  auto why = outcome::of(status::unreachable);
  why.is_retryable = true;
  if (!required) {
    why.say("acks: the number of replicas of ", *where_->name(), " is not known yet");
  } else if (replicas_.acknowledged < 0) {
    why.say("durability: ", *where_->name(), " did not write it to disk in time");
  } else {
    why.say("acks: ", decimal(replicas_.acknowledged), " of ", decimal(*required), " replicas of ",
            *where_->name(), " have it, ", decimal(replicas_.online),
            " are online; fix them, or give a lower number");
  }
  return why;
}

outcome acknowledgements::refusal(std::string_view error) const noexcept try {
  auto why = protocol::read_error(error).details;
  connection_.hide_login(why);
  const bool has_moved = error.starts_with("MOVED ") || cluster::is_migration_error(error);
  why.is_retryable = why.is_retryable || has_moved;
  why.code = why.is_retryable ? status::unreachable : status::refused;
  why.is_ambiguous = false;
  const char* remedy = "";
  if (error.find("appendonly") != error.npos) remedy = "; set appendonly yes, or durability=memory";
  if (error.find("unknown command") != error.npos) {
    remedy = terms_.is_fsynced ? "; use Redis 7.2 or Valkey, or give durability=memory" : "";
  }
  why.say(terms_.is_fsynced ? "durability: " : "acks: ", *where_->name(),
          " refused it: ", why.words(), remedy);
  return why;
} catch (const std::bad_alloc&) {
  return outcome::of(status::no_memory);
}

// ---- time -------------------------------------------------------------------------------------

void acknowledgements::plan(time_ns at) noexcept {
  if (at >= waiting_.armed_for) return;
  waiting_.armed_for = at;
  loop_.schedule(*this, at);
}

void acknowledgements::on_check_timer(time_ns /*now*/) noexcept {
  if (!is_ready() && is_of_server()) check_readiness();
}

void acknowledgements::on_timer(time_ns now) noexcept {
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    const auto is_late = [&](const unacknowledged& item) { return item.deadline_ <= now; };
    waiting_.armed_for = time_never;
    pending.why = is_ready() || problem_.ok() ? too_few(now) : problem_;
    for (auto* const list : {&waiting_.early, &waiting_.covered, &waiting_.open}) {
      list->part(pending.failed, is_late);
      plan(list->earliest_deadline());
    }
  }
  notify(pending, now);
}

}  // namespace mortise::deployment
