#include <utility>
#include <vector>

#include "deployment/cluster/cluster_deployment.hpp"
#include "deployment/url/cluster_url.hpp"
#include "deployment/url/single_url.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

outcome read_cluster_url(std::string_view url, settings& terms, maker& target) {
  redis::endpoint_url where;
  if (auto result = read_server_url(url, terms, where); !result.ok()) return result;
  if (!where.shard.empty() || where.weight != 0) {
    return outcome::of(status::invalid_argument, where.weight != 0 ? "weight" : "shard",
                       ": a cluster distributes the names itself; omit it");
  }
  net::transport_factory make_transport;
  if (auto result = choose_transport_of_each(where, terms, make_transport); !result.ok())
    return result;
  target = [where = std::move(where), make_transport = std::move(make_transport)](
               net::reactor& loop, const settings& own_terms, std::string_view client_id,
               listener& listener) {
    return make_cluster(where, make_transport, loop, own_terms, client_id, listener);
  };
  return {};
}

}  // namespace mortise::deployment
