// Which server of a cluster has which slots, asked of one of them.
#pragma once

#include "deployment/cluster_routes.hpp"
#include "redis/request.hpp"

namespace mortise::deployment {

// Keeps itself while it is on its way.
class topology_request final : public redis::request {
 public:
  // False where it could not be sent; throws bad_alloc.
  static bool send(cluster_routes& routes, cluster_server& at);

 private:
  topology_request(cluster_routes& routes, cluster_server& at) : routes_(routes), at_(at) {}
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;

  cluster_routes& routes_;
  cluster_server& at_;
};

}  // namespace mortise::deployment
