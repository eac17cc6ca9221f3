#include "redis/connection.hpp"

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

outcome client_closed() noexcept { return outcome::of(status::closed, "the client was closed"); }

}  // namespace

connection::connection(net::reactor& loop, connection_config config, session_listener& listener)
    : loop_(loop),
      config_(std::move(config)),
      listener_(listener),
      connector_(loop, config_, session_, *this),
      session_(loop, config_, connector_, listener) {}

connection::~connection() {
  close();
  loop_.cancel(static_cast<net::task&>(*this));
  loop_.cancel(static_cast<net::timer&>(*this));
}

outcome connection::begin() {
  auto lack = session_.commands().prepare();
  if (lack.ok()) {
    set_unanswered(connector_.endpoint().name());
  } else {
    set_problem(lack);
  }
  loop_.post(*this);
  return lack;
}

outcome connection::open(time_ns deadline) {
  open_deadline_ = deadline;
  if (auto begun = begin(); !begun.ok()) {
    close();
    return begun;
  }
  static_cast<void>(await_turn(0, deadline + open_grace_ns));
  outcome result;
  {
    const std::lock_guard guard(mutex_);
    result = turns_ != 0 ? open_result_ : problem_;
    open_deadline_ = 0;
  }
  if (!result.ok()) close();
  return result;
}

void connection::close(time_ns linger_ns) noexcept {
  time_ns before = -1;
  linger_ns_.compare_exchange_strong(before, linger_ns);
  if (is_closed_.load(std::memory_order_acquire) == 0) loop_.post(*this);
  while (is_closed_.load(std::memory_order_acquire) == 0) {
    net::futex_wait(is_closed_, 0, time_never);
  }
}

void connection::look() noexcept {
  is_look_due_ = true;
  loop_.post(*this);
}

void connection::follow_identity(login with, bool is_accepted) noexcept {
  // RESP2's second socket accepts no AUTH once it is subscribed.
  const bool is_sent = is_accepted && session_.has_one_socket();
  connector_.replace_login(std::move(with), is_sent);
  loop_.post(*this);
}

void connection::rest() noexcept {
  is_resting_ = true;
  loop_.post(*this);
}

void connection::resume() noexcept {
  is_resting_ = false;
  loop_.post(*this);
}

void connection::change_server(std::string name) noexcept {
  set_unanswered(name);
  statistics_.reset();
  const std::lock_guard guard(mutex_);
  new_name_ = std::move(name);
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

// The problem until the I/O thread knows the reason.
void connection::set_unanswered(std::string_view name) noexcept {
  set_problem(outcome::of(status::unreachable, name,
                          " did not answer in time; check the server's load and the network"));
}

void connection::run() noexcept {
  if (phase_ == phase::closed) return;
  if (is_closing()) return connector_.close(linger_ns_);
  const bool is_idle = phase_ != phase::active;
  if (is_idle) loop_.cancel(static_cast<net::timer&>(*this));
  if (is_resting_) {
    if (is_idle) phase_ = phase::idle;
    return connector_.rest();
  }
  const bool is_look_due = is_look_due_.exchange(false);
  // The file or the program may have another login by now. Waiters for a correct password wait no
  // longer than necessary.
  if (is_idle) return begin_attempt();
  if (is_look_due) connector_.look();
  connector_.renew_login();
}

void connection::on_timer(time_ns /*now*/) noexcept { begin_attempt(); }

void connection::begin_attempt() noexcept {
  forget_server();
  phase_ = phase::active;
  // The process may have a descriptor to spare at the next attempt.
  if (auto lack = session_.commands().prepare(); !lack.ok()) return on_failed(lack, false);
  const time_ns limit = open_deadline_;
  connector_.begin(limit == 0 ? time_never : limit,
                   back_off_.failures() > 0 ? last_problem() : outcome());
}

void connection::forget_server() noexcept {
  std::optional<std::string> name;
  {
    const std::lock_guard guard(mutex_);
    name.swap(new_name_);
  }
  if (!name) return;
  connector_.change_server(std::move(*name));
  is_trouble_noted_ = false;
  back_off_ = {};
}

void connection::on_up(const session_facts& facts) noexcept {
  back_off_.begin(boot_now());
  set_problem({});
  if (const auto* const why = statistics_.came_up()) {
    probe::reconnect(connector_.endpoint().name().c_str(), why);
  }
  listener_.on_up(facts);
  session_.subscribe_all(facts.protocol);
  report_open({});
  take_turn();
  note_up(facts);
}

void connection::on_overdue() noexcept {
  outcome slow;
  slow.say(connector_.endpoint().text(), ": answers are overdue");
  listener_.on_note(log_subject::slow, slow);
  listener_.on_overdue();
}

void connection::on_down(const outcome& why) noexcept {
  if (is_closing()) {
    listener_.on_down(client_closed());
    return finish_close();
  }
  set_problem(why);
  back_off_.end(why.code == status::refused, boot_now());
  statistics_.went_down(why);
  note_trouble(log_subject::disconnected);
  listener_.on_down(why);
  retry_or_give_up(why, false);
}

void connection::on_failed(const outcome& why, bool is_definite) noexcept {
  if (is_closing()) return finish_close();
  set_problem(why);
  note_trouble(subject_of(why, is_definite));
  listener_.on_failed(why, is_definite);
  retry_or_give_up(why, is_definite);
}

void connection::retry_or_give_up(const outcome& why, bool is_definite) noexcept {
  phase_ = phase::idle;
  if (is_resting_) return;
  const time_ns limit = open_deadline_;
  const time_ns next = back_off_.next(limit != 0, random_number(), boot_now());
  if (limit != 0 && (is_definite || next >= limit)) {
    report_open(why);
    return take_turn();
  }
  phase_ = phase::waiting;
  loop_.schedule(*this, next);
}

void connection::finish_close() noexcept {
  loop_.cancel(static_cast<net::timer&>(*this));
  phase_ = phase::closed;
  set_problem(client_closed());
  report_open(client_closed());
  take_turn();
  const auto* const sleeper = &is_closed_;
  is_closed_.store(1, std::memory_order_release);
  // The object may be destroyed now.
  net::futex_wake_all(sleeper);
}

void connection::report_open(const outcome& result) noexcept {
  const std::lock_guard guard(mutex_);
  if (open_deadline_.exchange(0) != 0) open_result_ = result;
}

// The end of the trouble that was noted before.
void connection::note_up(const session_facts& facts) noexcept {
  if (!std::exchange(is_trouble_noted_, false)) return;
  const auto& endpoint = connector_.endpoint();
  outcome well;
  well.say(endpoint.text(), ": connected", facts.is_reconnect ? " again" : "");
  listener_.on_note(endpoint.has_moved() ? log_subject::redirected : log_subject::reconnected,
                    well);
}

void connection::note_trouble(log_subject what) noexcept {
  if (is_resting_) return;
  is_trouble_noted_ = true;
  listener_.on_note(what, last_problem());
}

void connection::take_turn() noexcept {
  ++turns_;
  net::futex_wake_all(&turns_);
}

}  // namespace mortise::redis
