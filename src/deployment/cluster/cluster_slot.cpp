#include "deployment/cluster/cluster_slot.hpp"

#include <new>
#include <utility>

#include "deployment/cluster/cluster_routes.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "protocol/native/inbox.hpp"
#include "protocol/refusal.hpp"
#include "redis/resp/server_error.hpp"

namespace mortise::deployment {

namespace {

// For a slot without a server.
known_commands no_commands{redis::compare_and_delete::none};

// Whether the server does not serve the slot.
bool is_of_slot(std::string_view error) noexcept {
  const auto* const unfit = redis::unfitness_of(error);
  return unfit != nullptr && unfit->is_of_slot;
}

}  // namespace

cluster_slot::cluster_slot(int slot, const protocol::client_identity& client)
    : number(slot), place(cluster::tag_of(slot)), inbox(protocol::inbox_channel(client) + place) {}

cluster_request::cluster_request(cluster_routes& routes, cluster_slot& slot,
                                 lock_requester& requester)
    : server_request(requester), routes_(routes), slot_(slot) {}

cluster_request::~cluster_request() { routes_.stop_using(slot_); }

status cluster_request::send(const lock::step_request& step, const protocol::table& rules,
                             const protocol::key_set& keys,
                             const lock::operation* operation) noexcept {
  auto* const server = slot_.server.load(std::memory_order_acquire);
  const bool is_moving = step.what == lock::step::renew &&
                         boot_now() < slot_.moving_until.load(std::memory_order_relaxed);
  is_asking_ = is_migrating_ = false;
  const auto written =
      write(step, rules, keys, server != nullptr ? server->commands() : no_commands, is_moving);
  if (written != status::ok) return written;
  if (server == nullptr) {
    leave_unmeasured();
    return routes_.wait(*this, slot_);
  }
  target_ = server;
  note_server(server->helper());
  const auto sent =
      submit(server->connection(), server->commands(), operation, {server->acks(), slot_.place});
  if (sent == status::ok && operation != nullptr && operation->caller != nullptr &&
      operation->caller->is_own()) {
    operation->caller->lend_to(server);
  }
  if (sent == status::unreachable) routes_.on_request_failed(slot_);
  return sent;
}

status cluster_request::send_on(cluster_server& server) noexcept {
  target_ = &server;
  note_server(server.helper());
  return submit(server.connection(), server.commands(), nullptr, {server.acks(), slot_.place});
}

status cluster_request::send_asking(cluster_server& server) noexcept {
  target_ = &server;
  is_asking_ = true;
  return submit_asking(server.connection(), server.commands());
}

void cluster_request::drop() noexcept {
  lock::step_result result;
  result.what = lock::answer::unsent;
  report(result, boot_now());
}

// Not if replicas must acknowledge. The replicas of the next server are waited for after the slot
// has attached there.
bool cluster_request::is_forwarded(std::string_view error) noexcept try {
  if (is_asking_ || !is_of_one_key() || target_->acks() != nullptr) return false;
  const auto ask = cluster::read_ask(error, target_->where());
  return ask && routes_.send_asking(*this, ask->target);
} catch (const std::bad_alloc&) {
  return false;
}

bool cluster_request::is_misrouted(std::string_view error, lock::step_result& result) noexcept try {
  const bool is_cut_short = cluster::is_cut_short(error);
  // A server that rejects a request ahead of the slot does not know of the move.
  is_migrating_ =
      is_cut_short || cluster::is_migration_error(error) ||
      (is_asking_ && (cluster::read_moved(error, target_->where()) || is_of_slot(error)));
  if (is_migrating_) {
    result = protocol::read_error("TRYAGAIN");
    // A script that was cut short may have done its work. A retry detects this.
    result.what = is_cut_short ? lock::answer::broken : lock::answer::unsent;
    return true;
  }
  if (const auto moved = cluster::read_moved(error, target_->where())) {
    result.what = lock::answer::unsent;
    routes_.on_moved(slot_, *target_, moved->target);
    return true;
  }
  if (!is_of_slot(error)) return false;
  result = protocol::read_error(error);
  routes_.on_unserved(slot_, *target_);
  return true;
} catch (const std::bad_alloc&) {
  result.what = lock::answer::unsent;
  return true;
}

// After the result this may be reused or destroyed.
void cluster_request::report(const lock::step_result& result, time_ns now) noexcept {
  auto& routes = routes_;
  auto& slot = slot_;
  const bool is_migrating = is_migrating_;
  const bool has_failed_request =
      result.what == lock::answer::unsent || result.what == lock::answer::broken;
  server_request::report(result, now);
  if (is_migrating) return routes.on_migrating(slot);
  if (has_failed_request) routes.on_request_failed(slot);
}

}  // namespace mortise::deployment
