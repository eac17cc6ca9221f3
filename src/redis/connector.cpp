#include "redis/connector.hpp"

#include <algorithm>
#include <new>

#include "base/random.hpp"

namespace mortise::redis {

namespace {

// One such end may come from a server that starts or stops.
constexpr int unanswered_ends_before_check = 2;

// Combines the results of two addresses. A server that answered is more informative than an
// unreachable one.
outcome both(const outcome& first, const outcome& second) noexcept {
  auto all = second.code == status::unreachable ? first : second;
  all.say(first.message, "; ", second.message);
  return all;
}

}  // namespace

connector::connector(net::reactor& loop, const connection_config& config, session& target,
                     session_listener& listener)
    : loop_(loop),
      config_(config),
      session_(target),
      listener_(listener),
      dialer_(loop, config.where, config.make_transport, *this),
      endpoint_(loop, config.where, *this),
      health_check_(loop, config, *this) {}

connector::~connector() { loop_.cancel(static_cast<net::timer&>(*this)); }

time_ns connector::timeout_ns() const noexcept { return config_.command_timeout_ms * ns_per_ms; }

// Whether a login was sent to the server.
bool connector::has_login() const noexcept {
  return phase_ == phase::handshake || phase_ == phase::dialing_inbox ||
         phase_ == phase::handshake_inbox || phase_ == phase::up;
}

void connector::begin(time_ns limit, outcome earlier) noexcept {
  limit_ = limit;
  deadline_ = std::min(limit, boot_now() + timeout_ns());
  before_ = std::move(earlier);
  end_ = other_address_ = {};
  was_unanswered_ = false;
  dial();
}

void connector::close(time_ns linger_ns) noexcept {
  if (phase_ == phase::lingering) return;
  if (phase_ == phase::up && linger_ns > 0 && session_.commands().is_busy()) {
    phase_ = phase::lingering;
    loop_.schedule(*this, boot_now() + linger_ns);
    return session_.commands().finish_sending();
  }
  phase_ = phase::stopping;
  end_ = outcome::of(status::closed, "the client was closed");
  end_sockets();
}

void connector::rest() noexcept {
  if (phase_ == phase::ending) {
    phase_ = phase::stopping;
  } else if (phase_ != phase::checking) {
    interrupt(" is no longer needed", nullptr, phase::stopping);
  }
}

void connector::look() noexcept {
  if (phase_ == phase::dialing) return dial();  // the addresses found before may be out of date
  if (has_login()) look_up("replaced");
}

void connector::renew_login() noexcept {
  const auto version = config_.identity->version();  // read before sent_version_, which grows first
  if (has_login() && sent_version_ < version) interrupt(": reconnecting with new credentials");
}

// Above all the client id at the old server: at the new server the id belongs to another client.
void connector::change_server(std::string name) noexcept {
  dialer_.forget();
  endpoint_.change_name(std::move(name), config_.where->is_immediate());
  facts_ = {};
  was_ever_up_ = false;
}

void connector::dial() noexcept {
  phase_ = phase::dialing;
  dialer_.start(deadline_);
}

// The socket of the present handshake.
pipeline& connector::socket() {
  return phase_ == phase::handshake ? session_.commands() : session_.messages();
}

void connector::on_dialed(std::unique_ptr<net::transport> connected,
                          const net::address& where) noexcept try {
  const bool is_first = phase_ == phase::dialing;
  phase_ = is_first ? phase::handshake : phase::handshake_inbox;
  if (is_first) endpoint_.note_connected(where);
  // The addresses share the time that is left, so a silent address leaves time for the others.
  const time_ns now = boot_now();
  const auto share = static_cast<time_ns>(dialer_.left() + 1);
  loop_.schedule(*this, now + std::max<time_ns>(deadline_ - now, 0) / share);
  socket().attach(std::move(connected));
  if (!is_first) return begin_handshake(handshake::form::resp2_messages);
  facts_.handshake_ns = now;
  if (auto known = config_.identity->read(login_); !known.ok()) return fail(std::move(known), true);
  sent_version_ = login_.version;
  begin_handshake(protocol_ == 3 ? handshake::form::resp3 : handshake::form::resp2_commands);
} catch (const std::bad_alloc&) {
  fail_without_memory();
}

void connector::begin_handshake(handshake::form form) {
  handshake_.emplace(config_, form, handshake::predecessor{facts_.client_id, facts_.run_id},
                     login_);
  socket().greet(handshake_->take_bytes());
}

void connector::on_dial_failed(const outcome& why, bool is_definite) noexcept {
  auto reason = why;
  if (was_ever_up_) reason.say(endpoint_.text_disconnected(), ": ", why.message);
  fail(std::move(reason), is_definite);
}

void connector::on_handshake_reply(const value& reply) noexcept try {
  if (phase_ == phase::handshake || phase_ == phase::handshake_inbox) take_reply(reply);
} catch (const std::bad_alloc&) {
  fail_without_memory();
}

void connector::take_reply(const value& reply) {
  switch (handshake_->take(reply)) {
    case handshake::step::more:
      return;
    case handshake::step::send:
      return socket().greet(handshake_->take_bytes());
    case handshake::step::done:
      return finish_handshake();
    case handshake::step::fall_back:
      return fall_back();
    case handshake::step::refused: {
      auto why = handshake_->problem();
      why.say(endpoint_.text(), ": ", why.message);
      return fail(std::move(why), !handshake_->is_passing());
    }
  }
}

void connector::fall_back() noexcept {
  if (config_.is_of_cluster) {
    return fail(outcome::of(status::refused, endpoint_.text(),
                            ": the server has no RESP3 for this user, which sharded channels need; "
                            "allow HELLO"),
                true);
  }
  protocol_ = 2;
  fail(outcome::of(status::refused, "the server refused RESP3"), false);
  next_way_ = next_way::resp2;  // the socket closes later
}

void connector::finish_handshake() {
  if (phase_ == phase::handshake_inbox) return go_up();
  const auto began_ns = facts_.handshake_ns;
  facts_ = handshake_->facts();
  facts_.handshake_ns = began_ns;
  facts_.is_reconnect = was_ever_up_;
  facts_.at = endpoint_.address();
  facts_.host = dialer_.host();
  if (protocol_ == 3 || config_.inbox.empty()) return go_up();
  phase_ = phase::dialing_inbox;
  // The address of the commands.
  dialer_.start_at(endpoint_.address(), dialer_.host(), deadline_);
}

void connector::go_up() noexcept {
  // Comes first. A caller that found no connection still gets on_up, so no caller misses it.
  if (!session_.admit()) return;
  loop_.cancel(static_cast<net::timer&>(*this));
  handshake_.reset();
  login_ = {};
  phase_ = phase::up;
  was_up_ = was_ever_up_ = true;
  listener_.on_up(facts_);
  plan_lookup();
}

// A separate lookup checks whether the name still lists the server. The server may only be slow.
void connector::on_overdue() noexcept {
  if (phase_ != phase::up) return;
  look_up("silent");
  if (!config_.is_silence_normal) health_check_.look(endpoint_.address(), dialer_.host());
  listener_.on_overdue();
}

// Commands on the old connection may be lost or late. The handshake of the next connection ends the
// old one first (hazard 16).
void connector::on_healthy(time_ns since) noexcept {
  if (phase_ != phase::up || session_.commands().has_input_since(since)) return;
  interrupt(": the connection is silent, but the server answers a new one", "silent");
}

void connector::look_up(const char* why) noexcept {
  endpoint_.look(boot_now() + timeout_ns(), why);
}

void connector::on_moved(outcome why) noexcept {
  if (phase_ != phase::lingering) fail(std::move(why), false);
}

void connector::plan_lookup() noexcept {
  if (config_.look_interval_ms == 0) return;
  // Spreads the lookups of a server's clients.
  const auto half_ns = config_.look_interval_ms * ns_per_ms / 2;
  const auto part_ns = static_cast<time_ns>(random_number() % static_cast<std::uint64_t>(half_ns));
  loop_.schedule(*this, boot_now() + half_ns + half_ns / 2 + part_ns);
}

void connector::on_timer(time_ns) noexcept {
  switch (phase_) {
    case phase::lingering:
      return end_sockets();
    case phase::up:
      look_up("replaced");
      return plan_lookup();
    case phase::handshake:
    case phase::handshake_inbox:
      return interrupt(
          " did not answer in time during the handshake; check the server's load and the network");
    default:
      return;
  }
}

// Reports whether a check of the service has begun, which ends in on_check_over(). A client that
// was connected before may hold locks, and keeps trying.
bool connector::check_service() noexcept try {
  unanswered_ends_ = std::exchange(was_unanswered_, false) ? unanswered_ends_ + 1 : 0;
  if (unanswered_ends_ < unanswered_ends_before_check || was_ever_up_ || config_.is_of_sentinel) {
    return false;
  }
  if (!service_check_) {
    check_listener& me = *this;
    service_check_ = std::make_unique<service_check>(loop_, config_, me);
  }
  phase_ = phase::checking;
  service_check_->begin(endpoint_.address(), dialer_.host(),
                        std::min(limit_, boot_now() + timeout_ns()));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void connector::on_check_over() noexcept {
  if (phase_ != phase::checking) return settle();
  note_gaps();
  conclude();
}

// The gaps do not change by the next attempt.
void connector::note_gaps() noexcept try {
  const auto& lacking = service_check_->lacking();
  if (!lacking.excludes_locks()) return;
  end_ = outcome::of(status::refused, endpoint_.text(),
                     ": the service answers PING, but closes the connection at ", lacking.text(),
                     ", as twemproxy does; ", lacking.remedy());
  end_.server_text = "lacks " + lacking.text();
  is_end_definite_ = true;
} catch (const std::bad_alloc&) {
  end_ = outcome::of(status::no_memory);
}

// Ends the attempt or the session. The first reason counts.
void connector::fail(outcome why, bool is_definite, phase next) noexcept {
  if (phase_ == phase::ending || phase_ == phase::stopping || phase_ == phase::idle) return;
  if (end_.ok()) {
    const bool is_cut = deadline_ == limit_ && !before_.ok() && boot_now() >= deadline_;
    end_ = is_cut ? std::move(before_) : std::move(why);
    is_end_definite_ = is_definite;
  }
  next_way_ = phase_ == phase::handshake ? next_way::next_address : next_way::none;
  phase_ = next;
  end_sockets();
}

// Exhausted memory ends the attempt. The next attempt may succeed.
void connector::fail_without_memory() noexcept {
  fail(outcome::of(status::no_memory, endpoint_.text(), ": out of memory during the handshake"),
       false);
}

// The text follows the endpoint's.
void connector::interrupt(const char* text, const char* cause, phase next) noexcept {
  auto why = outcome::of(status::unreachable, endpoint_.text(), text);
  why.cause = cause;
  fail(std::move(why), false, next);
}

void connector::on_torn(const outcome& why) noexcept {
  if (end_.ok()) {
    const bool is_first_handshake = phase_ == phase::handshake;
    const bool is_in_handshake = is_first_handshake || phase_ == phase::handshake_inbox;
    next_way_ = is_first_handshake ? next_way::next_address : next_way::none;
    was_unanswered_ = is_first_handshake && !handshake_->is_answered();
    end_ = why;
    config_.identity->hide_in(end_);
    if (is_in_handshake) {
      end_.say(endpoint_.text(), ": handshake failed: ", why.message, " (check the server's log)",
               config_.hint_at_end);
    } else {
      end_.say(endpoint_.text(), ": ", why.message);
    }
    // A server that starts or stops may close the connection. A peer that replies in another
    // protocol is another program.
    is_end_definite_ = why.code == status::unreachable && !why.is_retryable;
    end_.is_retryable = true;
    if (phase_ != phase::lingering) phase_ = phase::ending;
  }
  end_sockets();
}

// Ends in settle(), immediately when no socket is open.
void connector::end_sockets() noexcept {
  dialer_.cancel();
  endpoint_.cancel();
  health_check_.end();
  if (service_check_) service_check_->end();
  loop_.cancel(static_cast<net::timer&>(*this));
  session_.break_off(end_.ok() ? outcome::of(status::closed, "the client was closed") : end_);
  settle();
}

// Continues once all sockets are closed.
void connector::settle() noexcept {
  if (session_.is_attached() || !health_check_.is_over()) return;
  if (service_check_ && !service_check_->is_over()) return;
  login_ = {};
  if (phase_ == phase::ending && (take_another_way() || check_service())) return;
  conclude();
}

// Ends this attempt, or the session, for good.
void connector::conclude() noexcept {
  if (!other_address_.ok()) end_ = both(other_address_, end_);
  phase_ = phase::idle;
  if (!std::exchange(was_up_, false)) return listener_.on_failed(end_, is_end_definite_);
  endpoint_.note_disconnected(end_.cause != nullptr ? end_.cause : "gone");
  listener_.on_down(end_);
}

// Continues the same attempt by RESP2, or at another address.
bool connector::take_another_way() noexcept {
  const auto way = std::exchange(next_way_, next_way::none);
  if (way == next_way::resp2) {
    end_ = {};
    dial();
    return true;
  }
  const bool may_go_on = way == next_way::next_address && !is_end_definite_;
  if (!may_go_on || dialer_.left() == 0 || boot_now() >= deadline_) return false;
  // One of several addresses may belong to a replica, or to a server that starts or stops.
  other_address_ = other_address_.ok() ? end_ : both(other_address_, end_);
  end_ = {};
  phase_ = phase::dialing;
  dialer_.go_on(deadline_);
  return true;
}

}  // namespace mortise::redis
