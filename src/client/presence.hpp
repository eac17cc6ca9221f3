// Tells the servers that this client lives and where, and at the end that it is gone. Also a sign
// of life: a connection that does not answer it in time counts as broken.
#pragma once

#include <memory>
#include <string_view>

#include "deployment/deployment.hpp"
#include "net/reactor.hpp"

namespace mortise::client {

class presence final : private net::timer {
 public:
  presence(net::reactor& loop, deployment::deployment& servers, std::string_view client_id);
  ~presence() override;

  // Each handshake tells it as well, so the first heartbeat comes later.
  void begin() noexcept;
  // So that nobody takes a client that is gone for one that is alive.
  void end() noexcept;

 private:
  void on_timer(time_ns now) noexcept override;

  net::reactor& loop_;
  const std::unique_ptr<deployment::broadcast> heartbeat_;
  const std::unique_ptr<deployment::broadcast> farewell_;
};

}  // namespace mortise::client
