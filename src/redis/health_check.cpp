#include "redis/health_check.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/resp/command.hpp"

namespace mortise::redis {

namespace {

// Time limit of the first connect of a silence; each further connect gets twice as much, up to the
// longest. After a cut the kernel repeats its SYN only after a second or more, so a new connect is
// faster.
constexpr time_ns first_dial_ns = 400 * ns_per_ms;
constexpr time_ns longest_dial_ns = 16 * first_dial_ns;
// A pause that is longer than any between two looks of one silence.
constexpr time_ns silence_gap_ns = ns_per_s;
// Also lets an answer on the old connection arrive.
constexpr time_ns settle_ns = 50 * ns_per_ms;

}  // namespace

health_check::health_check(net::reactor& loop, const connection_config& config,
                           check_listener& listener)
    : loop_(loop),
      answer_ns_(config.command_timeout_ms * ns_per_ms / 3),
      listener_(listener),
      dialer_(loop, config.where, config.make_transport, *this),
      socket_(loop, config, *this, nullptr, pipeline::purpose::messages),
      dial_ns_(first_dial_ns) {}

health_check::~health_check() { loop_.cancel(static_cast<net::timer&>(*this)); }

void health_check::look(const net::address& at, const std::string& host) noexcept {
  const time_ns now = boot_now();
  const bool is_same_silence = now - std::exchange(looked_at_, now) < silence_gap_ns;
  if (since_ != 0 || !is_over()) return;
  if (!is_same_silence) dial_ns_ = first_dial_ns;
  since_ = now;
  const auto deadline = since_ + dial_ns_;
  dial_ns_ = std::min(2 * dial_ns_, longest_dial_ns);
  loop_.schedule(*this, deadline);
  dialer_.start_at(at, host, deadline);
}

void health_check::end() noexcept {
  stop();
  dial_ns_ = first_dial_ns;
}

void health_check::stop() noexcept {
  dialer_.cancel();
  loop_.cancel(static_cast<net::timer&>(*this));
  since_ = 0;
  is_answered_ = false;
  socket_.break_off(outcome::of(status::closed));
}

void health_check::on_dialed(std::unique_ptr<net::transport> connected,
                             const net::address& /*where*/) noexcept try {
  wiped_bytes ping;
  command_writer(ping).command({"PING"});
  socket_.attach(std::move(connected));
  socket_.greet(std::move(ping));
  loop_.schedule(*this, boot_now() + answer_ns_);
} catch (const std::bad_alloc&) {
  stop();
}

void health_check::on_dial_failed(const outcome& /*why*/, bool /*is_definite*/) noexcept {
  // The next overdue answer starts another check.
}

// A server that requires a login is healthy. A server that is full, loading or busy is not.
void health_check::on_handshake_reply(const value& reply) noexcept {
  const auto text = reply.text();
  if (reply.is_error() && !text.starts_with("NOAUTH") && !text.starts_with("NOPERM")) return stop();
  is_answered_ = true;
  loop_.schedule(*this, boot_now() + settle_ns);
}

void health_check::on_torn(const outcome& /*why*/) noexcept { listener_.on_check_over(); }

void health_check::on_timer(time_ns /*now*/) noexcept {
  const auto since = since_;
  const bool is_healthy = is_answered_;
  stop();
  if (is_healthy) listener_.on_healthy(since);
}

}  // namespace mortise::redis
