// One request in flight to all servers of a quorum.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/redlock/votes/acquisition.hpp"
#include "deployment/sharded/server_group.hpp"
#include "lock/step.hpp"

namespace mortise::deployment {

class quorum_request;
class redlock_coordinator;

// An owner token with requests at the servers.
struct quorum_owner {
  std::string lock;  // its name
  const protocol::table* rules = nullptr;
  std::shared_ptr<const protocol::key_set> keys;
  quorum::acquisition acquisition;
};

// Guarded by the coordinator, which reuses it after all replies.
class quorum_round {
 public:
  quorum_round(const server_group& servers, redlock_coordinator& coordinator)
      : coordinator_(coordinator), recipients_(servers.size()) {
    for (std::size_t server = 0; server < servers.size(); ++server) {
      recipients_[server].round = this;
      recipients_[server].server = server;
      requests_.push_back(servers.at(server).new_request(recipients_[server], {}));
    }
  }

  // `operation` is one that does not wait for the replies, or nullptr for the I/O thread.
  status send(std::size_t server, const lock::step_request& request,
              const lock::operation* operation) noexcept {
    return requests_[server]->send(request, *owner->rules, *owner->keys, operation);
  }

  // For the coordinator.
  quorum_owner* owner = nullptr;
  quorum::round* progress = nullptr;
  quorum_request* requester = nullptr;  // waits for the result; nullptr after it
  std::size_t place = 0;                // in its pool

 private:
  // Identifies the server of each reply.
  struct recipient final : lock_requester {
    void on_result(lock_request& /*request*/, const lock::step_result& reply,
                   time_ns now) noexcept override;
    quorum_round* round = nullptr;
    std::size_t server = 0;
  };

  redlock_coordinator& coordinator_;
  std::vector<recipient> recipients_;
  std::vector<std::unique_ptr<lock_request>> requests_;
};

}  // namespace mortise::deployment
