#include "deployment/replication/followed_server.hpp"

#include <utility>

namespace mortise::deployment {

followed_server::followed_server(std::string name)
    : name_(std::make_shared<const std::string>(std::move(name))) {}

void followed_server::follow(const redis::session_facts& server) {
  const std::lock_guard guard(mutex_);
  at_ = server.at;
  host_ = server.host;
}

void followed_server::rename(std::shared_ptr<const std::string> name) noexcept {
  const std::lock_guard guard(mutex_);
  name_.swap(name);
}

net::address followed_server::address() const {
  const std::lock_guard guard(mutex_);
  return at_;
}

std::shared_ptr<const std::string> followed_server::name() const noexcept {
  const std::lock_guard guard(mutex_);
  return name_;
}

net::resolution followed_server::resolve(time_ns /*deadline*/) {
  const std::lock_guard guard(mutex_);
  return {{}, {at_}, host_};
}

}  // namespace mortise::deployment
