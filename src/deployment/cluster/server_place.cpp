#include "deployment/cluster/server_place.hpp"

#include <utility>

namespace mortise::deployment {

server_place::server_place(cluster::endpoint server, std::shared_ptr<const address_map> map)
    : map_(std::move(map)), at_(std::move(server)), found_(find(at_)) {}

cluster::endpoint server_place::at() const {
  const std::lock_guard guard(mutex_);
  return at_;
}

void server_place::change(cluster::endpoint server, std::shared_ptr<net::resolver> found) noexcept {
  const std::lock_guard guard(mutex_);
  std::swap(at_, server);
  found_.swap(found);
}

std::shared_ptr<net::resolver> server_place::find(const cluster::endpoint& server) const {
  return net::resolver_for_server(server.host, server.port, *map_);
}

bool server_place::is_immediate() const noexcept {
  const std::lock_guard guard(mutex_);
  return found_->is_immediate();
}

net::resolution server_place::resolve(time_ns deadline) {
  std::shared_ptr<net::resolver> found;
  {
    const std::lock_guard guard(mutex_);
    found = found_;
  }
  return found->resolve(deadline);
}

std::string server_place::text() const {
  const std::lock_guard guard(mutex_);
  return found_->text();
}

}  // namespace mortise::deployment
