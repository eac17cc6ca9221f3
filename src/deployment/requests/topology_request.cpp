#include "deployment/requests/topology_request.hpp"

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "deployment/cluster/routing/topology.hpp"
#include "protocol/refusal.hpp"
#include "redis/resp/command.hpp"

namespace mortise::deployment {

topology_request::topology_request(cluster_routes& routes, cluster_server& server, bool with_epochs)
    : routes_(routes), server_(server), is_epochs_next_(with_epochs) {
  takes_each = true;
  reply_count = with_epochs ? 2 : 1;
}

bool topology_request::send(cluster_routes& routes, cluster_server& server) {
  const bool with_epochs = server.reports_epochs();
  std::string bytes;
  redis::command_writer words(bytes);
  if (with_epochs) words.command({"CLUSTER", "NODES"});
  words.command({"CLUSTER", "SLOTS"});
  std::unique_ptr<topology_request> made(new topology_request(routes, server, with_epochs));
  if (server.connection().commands().submit(*made, bytes, redis::flush::by_io_thread) != status::ok)
    return false;
  static_cast<void>(made.release());
  return true;
}

// Without the right, or without memory, the slots are taken as reported.
void topology_request::take_epochs(const redis::value& reply) noexcept try {
  is_epochs_next_ = false;
  if (reply.is_error()) return server_.note_lack_of_epochs();
  epochs_ = cluster::read_epochs(reply.text());
} catch (const std::bad_alloc&) {
  epochs_.clear();
}

void topology_request::on_reply(const redis::value& reply, time_ns) noexcept {
  if (is_epochs_next_) return take_epochs(reply);
  const std::unique_ptr<topology_request> self(this);
  try {
    std::vector<cluster::slot_range> ranges;
    if (!reply.is_error() && cluster::read_slots(reply, server_.where(), epochs_, ranges)) {
      return routes_.on_topology(server_.number(), ranges);
    }
    auto why = reply.is_error() ? protocol::read_error(reply.text()).details
                                : outcome::of(status::unknown,
                                              "its reply to CLUSTER SLOTS is invalid; servers with "
                                              "only TLS need tls-cluster yes");
    why.is_ambiguous = false;
    if (reply.is_error()) why.say("the server refused CLUSTER SLOTS: ", why.words());
    server_.connection().hide_login(why);
    routes_.on_no_topology(server_.number(), why);
  } catch (const std::bad_alloc&) {
    routes_.on_no_topology(server_.number(), outcome::of(status::no_memory));
  }
}

void topology_request::on_broken(bool) noexcept {
  const std::unique_ptr<topology_request> self(this);
  routes_.on_no_topology(server_.number(), server_.problem());
}

}  // namespace mortise::deployment
