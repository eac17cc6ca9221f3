// Pings a server over a second connection while the connection in use is silent. A freeze of the
// process, or a NAT that dropped the flow, leaves the connection in use open but without data. Then
// the server answers a new connection. A slow server answers neither.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/dialer.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "redis/check_listener.hpp"
#include "redis/pipeline.hpp"

namespace mortise::redis {

// The I/O thread's.
class health_check final : private pipeline_listener,
                           private net::dial_listener,
                           private net::timer {
 public:
  health_check(net::reactor& loop, const connection_config& config, check_listener& listener);
  // Only when is_over().
  ~health_check() override;

  // Begins a check of the server at this address of a host, unless one is in progress. Called
  // repeatedly while the connection is silent.
  void look(const net::address& at, const std::string& host) noexcept;
  void end() noexcept;
  [[nodiscard]] bool is_over() noexcept { return !socket_.is_attached(); }

 private:
  void on_dialed(std::unique_ptr<net::transport> connected,
                 const net::address& where) noexcept override;
  void on_dial_failed(const outcome& why, bool is_definite) noexcept override;
  void on_handshake_reply(const value& reply) noexcept override;
  void on_torn(const outcome& why) noexcept override;
  void on_timer(time_ns now) noexcept override;
  void stop() noexcept;

  net::reactor& loop_;
  const time_ns answer_ns_;
  check_listener& listener_;
  net::dialer dialer_;
  pipeline socket_;
  time_ns since_ = 0;      // 0: no check is in progress
  time_ns looked_at_ = 0;  // the last look()
  time_ns dial_ns_;        // time limit of the next connect
  bool is_answered_ = false;
};

}  // namespace mortise::redis
