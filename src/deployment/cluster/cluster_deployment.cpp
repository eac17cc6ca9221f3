#include "deployment/cluster/cluster_deployment.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/atomic_max.hpp"
#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"
#include "deployment/api/server_config.hpp"
#include "deployment/cluster/cluster_routes.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "deployment/requests/command_request.hpp"
#include "net/dial/at_once.hpp"
#include "net/threads/caller.hpp"
#include "protocol/own_name.hpp"

namespace mortise::deployment {

namespace {

outcome of_server(const cluster_server& server, outcome result) {
  if (!result.ok()) result.say("server ", server.where().text(), ": ", result.words());
  return result;
}

// Whether a command that was rejected during the move of its slot can be repeated.
bool is_moving(const outcome& result, const protocol::command& command) {
  return cluster::is_migration_error(result.server_text) ||
         (cluster::is_cut_short(result.server_text) && !command.is_change);
}

std::vector<cluster::endpoint> endpoints_of(const std::vector<redis::host_port>& all) {
  std::vector<cluster::endpoint> found;
  found.reserve(all.size());
  for (const auto& one : all) found.push_back({one.host, one.port});
  return found;
}

// Makes the configuration of the connection to one server.
class config_of_server {
 public:
  config_of_server(redis::endpoint_url each, net::transport_factory make_transport,
                   const settings& terms)
      : each_(std::move(each)), make_transport_(std::move(make_transport)), terms_(terms) {}

  redis::connection_config operator()(const std::shared_ptr<server_place>& place) const {
    auto make_transport = make_transport_;
    if (make_transport) {
      make_transport = [make = make_transport_, place](const std::string&) {
        return make(place->at().host);
      };
    }
    auto config = server_config(each_, make_transport, terms_);
    config.where = place;
    config.is_of_cluster = true;
    config.reply_limits = cluster::reply_limits;
    config.scripts.push_back(&protocol::seed_script());
    return config;
  }

 private:
  const redis::endpoint_url each_;
  const net::transport_factory make_transport_;
  const settings terms_;
};

class cluster_broadcast final : public broadcast {
 public:
  cluster_broadcast(cluster_routes& routes, const protocol::command& command)
      : routes_(routes), command_(command) {}
  void send() noexcept override try {
    if (command_.write_at)
      return routes_.send_for_each_slot(command_.write_at, command_.is_farewell);
    std::string bytes;
    command_.write(bytes, true);
    routes_.send_to_each(bytes);
  } catch (const std::bad_alloc&) {
    // The broadcast is repeated later, or not needed.
  }

 private:
  cluster_routes& routes_;
  const protocol::command command_;
};

class cluster_deployment final : public deployment {
 public:
  cluster_deployment(const redis::endpoint_url& each, const net::transport_factory& make_transport,
                     net::reactor& loop, const settings& terms, std::string_view client_id,
                     listener& listener)
      : has_password_file_(!terms.password_file.empty()),
        has_acks_(acknowledgements::is_needed(terms)),
        seeds_(endpoints_of(each.cluster)),
        routes_(loop, config_of_server(each, make_transport, terms), terms, client_id, listener) {}

  outcome open(time_ns deadline) override;
  outcome begin() override {
    routes_.begin(seeds_);
    return {};
  }
  void close(time_ns linger_ns) noexcept override { routes_.close(linger_ns); }
  outcome place(protocol::key_set& keys) const override;
  std::unique_ptr<lock_request> new_request(lock_requester& requester,
                                            const named_key& lock) override {
    return std::make_unique<cluster_request>(routes_, routes_.use(cluster::slot_of(lock.key)),
                                             requester);
  }
  [[nodiscard]] bool is_granted_by_message(const named_key& /*lock*/) const noexcept override {
    return !has_acks_;
  }
  bool await(const named_key& lock, net::caller& caller, time_ns deadline) noexcept override;
  // A caller can read only one connection, so the I/O thread reads for this caller.
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return caller.wait(deadline);
  }
  void expect_messages(const named_key& lock, int change) noexcept override {
    if (auto* const slot = slot_of(lock)) routes_.expect_messages(*slot, change);
  }
  void note_token(const named_key& lock, std::int64_t token) noexcept override;
  void listen(const named_key& lock, std::string_view channel) override {
    if (auto* const slot = slot_of(lock)) routes_.listen(*slot, channel);
  }
  void unlisten(const named_key& lock, std::string_view channel) noexcept override {
    if (auto* const slot = slot_of(lock)) routes_.unlisten(*slot, channel);
  }
  [[nodiscard]] outcome problem(const named_key& lock) const override {
    return routes_.problem(cluster::slot_of(lock.key));
  }
  outcome ask(const named_key& lock, const protocol::command& command, time_ns deadline) override;
  outcome ask_all(const protocol::command& command, time_ns deadline) override {
    return each_master(deadline, [&](cluster_server& server) {
      return command_request::ask(server.connection(), command, deadline);
    });
  }
  outcome ask_present(const protocol::command& command, time_ns deadline,
                      protocol::missing_servers& missing) override {
    return each_present(deadline, missing, [&](cluster_server& server) {
      return command_request::ask(server.connection(), command, deadline);
    });
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& missing) override {
    return each_present(deadline, missing, [&](cluster_server& server) {
      return hold_dialogue(begin, deadline, [&](const auto& command) {
        return command_request::ask(server.connection(), command, deadline);
      });
    });
  }
  [[nodiscard]] bool has_slots() const noexcept override { return true; }
  [[nodiscard]] std::string server_of(const named_key& lock) const override {
    const auto* const server = routes_.owner_of(cluster::slot_of(lock.key));
    return server == nullptr ? std::string() : server->where().text();
  }
  outcome check_health(protocol::health& target, time_ns deadline) override;
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override;
  void add_statistics(statistics::snapshot& target) const override;
  outcome set_credentials(redis::login offered, time_ns deadline) override;
  std::unique_ptr<broadcast> new_broadcast(const protocol::command& command) override {
    return std::make_unique<cluster_broadcast>(routes_, command);
  }

 private:
  using step = std::function<outcome(cluster_server& server)>;

  // Never nullptr while a lock_request about the slot exists.
  [[nodiscard]] cluster_slot* slot_of(const named_key& lock) noexcept {
    return routes_.find(cluster::slot_of(lock.key));
  }
  [[nodiscard]] outcome why_unattached(const cluster_slot& slot, const outcome& unanswered) const;
  static std::vector<outcome> results_of(const std::vector<cluster_server*>& all, const step& call);
  static outcome each(const std::vector<cluster_server*>& all, const step& call);
  outcome each_master(time_ns deadline, const step& call);
  outcome each_present(time_ns deadline, protocol::missing_servers& missing, const step& call);
  outcome ask_at(cluster_slot& slot, const protocol::command& command, time_ns deadline);

  const bool has_password_file_;
  const bool has_acks_;
  const std::vector<cluster::endpoint> seeds_;
  cluster_routes routes_;
};

outcome cluster_deployment::open(time_ns deadline) {
  routes_.begin(seeds_);
  auto opened = routes_.await_known(deadline);
  for (auto* const server : routes_.servers()) {
    if (opened.ok() && server->problem().ok()) opened = server->entry().await(deadline);
  }
  if (!opened.ok()) routes_.close(0);
  return opened;
}

// All keys of a lock must be in one slot, because a script cannot read other slots.
outcome cluster_deployment::place(protocol::key_set& keys) const {
  const auto slot = cluster::slot_of(keys.front());
  for (auto& key : keys) {
    if (protocol::own_name(key) == protocol::fence_key) {
      key += cluster::tag_of(slot);
    } else if (cluster::slot_of(key) != slot) {
      return outcome::of(status::invalid_argument, "name: its keys ", printable(keys.front()),
                         " and ", printable(key),
                         " are in different slots of the cluster; give a name with a hash tag, as "
                         "in {name}");
    }
  }
  return {};
}

// A caller that has sent a request may lead that connection, even if the slot has moved.
bool cluster_deployment::await(const named_key& lock, net::caller& caller,
                               time_ns deadline) noexcept {
  auto* server = static_cast<cluster_server*>(caller.lent_to());
  auto* const slot = server == nullptr ? slot_of(lock) : nullptr;
  if (slot != nullptr) server = slot->server.load(std::memory_order_acquire);
  return server == nullptr ? caller.wait(deadline)
                           : server->connection().commands().await(caller, deadline);
}

void cluster_deployment::note_token(const named_key& lock, std::int64_t token) noexcept {
  auto* const slot = slot_of(lock);
  if (slot == nullptr) return;
  raise_to(slot->highest_token, token);
}

// ---- commands -------------------------------------------------------------------------------

outcome cluster_deployment::ask(const named_key& lock, const protocol::command& command,
                                time_ns deadline) {
  auto& slot = routes_.use(cluster::slot_of(lock.key));
  auto result = ask_at(slot, command, deadline);
  routes_.stop_using(slot);
  return result;
}

outcome cluster_deployment::why_unattached(const cluster_slot& slot,
                                           const outcome& unanswered) const {
  if (!unanswered.ok()) return unanswered;
  auto problem = routes_.problem(slot.number);
  if (!problem.ok()) return problem;
  return outcome::of(status::unreachable, "the cluster did not answer in time");
}

outcome cluster_deployment::ask_at(cluster_slot& slot, const protocol::command& command,
                                   time_ns deadline) {
  outcome unanswered;  // after an unsuccessful attempt
  for (bool with_text = false;;) {
    auto* const server = routes_.await_server(slot, deadline);
    if (server == nullptr) return why_unattached(slot, unanswered);
    auto reply = command_request::ask_once(server->connection(), command, with_text, deadline);
    with_text = reply.is_script_missing;
    if (with_text) continue;
    if (const auto moved = cluster::read_moved(reply.result.server_text, server->where())) {
      routes_.on_moved(slot, *server, moved->target);
      continue;
    }
    const bool is_migrating = is_moving(reply.result, command);
    const bool is_over = !reply.is_repeatable && !is_migrating;
    if (is_over || boot_now() >= deadline) return reply.result;
    if (!is_migrating && reply.result.code == status::refused) routes_.on_unserved(slot, *server);
    unanswered = std::move(reply.result);
    routes_.await_change(deadline);
  }
}

std::vector<outcome> cluster_deployment::results_of(const std::vector<cluster_server*>& all,
                                                    const step& call) {
  std::vector<outcome> results(all.size());
  net::at_once(all.size(), [&](std::size_t i) {
    try {
      results[i] = call(*all[i]);
    } catch (const std::bad_alloc&) {
      results[i] = outcome::of(status::no_memory);
    }
  });
  return results;
}

outcome cluster_deployment::each(const std::vector<cluster_server*>& all, const step& call) {
  auto results = results_of(all, call);
  const auto bad =
      std::find_if(results.begin(), results.end(), [](const auto& result) { return !result.ok(); });
  if (bad == results.end()) return {};
  return of_server(*all[static_cast<std::size_t>(bad - results.begin())], std::move(*bad));
}

outcome cluster_deployment::each_master(time_ns deadline, const step& call) {
  if (auto known = routes_.await_known(deadline); !known.ok()) return known;
  return each(routes_.masters(), [&](cluster_server& server) {
    routes_.connect_to(server);
    return call(server);
  });
}

outcome cluster_deployment::each_present(time_ns deadline, protocol::missing_servers& missing,
                                         const step& call) {
  if (auto known = routes_.await_known(deadline); !known.ok()) return known;
  auto servers = routes_.masters();
  servers.erase(std::remove_if(servers.begin(), servers.end(),
                               [&](auto* server) { return missing.has(server->where().text()); }),
                servers.end());
  auto results = results_of(servers, [&](cluster_server& server) {
    routes_.connect_to(server);
    return call(server);
  });
  outcome bad;
  bool has_answered = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    has_answered = has_answered || results[i].ok();
    if (results[i].ok()) continue;
    missing.add(servers[i]->where().text(), results[i]);
    if (bad.ok()) bad = of_server(*servers[i], std::move(results[i]));
  }
  return has_answered ? outcome() : bad;
}

// ---- health check and login ------------------------------------------------------------------

outcome cluster_deployment::check_health(protocol::health& target, time_ns deadline) {
  std::vector<protocol::health> all(routes_.servers().size());
  protocol::missing_servers missing;
  auto total = each_present(deadline, missing, [&](cluster_server& server) {
    const auto number = static_cast<std::size_t>(server.number());
    if (number >= all.size()) return outcome();  // added since the start of the check
    auto& found = all[number];
    auto result =
        command_request::ask(server.connection(), protocol::ping(), deadline);  // waits to connect
    if (result.ok()) result = server.entry().check_health(found, deadline);
    if (!result.ok()) protocol::judge_unreachable(result, server.where().text(), false, found);
    return result;
  });
  for (const auto& found : all) {
    target.findings.insert(target.findings.end(), found.findings.begin(), found.findings.end());
  }
  return total;
}

std::shared_ptr<const protocol::health> cluster_deployment::last_health() const {
  std::shared_ptr<protocol::health> found;
  for (auto* const server : routes_.masters()) {
    const auto part = server->entry().last();
    if (!part) continue;
    if (!found) found = std::make_shared<protocol::health>();
    found->findings.insert(found->findings.end(), part->findings.begin(), part->findings.end());
  }
  return found;
}

void cluster_deployment::add_statistics(statistics::snapshot& target) const {
  for (const auto* const server : routes_.servers()) {
    server->statistics().add_to(target, server->where().text());
  }
}

outcome cluster_deployment::set_credentials(redis::login offered, time_ns deadline) {
  if (has_password_file_) return refuse_login_beside_file();
  const auto known = routes_.servers();
  std::vector<cluster_server*> connected;
  std::copy_if(known.begin(), known.end(), std::back_inserter(connected),
               [](cluster_server* server) { return server->is_up(); });
  auto total = each(connected, [&](cluster_server& server) {
    return server.change_credentials(offered, deadline);
  });
  if (!total.ok()) return total;
  // Servers that are not connected get the login only after the connected ones have accepted it.
  routes_.log_in_with(offered);
  for (auto* const server : routes_.servers()) {
    if (std::find(connected.begin(), connected.end(), server) == connected.end()) {
      server->keep_credentials(offered);
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<deployment> make_cluster(const redis::endpoint_url& each,
                                         const net::transport_factory& make_transport,
                                         net::reactor& loop, const settings& terms,
                                         std::string_view client_id, listener& listener) {
  return std::make_unique<cluster_deployment>(each, make_transport, loop, terms, client_id,
                                              listener);
}

}  // namespace mortise::deployment
