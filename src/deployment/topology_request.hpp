// Which server of a cluster has which slots, and how old these claims are, asked of one of them.
#pragma once

#include "cluster/topology.hpp"
#include "deployment/cluster_routes.hpp"
#include "redis/request.hpp"

namespace mortise::deployment {

// Keeps itself while it is on its way.
class topology_request final : public redis::request {
 public:
  // False where it could not be sent; throws bad_alloc.
  static bool send(cluster_routes& routes, cluster_server& at);

 private:
  topology_request(cluster_routes& routes, cluster_server& at, bool with_epochs);
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void take_epochs(const redis::value& reply) noexcept;

  cluster_routes& routes_;
  cluster_server& at_;
  bool is_epochs_next_;  // before the slots
  cluster::config_epochs epochs_;
};

}  // namespace mortise::deployment
