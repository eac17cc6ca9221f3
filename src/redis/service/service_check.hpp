// Finds out which commands make a service end the connection, as the proxy twemproxy does with each
// command that it does not pass on. Each command is tried on a separate connection, after the
// answer to a PING. So a service that lacks the command differs from a server that starts, and from
// a port of another protocol.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/dialer.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "redis/check_listener.hpp"
#include "redis/pipeline.hpp"
#include "redis/service/service_gaps.hpp"

namespace mortise::redis {

// The I/O thread's.
class service_check final : private pipeline_listener,
                            private net::dial_listener,
                            private net::timer {
 public:
  service_check(net::reactor& loop, const connection_config& config, check_listener& listener);
  // Only when is_over().
  ~service_check() override;

  // Ends in on_check_over(), maybe before it returns. Needs no login: an error about a missing
  // login is a reply too.
  void begin(const net::address& at, const std::string& host, time_ns deadline) noexcept;
  // Ends the check. on_check_over() follows if a connection is open.
  void end() noexcept;
  [[nodiscard]] bool is_over() const noexcept { return !is_on_; }
  // What the last check found. Without gaps it found nothing.
  [[nodiscard]] const service_gaps& lacking() const noexcept { return lacking_; }

 private:
  void on_dialed(std::unique_ptr<net::transport> connected,
                 const net::address& where) noexcept override;
  void on_dial_failed(const outcome& why, bool is_definite) noexcept override;
  void on_handshake_reply(const value& reply) noexcept override;
  void on_torn(const outcome& why) noexcept override;
  void on_timer(time_ns now) noexcept override;
  void dial() noexcept;
  void send(std::span<const std::string_view> words);
  void take_end(const outcome& why);
  void give_up() noexcept;
  void finish() noexcept;

  net::reactor& loop_;
  check_listener& listener_;
  net::dialer dialer_;
  pipeline connection_;
  net::address at_;
  std::string host_;
  time_ns deadline_ = 0;
  bool is_on_ = false;
  service_gaps lacking_;
  std::size_t tried_ = 0;  // how many commands
  bool is_command_sent_ = false;
  bool is_answered_ = false;  // the command
  bool is_given_up_ = false;
};

}  // namespace mortise::redis
