#include "redis/service/service_check.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>

#include "redis/resp/command.hpp"

namespace mortise::redis {

namespace {

struct tried_command {
  const char* name;
  std::array<std::string_view, 4> words;
};

// None of these changes anything. No client ever writes the key of EVAL, which a proxy needs.
constexpr std::array<tried_command, 6> tried_commands{{
    {"HELLO", {"HELLO", "3"}},
    {"CLIENT", {"CLIENT", "ID"}},
    {"MULTI", {"MULTI"}},
    {"EVAL", {"EVAL", "return 1", "1", "mortise:probe"}},
    {"SCRIPT", {"SCRIPT", "LOAD", "return 1"}},
    {"SUBSCRIBE", {"SUBSCRIBE", "mortise:inbox"}},
}};

}  // namespace

service_check::service_check(net::reactor& loop, const connection_config& config,
                             check_listener& listener)
    : loop_(loop),
      listener_(listener),
      dialer_(loop, config.where, config.make_transport, *this),
      connection_(loop, config, *this, nullptr, pipeline::purpose::messages) {}

service_check::~service_check() { loop_.cancel(static_cast<net::timer&>(*this)); }

void service_check::begin(const net::address& at, const std::string& host,
                          time_ns deadline) noexcept try {
  at_ = at;
  host_ = host;
  is_on_ = true;
  deadline_ = deadline;
  lacking_ = {};
  tried_ = 0;
  is_given_up_ = false;
  loop_.schedule(*this, deadline);
  dial();
} catch (const std::bad_alloc&) {
  is_given_up_ = true;
  finish();
}

void service_check::end() noexcept {
  is_given_up_ = true;
  dialer_.cancel();
  loop_.cancel(static_cast<net::timer&>(*this));
  if (!connection_.is_attached()) is_on_ = false;
  connection_.break_off(outcome::of(status::closed));
}

void service_check::finish() noexcept {
  loop_.cancel(static_cast<net::timer&>(*this));
  is_on_ = false;
  if (is_given_up_) lacking_ = {};
  listener_.on_check_over();
}

void service_check::dial() noexcept {
  is_command_sent_ = is_answered_ = false;
  dialer_.start_at(at_, host_, deadline_);
}

void service_check::on_dialed(std::unique_ptr<net::transport> connected,
                              const net::address& /*where*/) noexcept try {
  connection_.attach(std::move(connected));
  send(std::array<std::string_view, 1>{"PING"});  // any reply is good enough, even an error
} catch (const std::bad_alloc&) {
  give_up();
}

void service_check::on_dial_failed(const outcome& /*why*/, bool /*is_definite*/) noexcept {
  is_given_up_ = true;
  finish();
}

void service_check::send(std::span<const std::string_view> words) {
  wiped_bytes bytes;
  command_writer(bytes).command(
      std::span(words.begin(), std::find(words.begin(), words.end(), "")));
  connection_.greet(std::move(bytes));
}

void service_check::on_handshake_reply(const value& /*reply*/) noexcept try {
  if (is_command_sent_) {
    is_answered_ = true;
    return connection_.break_off(outcome::of(status::closed));
  }
  is_command_sent_ = true;
  send(tried_commands.at(tried_).words);
} catch (const std::bad_alloc&) {
  give_up();
}

void service_check::on_torn(const outcome& why) noexcept try {
  take_end(why);
} catch (const std::bad_alloc&) {
  is_given_up_ = true;
  finish();
}

void service_check::take_end(const outcome& why) {
  // The service closed the connection. It was not broken off after an invalid reply.
  const bool is_closed = why.code == status::unreachable && why.is_retryable;
  if (!is_answered_) {
    if (!is_command_sent_ || !is_closed) is_given_up_ = true;
    if (!is_given_up_) lacking_.note(tried_commands.at(tried_).name);
  }
  ++tried_;
  // A reply to HELLO shows that something other than HELLO ended the connection before.
  const bool is_known_service = tried_ == 1 && is_answered_;
  if (is_given_up_ || is_known_service || tried_ == tried_commands.size()) return finish();
  dial();
}

void service_check::on_timer(time_ns /*now*/) noexcept { give_up(); }

void service_check::give_up() noexcept {
  is_given_up_ = true;
  dialer_.cancel();
  if (!connection_.is_attached()) return finish();
  connection_.break_off(outcome::of(status::closed));
}

}  // namespace mortise::redis
