#include <utility>
#include <vector>

#include "deployment/cluster_deployment.hpp"
#include "deployment/cluster_url.hpp"
#include "deployment/single_url.hpp"
#include "redis/url.hpp"

namespace mortise::deployment {

outcome read_cluster_url(std::string_view url, settings& terms, maker& into) {
  redis::endpoint_url where;
  if (auto how = read_server_url(url, terms, where); !how.ok()) return how;
  if (!where.shard.empty() || where.weight != 0) {
    return outcome::of(status::invalid_argument, where.weight != 0 ? "weight" : "shard",
                       ": a cluster distributes the names itself; omit it");
  }
  net::transport_factory make_transport;
  if (auto how = choose_transport_of_each(where, terms, make_transport); !how.ok()) return how;
  into = [where = std::move(where), make_transport = std::move(make_transport)](
             net::reactor& loop, const settings& of, std::string_view client_id, listener& hears) {
    return make_cluster(where, make_transport, loop, of, client_id, hears);
  };
  return {};
}

}  // namespace mortise::deployment
