#include "deployment/replication/acknowledgements.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "deployment/replication/second_connection.hpp"
#include "net/threads/futex.hpp"

namespace mortise::deployment {

namespace {

// The pause before the next look at a server that gives no acknowledgements for now.
constexpr time_ns check_pause_ns = ns_per_s;
// Divides the command timeout, so that a waiter receives the reason before its own patience ends.
constexpr int acknowledged_within = 2;

}  // namespace

std::unique_ptr<acknowledgements> acknowledgements::make(
    net::reactor& loop, const redis::connection_config& base_config, const settings& terms,
    std::string_view client_id, count_listed listed, listener& events) {
  if (!is_needed(terms)) return nullptr;
  auto where = std::make_shared<followed_server>(base_config.where->text());
  auto config = second_connection_config(base_config, where);
  // The constructor is private.
  return std::unique_ptr<acknowledgements>(new acknowledgements(
      loop, std::move(config), std::move(where), terms, client_id, std::move(listed), events));
}

acknowledgements::acknowledgements(net::reactor& loop, redis::connection_config config,
                                   std::shared_ptr<followed_server> where, const settings& terms,
                                   std::string_view client_id, count_listed listed,
                                   listener& events)
    : loop_(loop),
      patience_ns_(to_ns(terms.command_timeout_ms) / acknowledged_within),
      listed_(std::move(listed)),
      listener_(events),
      where_(std::move(where)),
      problem_(outcome::of(status::unreachable, "acks: still connecting to ", *where_->name())),
      rounds_({terms.acks, terms.durability == "fsync"}, config.is_of_cluster,
              {std::string(client_id), terms.key_prefix()}),
      connection_(loop, std::move(config), *this) {
  readiness_check_.takes_each = true;
  readiness_check_.reply_count = rounds_.asks_cluster() ? 3 : 2;
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
  const auto before = std::exchange(server_run_, server.run_id);
  return before != server_run_;
} catch (const std::bad_alloc&) {
  // The runs then count as different, and the server is connected again.
  const std::lock_guard guard(mutex_);
  server_run_.clear();
  return true;
}

void acknowledgements::on_server_up() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (is_closed_) return;
    is_server_up_ = true;
  }
  if (!is_begun_) return;
  if (is_of_server()) return check_readiness();
  if (connection_run_.empty()) return connection_.look();
  connection_.commands().break_off(
      outcome::of(status::unreachable, "connected to a different server"));
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
    is_server_up_ = false;
    drop(pending);
  }
  notify(pending, boot_now());
}

// Waiting steps were carried out, or were lost with the server.
void acknowledgements::drop(notifications& pending) noexcept {
  ready_since_ = 0;
  pending.lost.take_all(early_);
  rounds_.drop(pending);
}

bool acknowledgements::is_of_server() const noexcept {
  const std::lock_guard guard(mutex_);
  return is_server_up_ && !connection_run_.empty() && connection_run_ == server_run_;
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
    return connection_.commands().break_off(outcome::of(status::no_memory));
  }
  if (is_of_server()) return check_readiness();
  bool is_left_behind = false;
  {
    const std::lock_guard guard(mutex_);
    is_left_behind = is_server_up_;
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
    is_server_up = is_server_up_ && !is_closed_;
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
    if (!problem_.is_retryable) pending.failed.take_all(early_);
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
  protocol::write_wait(bytes, rounds_.terms(), 0, 1);
  if (rounds_.asks_cluster()) protocol::write_own_name(bytes);
  const auto sent =
      connection_.commands().submit(readiness_check_, bytes, redis::flush::by_io_thread);
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
  if (!readiness_check_.error.empty()) {
    auto why = rounds_.refusal(*where_->name(), readiness_check_.error);
    connection_.hide_login(why);
    return refuse(std::move(why));
  }
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
    if (rounds_.history() == readiness_check_.state->history && is_ready()) return;
    rounds_.begin(*readiness_check_.state, reply.text());
    problem_ = {};
    ready_since_ = now;
    pending.acknowledged.take_all(early_);
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
    if (!is_server_up_ || is_closed_) {
      pending.lost.push(item);
    } else if (is_ready()) {
      pending.acknowledged.push(item);
    } else {
      item.deadline_ = now + patience_ns_;
      early_.push(item);
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
      rounds_.add(item);
      plan(item.deadline_);
      poll_next(now, pending);
    }
  }
  notify(pending, now);
}

// Under the mutex.
void acknowledgements::poll_next(time_ns now, notifications& pending) noexcept try {
  std::string bytes;
  const int replies = rounds_.next(bytes, context(now), pending);
  if (replies == 0) return;
  reply_count = replies;
  const auto sent = connection_.commands().submit(*this, bytes, redis::flush::now);
  if (sent != status::ok) rounds_.fail_poll(sent, pending);
} catch (const std::bad_alloc&) {
  rounds_.fail_poll(status::no_memory, pending);
}

acknowledgement_rounds::context acknowledgements::context(time_ns now) const noexcept {
  return {where_->name(), rounds_.uses_list() ? listed_(where_->address()) : std::nullopt, now};
}

void acknowledgements::on_reply(const redis::value& reply, time_ns now) noexcept {
  notifications pending;
  bool is_replica = false;
  {
    const std::lock_guard guard(mutex_);
    if (!rounds_.take(reply)) return;
    is_replica = rounds_.is_of_replica();
    if (!is_replica) {
      rounds_.finish(context(now), pending);
      if (pending.is_ready_again) ready_since_ = now;
      poll_next(now, pending);
    }
  }
  // The server is no longer the master. The requests are sent again to the new one.
  if (is_replica) {
    return connection_.commands().break_off(
        outcome::of(status::unreachable, *where_->name(), " is a replica now"));
  }
  notify(pending, now);
}

void acknowledgements::on_broken(bool /*was_sent*/) noexcept {
  const std::lock_guard guard(mutex_);
  rounds_.abandon_poll();  // on_down() drops the waiting items
}

// Callbacks run without the mutex, because they may call this object.
void acknowledgements::notify(notifications& pending, time_ns now) noexcept {
  connection_.hide_login(pending.why);
  while (auto* const item = pending.acknowledged.pop()) item->on_acknowledged({}, now);
  while (auto* const item = pending.failed.pop()) item->on_acknowledged(pending.why, now);
  while (auto* const item = pending.lost.pop()) item->on_server_lost(now);
  if (pending.is_ready_again) listener_.on_acknowledging();
  if (pending.is_short) listener_.on_shortfall();
}

// ---- time -------------------------------------------------------------------------------------

void acknowledgements::plan(time_ns at) noexcept {
  if (at >= armed_for_) return;
  armed_for_ = at;
  loop_.schedule(*this, at);
}

void acknowledgements::on_check_timer(time_ns /*now*/) noexcept {
  if (!is_ready() && is_of_server()) check_readiness();
}

void acknowledgements::on_timer(time_ns now) noexcept {
  notifications pending;
  {
    const std::lock_guard guard(mutex_);
    armed_for_ = time_never;
    pending.why = is_ready() || problem_.ok() ? rounds_.too_few(context(now)) : problem_;
    early_.part(pending.failed, [&](const unacknowledged& item) { return item.deadline_ <= now; });
    rounds_.expire(now, pending);
    plan(std::min(early_.earliest_deadline(), rounds_.earliest_deadline()));
  }
  notify(pending, now);
}

}  // namespace mortise::deployment
