// Keeps this client's record at the servers while it lives, and deletes the record at the end. A
// connection that does not answer the heartbeat in time counts as broken.
#pragma once

#include <memory>

#include "deployment/api/deployment.hpp"
#include "net/reactor.hpp"

namespace mortise::client {

class presence final : private net::timer {
 public:
  presence(net::reactor& loop, deployment::deployment& servers,
           const protocol::client_identity& client);
  ~presence() override;

  // Each handshake also writes the record, so the first heartbeat comes later.
  void begin() noexcept;
  // Deletes the record, so that no other client takes this client for a live one.
  void end() noexcept;

 private:
  void on_timer(time_ns now) noexcept override;

  net::reactor& loop_;
  const std::unique_ptr<deployment::broadcast> heartbeat_;
  const std::unique_ptr<deployment::broadcast> farewell_;
};

}  // namespace mortise::client
