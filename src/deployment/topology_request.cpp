#include "deployment/topology_request.hpp"

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cluster/topology.hpp"
#include "protocol/refusal.hpp"
#include "redis/command.hpp"

namespace mortise::deployment {

bool topology_request::send(cluster_routes& routes, cluster_server& at) {
  std::string bytes;
  redis::command_writer(bytes).command({"CLUSTER", "SLOTS"});
  std::unique_ptr<topology_request> made(new topology_request(routes, at));
  if (at.link().submit(*made, bytes, redis::flush::by_io_thread) != status::ok) return false;
  static_cast<void>(made.release());
  return true;
}

void topology_request::on_reply(const redis::value& reply, time_ns) noexcept {
  const std::unique_ptr<topology_request> self(this);
  try {
    std::vector<cluster::slot_range> told;
    if (!reply.is_error() && cluster::read_slots(reply, at_.where(), told)) {
      return routes_.on_topology(at_.number(), told);
    }
    auto why = reply.is_error()
                   ? protocol::read_error(reply.text()).details
                   : outcome::of(status::unknown,
                                 "its answer to CLUSTER SLOTS makes no sense; servers with TLS "
                                 "only need tls-cluster yes");
    why.is_ambiguous = false;
    if (reply.is_error()) why.say("the server refused CLUSTER SLOTS: ", why.words());
    at_.link().hide_login(why);
    routes_.on_no_topology(at_.number(), why);
  } catch (const std::bad_alloc&) {
    routes_.on_no_topology(at_.number(), outcome::of(status::no_memory));
  }
}

void topology_request::on_broken(bool) noexcept {
  const std::unique_ptr<topology_request> self(this);
  routes_.on_no_topology(at_.number(), at_.problem());
}

}  // namespace mortise::deployment
