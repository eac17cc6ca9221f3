// The slots of each server of a cluster and their config epochs, requested from one server.
#pragma once

#include "deployment/cluster/cluster_routes.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "redis/resp/request.hpp"

namespace mortise::deployment {

// Keeps itself alive while in flight.
class topology_request final : public redis::request {
 public:
  // Returns false if the send fails. Throws bad_alloc.
  static bool send(cluster_routes& routes, cluster_server& server);

 private:
  topology_request(cluster_routes& routes, cluster_server& server, bool with_epochs);
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void take_epochs(const redis::value& reply) noexcept;

  cluster_routes& routes_;
  cluster_server& server_;
  bool is_epochs_next_;  // before the slots
  cluster::config_epochs epochs_;
};

}  // namespace mortise::deployment
