#include "deployment/replication/helper_connection.hpp"

#include <new>
#include <utility>

#include "deployment/replication/second_connection.hpp"

namespace mortise::deployment {

std::unique_ptr<helper_connection> helper_connection::make(
    net::reactor& loop, const redis::connection_config& base_config,
    helper::helper_process* helper) {
  if (helper == nullptr) return nullptr;
  auto where = std::make_shared<followed_server>(base_config.where->text());
  auto config = second_connection_config(base_config, where);
  // The constructor is private.
  return std::unique_ptr<helper_connection>(
      new helper_connection(loop, std::move(config), std::move(where), *helper));
}

helper_connection::helper_connection(net::reactor& loop, redis::connection_config config,
                                     std::shared_ptr<followed_server> where,
                                     helper::helper_process& helper)
    : helper_(helper),
      where_(std::move(where)),
      number_(helper.add_connection()),
      connection_(loop, std::move(config), *this) {}

helper_connection::~helper_connection() { close(); }

// A connection to an earlier run or another server ends: a release there would be for nobody.
void helper_connection::follow(const redis::session_facts& server) noexcept try {
  where_->follow(server);
  if (!is_begun_.exchange(true)) return static_cast<void>(connection_.begin());
  if (is_resting_.exchange(false)) return connection_.resume();
  if (!is_up_) return connection_.look();
  if (run_ == server.run_id) return;
  connection_.commands().break_off(
      outcome::of(status::unreachable, "connected to a different server"));
} catch (const std::bad_alloc&) {
  // Until the next connect the leases decide.
}

outcome helper_connection::await(time_ns deadline) {
  for (;;) {
    const auto seen = connection_.turns();
    if (is_up_) return {};
    if (connection_.await_turn(seen, deadline)) continue;
    auto problem = connection_.last_problem();
    problem.say("release_on_death: the connection for the helper process: ", problem.words());
    return problem;
  }
}

void helper_connection::rest() noexcept {
  if (is_begun_ && !is_resting_.exchange(true)) connection_.rest();
}

void helper_connection::change_server(std::string name,
                                      std::shared_ptr<const std::string> shared_name) noexcept {
  where_->rename(std::move(shared_name));
  connection_.change_server(std::move(name));
}

void helper_connection::close() noexcept { connection_.close(); }

void helper_connection::on_up(const redis::session_facts& facts) noexcept try {
  run_ = facts.run_id;
  is_up_ = helper_.set_connection(number_, connection_.commands().descriptor());
  if (is_up_) return;
  connection_.commands().break_off(
      outcome::of(status::limit, "no descriptor is left for the helper process; raise the limit"));
} catch (const std::bad_alloc&) {
  connection_.commands().break_off(outcome::of(status::no_memory));
}

void helper_connection::on_down(const outcome& /*why*/) noexcept {
  is_up_ = false;
  static_cast<void>(helper_.set_connection(number_, -1));
}

}  // namespace mortise::deployment
