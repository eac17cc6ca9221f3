#include "evidence/deployment/networked_hosts.hpp"

#include <algorithm>

namespace mortise::evidence {

namespace {

using testing::breaking_network;

std::unique_ptr<breaking_network> network_of(std::size_t hosts) {
  if (breaking_network::best() == breaking_network::medium::proxies) return nullptr;
  return breaking_network::make(breaking_network::medium::namespaces, hosts);
}

}  // namespace

networked_hosts::networked_hosts(const slice_settings& chosen)
    : slice_deployment(chosen), network(network_of(all_hosts)) {}

std::vector<entrance> networked_hosts::entrances() {
  if (!network) return {{url(), ""}};
  return {{url(), network->namespace_of(near_host)}, {url(), network->namespace_of(far_host)}};
}

host_list networked_hosts::hosts_but(const host_list& these, std::size_t count) {
  host_list others;
  for (std::size_t host = 0; host < count; ++host) {
    if (std::find(these.begin(), these.end(), host) == these.end()) others.push_back(host);
  }
  return others;
}

void networked_hosts::add_cut(std::string name, std::function<host_list()> some,
                              std::function<host_list(const host_list&)> others) {
  if (!network) return;
  add(fault::part::server, std::move(name), [this, some, others] {
    const auto side = some();
    network->cut(side, others(side));
    rest_ms(500, 3'500);
    network->join();
    return is_whole_in_time();
  });
}

void networked_hosts::add_cut_clients() {
  if (!network) return;
  const auto add_one = [this](const char* name, std::function<void()> cut) {
    add(fault::part::network, name, [this, cut] {
      cut();
      rest_ms(100, 1'500);
      network->join();
      return true;
    });
  };
  add_one("clients are cut off", [this] { network->cut({near_host}, hosts_but({near_host})); });
  add_one("clients are cut off from a master",
          [this] { network->cut({near_host}, {random_master()}); });
  add_one("requests are lost", [this] { network->lose({near_host}, hosts_but({near_host})); });
  add_one("replies are lost", [this] { network->lose({random_master()}, {near_host}); });
  add(fault::part::network, "packets are lost in bursts", [this] { return lose_in_bursts(); });
}

bool networked_hosts::lose_in_bursts() {
  for (int burst = 0; burst < 8; ++burst) {
    network->lose({near_host}, hosts_but({near_host}, server_hosts));
    rest_ms(5, 60);
    network->join();
    rest_ms(5, 100);
  }
  return true;
}

}  // namespace mortise::evidence
