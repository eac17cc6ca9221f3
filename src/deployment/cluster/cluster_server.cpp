#include "deployment/cluster/cluster_server.hpp"

#include <utility>

namespace mortise::deployment {

cluster_server::cluster_server(net::reactor& loop, int number, std::shared_ptr<server_place> place,
                               redis::connection_config config, const settings& terms,
                               std::string_view client_id, helper::helper_process* helper,
                               listener& events)
    : number_(number),
      place_(std::move(place)),
      listener_(events),
      identity_(config.identity),
      entry_(loop, server_, config.where->text(), terms, config.database, *this),
      acks_(acknowledgements::make(loop, config, terms, client_id, {}, *this)),
      helper_(helper_connection::make(loop, config, helper)),
      server_(loop, std::move(config), *this) {}

void cluster_server::change(const cluster::endpoint& where) {
  auto found = place_->find(where);
  auto name = found->text();
  auto next = where;
  auto for_entry = name;
  auto for_acks = name;
  auto for_helper = name;
  auto shared_name = std::make_shared<const std::string>(name);
  place_->change(std::move(next), std::move(found));
  entry_.change_server(std::move(for_entry));
  if (acks_) acks_->change_server(std::move(for_acks), shared_name);
  if (helper_) helper_->change_server(std::move(for_helper), std::move(shared_name));
  server_.change_server(std::move(name));
  commands_.store(redis::compare_and_delete::none, std::memory_order_relaxed);
  lacks_seed_ = false;
}

outcome cluster_server::begin() {
  is_resting_ = false;
  if (!is_begun_.exchange(true)) return server_.begin();
  server_.resume();
  return {};
}

void cluster_server::rest() noexcept {
  is_resting_ = true;
  server_.rest();
  if (acks_) acks_->rest();
  if (helper_) helper_->rest();
}

void cluster_server::close(time_ns linger_ns) noexcept {
  server_.close(linger_ns);
  if (acks_) acks_->close();
  if (helper_) helper_->close();
  entry_.close();
}

outcome cluster_server::problem() const {
  if (is_resting_) return outcome::of(status::unreachable, "not connected to ", place_->text());
  auto problem = server_.last_problem();
  return problem.ok() ? entry_.problem() : problem;
}

void cluster_server::keep_credentials(const redis::login& offered) {
  identity_->replace(offered);
  // The connection may have started with the old login.
  if (is_begun_) server_.follow_identity(offered, false);
}

void cluster_server::on_up(const redis::session_facts& facts) noexcept {
  if (acks_ && acks_->note_session(facts)) listener_.on_server_replaced(*this);
  if (helper_) helper_->follow(facts);
  lacks_seed_ = false;
  reports_epochs_ = true;
  commands_.store(facts.compare_and_delete, std::memory_order_relaxed);
  entry_.on_up();
}

void cluster_server::on_admitted() noexcept {
  if (acks_) acks_->on_server_up();
  listener_.on_server_up(*this);
}

void cluster_server::on_down(const outcome& why) noexcept {
  entry_.on_down();
  if (acks_) acks_->on_server_down();
  listener_.on_server_down(*this, why);
}

}  // namespace mortise::deployment
