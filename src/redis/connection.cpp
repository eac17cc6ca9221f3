#include "redis/connection.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/probe.hpp"
#include "base/random.hpp"
#include "net/threads/futex.hpp"

namespace mortise::redis {

namespace {

// The I/O thread may report the reason to open() this long after the deadline. Only an overloaded
// host takes that long.
constexpr time_ns open_grace_ns = 100 * ns_per_ms;

// The log subject of a failed attempt.
log_subject subject_of(const outcome& why, bool is_definite) noexcept {
  const bool is_refused = is_definite || why.code == status::refused;
  return is_refused ? log_subject::refused : log_subject::unreachable;
}

pipeline_limits limits_of(const connection_config& config) {
  pipeline_limits limits;
  limits.output_bytes = config.output_limit_bytes;
  limits.open_requests = config.open_requests_limit;
  limits.silence_ns = config.command_timeout_ms * ns_per_ms;
  limits.busy_poll_ns = config.busy_poll_us * ns_per_us;
  limits.is_of_cluster = config.is_of_cluster;
  return limits;
}

// Combines the results of two addresses. A server that answered is more informative than an
// unreachable one.
outcome both(const outcome& first, const outcome& second) noexcept {
  auto all = second.code == status::unreachable ? first : second;
  all.say(first.message, "; ", second.message);
  return all;
}

connection_config completed(connection_config config) {
  if (!config.identity) config.identity = std::make_shared<credentials>(login{}, "");
  if (!config.make_transport) {
    config.make_transport = [](const std::string&) {
      return std::make_unique<net::socket_transport>();
    };
  }
  return config;
}

}  // namespace

connection::connection(net::reactor& loop, connection_config config, session_listener& listener)
    : loop_(loop),
      config_(completed(std::move(config))),
      listener_(listener),
      commands_(loop, *this, &listener, pipeline::purpose::commands, limits_of(config_)),
      dialer_(loop, config_.where, config_.make_transport, *this),
      endpoint_(loop, config_.where, config_.make_transport,
                config_.command_timeout_ms * ns_per_ms / 3, *this) {}

connection::~connection() {
  close();
  loop_.cancel(static_cast<net::task&>(*this));
  loop_.cancel(static_cast<net::timer&>(*this));
}

outcome connection::begin() {
  if (auto lack = commands_.check(); !lack.ok()) {
    wanted_.is_rest = true;
    set_problem(lack);
    return lack;
  }
  set_unanswered(endpoint_.name());
  loop_.post(*this);
  return {};
}

// The problem until the I/O thread knows the reason.
void connection::set_unanswered(std::string_view name) noexcept {
  set_problem(outcome::of(status::unreachable, name,
                          " did not answer in time; check the server's load and the network"));
}

outcome connection::open(time_ns deadline) {
  {
    const std::lock_guard guard(mutex_);
    opening_.deadline = deadline;
    opening_.is_on = true;
  }
  if (auto begun = begin(); !begun.ok()) {
    close();
    return begun;
  }
  const time_ns end = deadline + open_grace_ns;
  while (opening_.is_done.load(std::memory_order_acquire) == 0 && boot_now() < end) {
    net::futex_wait(opening_.is_done, 0, end);
  }
  outcome result;
  {
    const std::lock_guard guard(mutex_);
    result = opening_.is_done.load(std::memory_order_acquire) != 0 ? opening_.result : problem_;
    if (!result.ok()) opening_.is_on = false;
  }
  if (!result.ok()) close();
  return result;
}

outcome connection::last_problem() const noexcept {
  const std::lock_guard guard(mutex_);
  return problem_;
}

bool connection::await_turn(std::uint32_t seen, time_ns deadline) noexcept {
  while (turns_.load() == seen && boot_now() < deadline) net::futex_wait(turns_, seen, deadline);
  return turns_.load() != seen;
}

// An invalid argument of the client is not an invalid argument of a later call, which gets
// `unreachable`.
void connection::set_problem(const outcome& why) noexcept {
  const std::lock_guard guard(mutex_);
  problem_ = why;
  if (why.code != status::invalid_argument) return;
  problem_.code = status::unreachable;
  problem_.is_retryable = true;
}

void connection::report_open(const outcome& result) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (!std::exchange(opening_.is_on, false)) return;
    opening_.result = result;
    opening_.is_done.store(1, std::memory_order_release);
  }
  net::futex_wake_all(&opening_.is_done);
}

void connection::run() noexcept {
  bool is_closing = false;
  {
    const std::lock_guard guard(mutex_);
    is_closing = closing_.is_on;
  }
  if (is_closing) return begin_close();
  if (wanted_.is_rest) return rest_now();
  if (phase_ == phase::idle) return begin_attempt();
  if (wanted_.is_look.exchange(false)) look_now();
  renew_login();
}

void connection::rest() noexcept {
  wanted_.is_rest = true;
  loop_.post(*this);
}

void connection::resume() noexcept {
  if (!commands_.check().ok()) return;
  wanted_.is_rest = false;
  loop_.post(*this);
}

// An open socket ends later in retry_or_give_up().
void connection::rest_now() noexcept {
  switch (phase_) {
    case phase::waiting:
      loop_.cancel(static_cast<net::timer&>(*this));
      phase_ = phase::idle;
      return;
    case phase::dialing:
    case phase::handshake:
    case phase::dialing_inbox:
    case phase::handshake_inbox:
    case phase::up: {
      auto why = outcome::of(status::unreachable, endpoint_.text(), " is no longer needed");
      why.is_retryable = true;
      return fail(std::move(why), false);
    }
    default:
      return;
  }
}

void connection::look() noexcept {
  wanted_.is_look.store(true);
  loop_.post(*this);
}

void connection::look_now() noexcept {
  switch (phase_) {
    case phase::waiting:
      loop_.cancel(static_cast<net::timer&>(*this));
      return begin_attempt();
    case phase::dialing:
      return dial();  // the addresses found before may be out of date
    case phase::handshake:
    case phase::dialing_inbox:
    case phase::handshake_inbox:
    case phase::up:
      return look_up("replaced");
    default:
      return;
  }
}

void connection::follow_identity(login with, bool is_accepted) noexcept {
  // RESP2's second socket accepts no AUTH once it is subscribed.
  const bool is_sent = is_accepted && hearing_.load() == &commands_;
  config_.identity->replace(std::move(with), is_sent ? &login_.sent_version : nullptr);
  loop_.post(*this);
}

// The file or the program may have another login by now. Waiters for a correct password wait no
// longer than necessary.
void connection::renew_login() noexcept {
  if (phase_ == phase::waiting) {
    loop_.cancel(static_cast<net::timer&>(*this));
    return begin_attempt();
  }
  const bool has_logged_in = phase_ == phase::handshake || phase_ == phase::dialing_inbox ||
                             phase_ == phase::handshake_inbox || phase_ == phase::up;
  const auto version = config_.identity->version();  // read before sent_version, which grows first
  if (!has_logged_in || login_.sent_version >= version) return;
  auto why =
      outcome::of(status::unreachable, endpoint_.text(), ": reconnecting with new credentials");
  why.is_retryable = true;
  fail(std::move(why), false);
}

void connection::change_server(std::string name) noexcept {
  set_unanswered(name);
  statistics_.reset();
  const std::lock_guard guard(mutex_);
  wanted_.name = std::move(name);
}

// Above all the client id at the old server: at the new server the id belongs to another client.
void connection::forget_server() noexcept {
  std::string name;
  {
    const std::lock_guard guard(mutex_);
    if (!wanted_.name) return;
    name.swap(*wanted_.name);
    wanted_.name.reset();
  }
  dialer_.forget();
  endpoint_.change_name(std::move(name), config_.where->is_immediate());
  facts_ = {};
  before_ = {};
  up_.was_ever = up_.is_trouble_noted = false;
  back_off_ = {};
}

void connection::begin_attempt() noexcept {
  forget_server();
  attempt_.deadline = boot_now() + config_.command_timeout_ms * ns_per_ms;
  {
    const std::lock_guard guard(mutex_);
    attempt_.is_last = opening_.is_on && opening_.deadline <= attempt_.deadline;
    if (attempt_.is_last) attempt_.deadline = opening_.deadline;
  }
  attempt_.end = attempt_.before = {};
  attempt_.was_unheard = false;
  dial();
}

void connection::dial() noexcept {
  phase_ = phase::dialing;
  dialer_.start(attempt_.deadline);
}

// Exhausted memory ends the attempt. The next attempt may succeed.
template <class Step>
void connection::attempt(Step&& step) noexcept try {
  step();
} catch (const std::bad_alloc&) {
  fail(outcome::of(status::no_memory, endpoint_.text(), ": out of memory during the handshake"),
       false);
}

void connection::on_dialed(std::unique_ptr<net::transport> connected,
                           const net::address& where) noexcept {
  const bool is_first = phase_ == phase::dialing;
  phase_ = is_first ? phase::handshake : phase::handshake_inbox;
  if (is_first) endpoint_.note_connected(where);
  // The addresses share the time that is left, so a silent address leaves time for the others.
  const time_ns now = boot_now();
  const auto share = static_cast<time_ns>(dialer_.left() + 1);
  loop_.schedule(*this, now + std::max<time_ns>(attempt_.deadline - now, 0) / share);
  socket().attach(std::move(connected));
  attempt([&] {
    if (is_first) return begin_handshake();
    greet(handshake::form::resp2_messages);
  });
}

void connection::begin_handshake() {
  if (auto known = config_.identity->read(login_.as); !known.ok()) {
    return fail(std::move(known), true);
  }
  login_.sent_version = login_.as.version;
  greet(protocol_ == 3 ? handshake::form::resp3 : handshake::form::resp2_commands);
}

// The socket of the present handshake.
pipeline& connection::socket() noexcept {
  return phase_ == phase::handshake ? commands_ : *messages_;
}

void connection::greet(handshake::form form) {
  handshake_.emplace(config_, form, before_, login_.as);
  socket().greet(handshake_->take_bytes());
}

void connection::on_dial_failed(const outcome& why, bool is_definite) noexcept {
  if (!up_.was_ever) return fail(why, is_definite);
  auto reason = why;
  reason.say(endpoint_.text_disconnected(), ": ", why.message);
  fail(std::move(reason), is_definite);
}

void connection::on_handshake_reply(const value& reply) noexcept {
  if (phase_ != phase::handshake && phase_ != phase::handshake_inbox) return;
  attempt([&] { take_reply(reply); });
}

void connection::take_reply(const value& reply) {
  switch (handshake_->take(reply)) {
    case handshake::step::more:
      return;
    case handshake::step::send:
      return socket().greet(handshake_->take_bytes());
    case handshake::step::done:
      return finish_handshake();
    case handshake::step::fall_back:
      if (config_.is_of_cluster) {
        return fail(outcome::of(status::refused, endpoint_.text(),
                                ": the server has no RESP3 for this user, which sharded channels "
                                "need; allow HELLO"),
                    true);
      }
      protocol_ = 2;
      attempt_.is_falling_back = true;
      return fail(outcome::of(status::refused, "the server refused RESP3"), false);
    case handshake::step::refused: {
      auto why = handshake_->problem();
      why.say(endpoint_.text(), ": ", why.message);
      return fail(std::move(why), !handshake_->is_passing());
    }
  }
}

void connection::finish_handshake() {
  if (phase_ == phase::handshake) {
    facts_ = handshake_->facts();
    facts_.is_reconnect = up_.was_ever;
    facts_.at = endpoint_.address();
    facts_.host = dialer_.host();
    before_ = {facts_.client_id, facts_.run_id};
  }
  if (phase_ == phase::handshake_inbox || protocol_ == 3 || config_.inbox.empty()) return go_up();
  if (!messages_) {
    pipeline_listener& me = *this;
    messages_ = std::make_unique<pipeline>(loop_, me, &listener_, pipeline::purpose::messages,
                                           limits_of(config_));
  }
  phase_ = phase::dialing_inbox;
  dialer_.start_at(endpoint_.address(), attempt_.deadline);  // the address of the commands
}

void connection::go_up() noexcept {
  // Comes first. A caller that found no connection still gets on_up, so no caller misses it.
  if (messages_ && messages_->is_attached() && !messages_->admit()) return;
  if (!commands_.admit()) return;
  loop_.cancel(static_cast<net::timer&>(*this));
  handshake_.reset();
  login_.as = {};
  phase_ = phase::up;
  up_.was_last = up_.was_ever = true;
  back_off_.begin(boot_now());
  set_problem({});
  if (const auto* const why = statistics_.came_up()) {
    probe::reconnect(endpoint_.name().c_str(), why);
  }
  listener_.on_up(facts_);
  hearing_.store(protocol_ == 3 ? &commands_ : messages_.get());
  listen_again();
  plan_lookup();
  report_open({});
  take_turn();
  note_up();
}

// The end of the trouble that was noted before.
void connection::note_up() noexcept {
  if (!std::exchange(up_.is_trouble_noted, false)) return;
  outcome well;
  well.say(endpoint_.text(), ": connected", facts_.is_reconnect ? " again" : "");
  listener_.on_note(endpoint_.has_moved() ? log_subject::redirected : log_subject::reconnected,
                    well);
}

void connection::note_trouble(log_subject what) noexcept {
  up_.is_trouble_noted = true;
  listener_.on_note(what, last_problem());
}

void connection::take_turn() noexcept {
  ++turns_;
  net::futex_wake_all(&turns_);
}

// A separate lookup checks whether the name still lists the server. The server may only be slow.
void connection::on_overdue() noexcept {
  if (phase_ != phase::up) return;
  look_up("silent");
  if (!config_.is_silence_normal) endpoint_.check();
  outcome slow;
  slow.say(endpoint_.text(), ": answers are overdue");
  listener_.on_note(log_subject::slow, slow);
  listener_.on_overdue();
}

// Commands on the old connection may be lost or late. The handshake of the next connection ends the
// old one first (hazard 16).
void connection::on_healthy(time_ns since) noexcept {
  if (phase_ != phase::up || commands_.has_input_since(since)) return;
  auto why = outcome::of(status::unreachable, endpoint_.text(),
                         ": the connection is silent, but the server answers a new one");
  why.cause = "silent";
  why.is_retryable = true;
  fail(std::move(why), false);
}

void connection::on_check_over() noexcept {
  if (phase_ == phase::ending || phase_ == phase::lingering) settle();
}

void connection::look_up(const char* why) noexcept {
  endpoint_.look(boot_now() + config_.command_timeout_ms * ns_per_ms, why);
}

void connection::on_moved(outcome why) noexcept {
  if (phase_ != phase::lingering) fail(std::move(why), false);
}

void connection::plan_lookup() noexcept {
  if (config_.look_interval_ms == 0) return;
  // Spreads the lookups of a server's clients.
  const auto half_ns = config_.look_interval_ms * ns_per_ms / 2;
  const auto part_ns = static_cast<time_ns>(random_number() % static_cast<std::uint64_t>(half_ns));
  loop_.schedule(*this, boot_now() + half_ns + half_ns / 2 + part_ns);
}

void connection::on_timer(time_ns) noexcept {
  switch (phase_) {
    case phase::waiting:
      return begin_attempt();
    case phase::lingering:
      return end_sockets();
    case phase::up:
      look_up("replaced");
      return plan_lookup();
    case phase::handshake:
    case phase::handshake_inbox: {
      auto why = outcome::of(
          status::unreachable, endpoint_.text(),
          " did not answer in time during the handshake; check the server's load and the network");
      why.is_retryable = true;
      return fail(std::move(why), false);
    }
    default:
      return;
  }
}

// Ends the attempt or the session. The first reason counts.
void connection::fail(outcome why, bool is_definite) noexcept {
  if (phase_ == phase::ending || phase_ == phase::closed) return;
  if (attempt_.end.ok()) {
    // An attempt that ran out of time knows less than the attempt before it.
    const bool is_cut =
        attempt_.is_last && back_off_.failures() > 0 && boot_now() >= attempt_.deadline;
    attempt_.end = is_cut ? last_problem() : std::move(why);
    attempt_.is_end_definite = is_definite;
  }
  attempt_.was_at_first_socket = phase_ == phase::handshake;
  phase_ = phase::ending;
  end_sockets();
}

void connection::on_torn(const outcome& why) noexcept {
  if (attempt_.end.ok()) {
    const bool is_in_handshake = phase_ == phase::handshake || phase_ == phase::handshake_inbox;
    attempt_.was_at_first_socket = phase_ == phase::handshake;
    attempt_.was_unheard = phase_ == phase::handshake && !handshake_->is_answered();
    attempt_.end = why;
    hide_login(attempt_.end);
    if (is_in_handshake) {
      attempt_.end.say(endpoint_.text(), ": handshake failed: ", why.message,
                       " (check the server's log)", config_.hint_at_end);
    } else {
      attempt_.end.say(endpoint_.text(), ": ", why.message);
    }
    // A server that starts or stops may close the connection. A peer that replies in another
    // protocol is another program.
    attempt_.is_end_definite = why.code == status::unreachable && !why.is_retryable;
    attempt_.end.is_retryable = true;
  }
  if (phase_ != phase::lingering) phase_ = phase::ending;
  end_sockets();
}

// Continues once all sockets are closed.
void connection::settle() noexcept {
  if (has_sockets()) return;
  login_.as = {};
  bool is_closing = false;
  {
    const std::lock_guard guard(mutex_);
    is_closing = closing_.is_on;
  }
  if (is_closing) return finish_close();
  if (!wanted_.is_rest && (take_another_way() || check_service())) return;
  conclude();
}

// Ends this attempt, or the session, for good.
void connection::conclude() noexcept {
  if (!attempt_.before.ok()) attempt_.end = both(attempt_.before, attempt_.end);
  set_problem(attempt_.end);
  if (std::exchange(up_.was_last, false)) {
    const auto& why = attempt_.end;
    endpoint_.note_disconnected(why.cause != nullptr ? why.cause : "gone");
    back_off_.end(why.code == status::refused, boot_now());
    statistics_.went_down(why);
    if (!wanted_.is_rest) note_trouble(log_subject::disconnected);
    listener_.on_down(why);
  } else {
    if (!wanted_.is_rest) note_trouble(subject_of(attempt_.end, attempt_.is_end_definite));
    listener_.on_failed(attempt_.end, attempt_.is_end_definite);
  }
  bool is_opening = false;
  {
    const std::lock_guard guard(mutex_);
    is_opening = opening_.is_on;
  }
  retry_or_give_up(is_opening);
}

// Continues the same attempt by RESP2, or at another address.
bool connection::take_another_way() noexcept {
  if (std::exchange(attempt_.is_falling_back, false)) {
    attempt_.end = {};
    dial();
    return true;
  }
  const bool may_go_on =
      std::exchange(attempt_.was_at_first_socket, false) && !attempt_.is_end_definite;
  if (!may_go_on || dialer_.left() == 0 || boot_now() >= attempt_.deadline) return false;
  // One of several addresses may belong to a replica, or to a server that starts or stops.
  auto& before = attempt_.before;
  before = before.ok() ? attempt_.end : both(before, attempt_.end);
  attempt_.end = {};
  phase_ = phase::dialing;
  dialer_.go_on(attempt_.deadline);
  return true;
}

void connection::retry_or_give_up(bool is_opening) noexcept {
  if (wanted_.is_rest) {
    phase_ = phase::idle;
    return;
  }
  const time_ns next = back_off_.next(is_opening, random_number(), boot_now());
  if (is_opening && (attempt_.is_end_definite || next >= opening_.deadline)) {
    phase_ = phase::idle;
    return report_open(attempt_.end);
  }
  phase_ = phase::waiting;
  loop_.schedule(*this, next);
}

}  // namespace mortise::redis
