#include "deployment/cluster_server.hpp"

#include <utility>

#include "deployment/server_config.hpp"

namespace mortise::deployment {

cluster_server::cluster_server(net::reactor& loop, int number, cluster::endpoint where,
                               redis::connection_config config, const settings& terms,
                               listener& hears)
    : number_(number),
      where_(std::move(where)),
      hears_(hears),
      identity_(config.identity),
      entry_(loop, server_, config.where->text(), terms, config.database, *this),
      server_(loop, std::move(config), *this) {}

outcome cluster_server::begin() {
  if (is_begun_.exchange(true)) return {};
  return server_.begin();
}

void cluster_server::close(time_ns linger_ns) noexcept {
  server_.close(linger_ns);
  entry_.close();
}

outcome cluster_server::problem() const {
  auto problem = server_.last_problem();
  return problem.ok() ? entry_.problem() : problem;
}

outcome cluster_server::set_credentials(const redis::login& offered, time_ns deadline) {
  if (!is_begun_.load()) {
    identity_->replace(offered);
    return {};
  }
  return change_login(server_, *identity_, offered, deadline);
}

void cluster_server::on_up(const redis::session_facts& facts) noexcept {
  known_.store(facts.compare_and_delete, std::memory_order_relaxed);
  entry_.on_up();
}

void cluster_server::on_down(const outcome& why) noexcept {
  entry_.on_down();
  hears_.on_server_down(*this, why);
}

}  // namespace mortise::deployment
