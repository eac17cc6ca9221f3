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
constexpr time_ns look_again_ns = ns_per_s;
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

std::unique_ptr<acknowledgements> acknowledgements::make(net::reactor& loop,
                                                         const redis::connection_config& like,
                                                         const settings& terms,
                                                         std::string_view client_id,
                                                         count_listed listed, listener& hears) {
  if (!is_wanted(terms)) return nullptr;
  auto where = std::make_shared<followed_server>(like.where->text());
  redis::connection_config config;
  config.where = where;
  config.make_transport = like.make_transport;
  config.hint_at_end = like.hint_at_end;
  config.why_no_cluster = like.why_no_cluster;
  config.is_of_cluster = like.is_of_cluster;
  config.is_silence_normal = true;
  config.identity = like.identity;
  config.client_name = like.client_name;
  config.database = like.database;
  config.command_timeout_ms = like.command_timeout_ms;
  // The constructor is private.
  return std::unique_ptr<acknowledgements>(new acknowledgements(
      loop, std::move(config), std::move(where), terms, client_id, std::move(listed), hears));
}

acknowledgements::acknowledgements(net::reactor& loop, redis::connection_config config,
                                   std::shared_ptr<followed_server> where, const settings& terms,
                                   std::string_view client_id, count_listed listed, listener& hears)
    : loop_(loop),
      terms_{terms.acks, terms.durability == "fsync"},
      asks_its_cluster_(config.is_of_cluster &&
                        terms_.replicas == protocol::acknowledgement_terms::all),
      patience_ns_(to_ns(terms.command_timeout_ms) / acknowledged_within),
      client_id_(client_id),
      listed_(std::move(listed)),
      hears_(hears),
      where_(std::move(where)),
      problem_(outcome::of(status::unreachable, "acks: still connecting to ", *where_->name())),
      lane_(loop, std::move(config), *this) {
  introduction_.takes_each = true;
  introduction_.reply_count = asks_its_cluster_ ? 3 : 2;
  takes_each = true;
}

acknowledgements::~acknowledgements() { close(); }

void acknowledgements::close() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_closed_ = true;
  }
  lane_.close();
  loop_.cancel(static_cast<net::timer&>(*this));
  loop_.cancel(looking_);
  on_server_down();
}

void acknowledgements::change_server(std::string name,
                                     std::shared_ptr<const std::string> shared_name) noexcept {
  where_->rename(std::move(shared_name));
  lane_.change_server(std::move(name));
  const std::lock_guard guard(mutex_);
  problem_ = {};
}

// ---- readiness --------------------------------------------------------------------------------

bool acknowledgements::meet(const redis::session_facts& server) noexcept try {
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
  if (is_of_server()) return introduce();
  if (lane_run_.empty()) return lane_.look();
  lane_.leave(outcome::of(status::unreachable, "connected to a different server"));
}

void acknowledgements::begin() noexcept {
  if (is_begun_.exchange(true)) {
    if (is_resting_.exchange(false)) lane_.resume();
    return;
  }
  if (auto begun = lane_.begin(); !begun.ok()) refuse(std::move(begun));
}

void acknowledgements::rest() noexcept {
  if (is_begun_ && !is_resting_.exchange(true)) lane_.rest();
}

void acknowledgements::on_server_down() noexcept {
  ends over;
  {
    const std::lock_guard guard(mutex_);
    server_.is_up = false;
    drop(over);
  }
  tell(over, boot_now());
}

// Waiting steps were carried out, or were lost with the server.
void acknowledgements::drop(ends& over) noexcept {
  ready_since_ = 0;
  over.lost.take(waiting_.early);
  over.lost.take(waiting_.covered);
  over.lost.take(waiting_.open);
}

bool acknowledgements::is_of_server() const noexcept {
  const std::lock_guard guard(mutex_);
  return server_.is_up && !lane_run_.empty() && lane_run_ == server_.run;
}

void acknowledgements::on_up(const redis::session_facts& facts) noexcept {
  if (facts.run_id.empty()) {
    return refuse(outcome::of(status::refused, "acks: ", *where_->name(),
                              " hides INFO, so acknowledgements cannot be verified; allow the user "
                              "+info, or give acks=0"));
  }
  try {
    lane_run_ = facts.run_id;
  } catch (const std::bad_alloc&) {
    return lane_.leave(outcome::of(status::no_memory));
  }
  if (is_of_server()) return introduce();
  bool is_left_behind = false;
  {
    const std::lock_guard guard(mutex_);
    is_left_behind = server_.is_up;
  }
  // The server's own connection belongs to a run that has ended.
  if (is_left_behind) {
    hears_.on_unacknowledging(outcome::of(status::unreachable, *where_->name(), " has restarted"));
  }
}

void acknowledgements::on_down(const outcome& why) noexcept {
  const bool was_of_server = is_of_server();
  lane_run_.clear();
  ends over;
  bool is_over = false;
  {
    const std::lock_guard guard(mutex_);
    drop(over);
    problem_ = why;
    problem_.say("acks: ", why.words());
    is_over = is_closed_;
  }
  tell(over, boot_now());
  if (was_of_server && !is_over) hears_.on_unacknowledging(why);
}

void acknowledgements::on_failed(const outcome& why, bool is_definite) noexcept {
  bool is_wanted = false;
  {
    const std::lock_guard guard(mutex_);
    is_wanted = server_.is_up && !is_closed_;
  }
  auto problem = why;
  problem.say("acks: ", why.words());
  refuse(std::move(problem));
  if (is_wanted && !is_definite) hears_.on_unacknowledging(why);
}

void acknowledgements::refuse(outcome why) noexcept {
  ends over;
  {
    const std::lock_guard guard(mutex_);
    problem_ = std::move(why);
    // Waiting does not help without a remedy.
    if (!problem_.is_retryable) over.failed.take(waiting_.early);
    over.why = problem_;
  }
  tell(over, boot_now());
  ++turns_;
  net::futex_wake_all(&turns_);
  look_later();
}

void acknowledgements::look_later() noexcept {
  loop_.schedule(looking_, boot_now() + look_again_ns);
}

// The data may have been replaced, and the user may lack a right.
void acknowledgements::introduce() noexcept try {
  if (std::exchange(introduction_.is_open, true)) return;
  introduction_.part = 0;
  std::string bytes;
  protocol::write_replication(bytes);
  protocol::write_wait(bytes, terms_, 0, 1);
  if (asks_its_cluster_) protocol::write_own_name(bytes);
  const auto sent = lane_.submit(introduction_, bytes, redis::flush::by_io_thread);
  introduction_.is_open = sent == status::ok;
  if (sent != status::ok) look_later();
} catch (const std::bad_alloc&) {
  introduction_.is_open = false;
  look_later();
}

void acknowledgements::introduction::on_broken(bool /*was_sent*/) noexcept { is_open = false; }

void acknowledgements::on_introduction(const redis::value& reply, time_ns now) noexcept try {
  if (introduction_.part++ == 0) {
    introduction_.state = protocol::read_replication(reply.text());
    introduction_.error.clear();
    return;
  }
  if (reply.is_error() && introduction_.error.empty()) introduction_.error = reply.text();
  if (introduction_.part < introduction_.reply_count) return;
  introduction_.is_open = false;
  if (!introduction_.error.empty()) return refuse(refusal(introduction_.error));
  if (!introduction_.state) {
    auto why = outcome::of(status::unreachable, "acks: ", *where_->name(),
                           " does not report its replication state, or is a replica");
    why.is_retryable = true;
    return refuse(std::move(why));
  }
  if (!is_of_server()) return;
  ends over;
  {
    const std::lock_guard guard(mutex_);
    if (server_.history == introduction_.state->history && is_ready()) return;
    server_.history = introduction_.state->history;
    server_.own_name = reply.text();
    replicas_.connected = introduction_.state->connected;
    problem_ = {};
    ready_since_ = now;
    over.done.take(waiting_.early);
  }
  ++turns_;
  net::futex_wake_all(&turns_);
  tell(over, now);
  hears_.on_acknowledging();
} catch (const std::bad_alloc&) {
  introduction_.is_open = false;
  look_later();
}

outcome acknowledgements::problem() const noexcept {
  if (is_ready()) return {};
  const std::lock_guard guard(mutex_);
  if (!problem_.ok()) return problem_;
  return outcome::of(status::unreachable, "acks: still connecting to ", *where_->name());
}

outcome acknowledgements::await_ready(time_ns deadline) {
  for (;;) {
    const auto seen = turns_.load();
    auto why = problem();
    const bool is_definite = why.code != status::unreachable && !why.is_retryable;
    if (why.ok() || is_definite || boot_now() >= deadline) return why;
    net::futex_wait(turns_, seen, deadline);
  }
}

void acknowledgements::await_ready(unacknowledged& item, time_ns now) noexcept {
  begin();
  ends over;
  {
    const std::lock_guard guard(mutex_);
    if (!server_.is_up || is_closed_) {
      over.lost.push(item);
    } else if (is_ready()) {
      over.done.push(item);
    } else {
      item.deadline_ = now + patience_ns_;
      waiting_.early.push(item);
      plan(item.deadline_);
      // A replica may have become the master since.
      loop_.schedule(looking_, now);
    }
  }
  tell(over, now);
}

// ---- replies ----------------------------------------------------------------------------------

void acknowledgements::await(unacknowledged& item, std::string_view place, time_ns asked_at,
                             time_ns now, std::int64_t lease_ms) noexcept {
  ends over;
  {
    const std::lock_guard guard(mutex_);
    const auto since = ready_since_.load();
    if (since == 0 || asked_at <= since) {
      over.why = problem_;
      if (over.why.ok()) {
        over.why = outcome::of(status::unreachable, "acks: the connection to ", *where_->name(),
                               " was replaced meanwhile; retry");
      }
      over.why.is_retryable = true;
      over.failed.push(item);
    } else {
      item.place_ = place;
      item.deadline_ =
          now + (lease_ms > 0 ? std::min(patience_ns_, to_ns(lease_ms)) : patience_ns_);
      waiting_.open.push(item);
      plan(item.deadline_);
      go_on(now, over);
    }
  }
  tell(over, now);
}

// Under the mutex, like all functions below except tell().
void acknowledgements::go_on(time_ns now, ends& over) noexcept {
  if (is_asking_) return;
  // The last mark still covers these items.
  if (!waiting_.covered.is_empty()) return ask(false, now, over);
  if (waiting_.open.is_empty()) return;
  waiting_.covered.take(waiting_.open);
  ask(true, now, over);
}

void acknowledgements::ask(bool with_mark, time_ns now, ends& over) noexcept try {
  const auto required = needed(now);
  if (!required && !asks_its_cluster_) {
    over.is_short = true;
    return fail_all(over, too_few(now));
  }
  const bool is_old = is_list_old(now);
  over.is_short = over.is_short || is_old;
  asked_ = {};
  asked_.place = waiting_.covered.first()->place_;
  std::string bytes;
  if (with_mark) protocol::write_mark(bytes, client_id_, asked_.place);
  // Half of the remaining time, so that the count is known before its end. The wait is short,
  // because fewer replicas may be needed by then.
  const auto half_ms = std::min((waiting_.covered.latest_deadline() - now) / ns_per_ms / 2,
                                is_old ? list_wait_ms : longest_wait_ms);
  protocol::write_wait(bytes, terms_, required.value_or(1), std::max<std::int64_t>(half_ms, 1));
  // Last, so that it reports the history that the replicas were waited for.
  protocol::write_replication(bytes);
  if (asks_its_cluster_) protocol::write_replicas(bytes, server_.own_name);
  reply_count = last_part() - (with_mark ? 0 : 2);
  asked_.part = with_mark ? 0 : 2;
  asked_.was_made = !with_mark;
  if (with_mark) replicas_.had = terms_.is_fsynced ? -1 : 0;
  const auto sent = lane_.submit(*this, bytes, redis::flush::now);
  is_asking_ = sent == status::ok;
  // If the connection has ended, on_down() drops the waiting items.
  if (sent != status::ok && sent != status::unreachable) fail_all(over, outcome::of(sent));
} catch (const std::bad_alloc&) {
  fail_all(over, outcome::of(status::no_memory));
}

void acknowledgements::fail_all(ends& over, outcome why) noexcept {
  over.why = std::move(why);
  over.failed.take(waiting_.covered);
}

void acknowledgements::poll::take(const redis::value& reply,
                                  const protocol::acknowledgement_terms& terms) noexcept try {
  const auto error = reply.is_error() ? reply.text() : std::string_view();
  switch (part++) {
    case 0:
      was_made = protocol::is_marked(reply, {});
      mark_error = error;
      return;
    case 1:
      // The mark was created, or it existed and was extended.
      was_made = was_made || protocol::is_marked({}, reply);
      if (mark_error.empty()) mark_error = error;
      return;
    case 2:
      wait_error = error;
      had = protocol::read_wait(terms, reply);
      return;
    case 3:
      state = protocol::read_replication(reply.text());
      return;
    default:
      replicas = protocol::count_replicas(reply);
  }
} catch (const std::bad_alloc&) {
  was_made = false;
}

void acknowledgements::on_reply(const redis::value& reply, time_ns now) noexcept {
  ends over;
  bool is_left = false;
  {
    const std::lock_guard guard(mutex_);
    asked_.take(reply, terms_);
    if (asked_.part < last_part()) return;
    is_asking_ = false;
    is_left = is_of_replica(asked_.wait_error) || !asked_.state;
    if (!is_left) {
      read(asked_, now, over);
      go_on(now, over);
    }
  }
  // The server is no longer the master. The requests are sent again to the new one.
  if (is_left) {
    return lane_.leave(outcome::of(status::unreachable, *where_->name(), " is a replica now"));
  }
  tell(over, now);
}

void acknowledgements::read(poll& result, time_ns now, ends& over) noexcept {
  // Only the count of the last WAIT. A replica in an earlier count may be dead, and may no longer
  // be needed (hazard 8).
  replicas_.had = result.had;
  replicas_.online = result.state->online;
  replicas_.connected = result.state->connected;
  replicas_.counted = result.replicas;
  if (!result.was_made) {
    over.why = refusal(result.mark_error);
    // This slot may have moved. The items of the server's other slots are polled again.
    waiting_.covered.part(over.failed, [&](const unacknowledged& item) {
      return item.place_.data() == result.place.data();
    });
    waiting_.covered.take(waiting_.open);
    std::swap(waiting_.covered, waiting_.open);
    return;
  }
  if (!result.wait_error.empty()) return fail_all(over, refusal(result.wait_error));
  if (result.state->history != server_.history) {
    // After a failover and back the data differ, whatever the present replicas have. So all
    // requests are sent again. The first replica of a server also changes the history.
    std::swap(server_.history, result.state->history);
    ready_since_ = now;
    over.is_anew = true;
    over.lost.take(waiting_.covered);
    return over.lost.take(waiting_.open);
  }
  const auto required = needed(now);
  if (required && replicas_.had >= *required) return over.done.take(waiting_.covered);
  over.is_short = terms_.replicas == protocol::acknowledgement_terms::all;
  over.why = too_few(now);
  waiting_.covered.part(over.failed,
                        [&](const unacknowledged& item) { return item.deadline_ <= now; });
}

void acknowledgements::on_broken(bool /*was_sent*/) noexcept {
  const std::lock_guard guard(mutex_);
  is_asking_ = false;  // on_down() drops the waiting items
}

// Callbacks run without the mutex, because they may call this object.
void acknowledgements::tell(ends& over, time_ns now) noexcept {
  while (auto* const item = over.done.pop()) item->on_acknowledged({}, now);
  while (auto* const item = over.failed.pop()) item->on_acknowledged(over.why, now);
  while (auto* const item = over.lost.pop()) item->on_server_lost(now);
  if (over.is_anew) hears_.on_acknowledging();
  if (over.is_short) hears_.on_shortfall();
}

// The number of replicas that must have the data: all that could become the master. At least the
// connected ones, because WAIT only counts (hazard 8).
std::optional<std::int64_t> acknowledgements::needed(time_ns now) const noexcept {
  if (terms_.replicas != protocol::acknowledgement_terms::all) return terms_.replicas;
  auto listed = replicas_.counted;
  if (!asks_its_cluster_) {
    const auto list = listed_(where_->address());
    if (list) listed = is_list_old(now) ? list->all : list->up;
  }
  if (!listed) return std::nullopt;
  return std::max(*listed, replicas_.connected);
}

// Whether the Sentinels' list has discounted replicas for too long.
bool acknowledgements::is_list_old(time_ns now) const noexcept {
  if (terms_.replicas != protocol::acknowledgement_terms::all || asks_its_cluster_) return false;
  const auto list = listed_(where_->address());
  return list && list->up < list->all && now - list->asked_at > list_life_ns;
}

outcome acknowledgements::too_few(time_ns now) const noexcept {
  const auto required = needed(now);
  auto why = outcome::of(status::unreachable);
  why.is_retryable = true;
  if (!required) {
    why.say("acks: the number of replicas of ", *where_->name(), " is not known yet");
  } else if (replicas_.had < 0) {
    why.say("durability: ", *where_->name(), " did not write it to disk in time");
  } else {
    why.say("acks: ", decimal(replicas_.had), " of ", decimal(*required), " replicas of ",
            *where_->name(), " have it, ", decimal(replicas_.online),
            " are online; fix them, or give a lower number");
  }
  return why;
}

outcome acknowledgements::refusal(std::string_view error) const noexcept try {
  auto why = protocol::read_error(error).details;
  lane_.hide_login(why);
  const bool is_elsewhere = error.starts_with("MOVED ") || cluster::is_on_its_way(error);
  why.is_retryable = why.is_retryable || is_elsewhere;
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

void acknowledgements::on_look(time_ns /*now*/) noexcept {
  if (!is_ready() && is_of_server()) introduce();
}

void acknowledgements::on_timer(time_ns now) noexcept {
  ends over;
  {
    const std::lock_guard guard(mutex_);
    const auto is_late = [&](const unacknowledged& item) { return item.deadline_ <= now; };
    waiting_.armed_for = time_never;
    over.why = is_ready() || problem_.ok() ? too_few(now) : problem_;
    for (auto* const list : {&waiting_.early, &waiting_.covered, &waiting_.open}) {
      list->part(over.failed, is_late);
      plan(list->earliest_deadline());
    }
  }
  tell(over, now);
}

}  // namespace mortise::deployment
