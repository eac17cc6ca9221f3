// Six hosts of servers and two of recorders, in network namespaces that can be cut off from each
// other. Where this kernel allows none, all are on the loopback, and no such fault is injected.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evidence/deployment/slice_deployment.hpp"
#include "support/partition/breaking_network.hpp"

namespace mortise::evidence {

using host_list = std::vector<std::size_t>;

class networked_hosts : public slice_deployment {
 public:
  static constexpr std::size_t server_hosts = 6;
  static constexpr std::size_t near_host = 6;
  static constexpr std::size_t far_host = 7;
  static constexpr std::size_t all_hosts = 8;

  explicit networked_hosts(const slice_settings& chosen);
  std::vector<entrance> entrances() override;

 protected:
  // Of the clients on the near host.
  [[nodiscard]] virtual std::string url() = 0;
  [[nodiscard]] virtual std::size_t random_master() = 0;
  // Called with the network whole. False if that takes too long.
  [[nodiscard]] virtual bool is_whole_in_time() = 0;
  // Clients that are cut off, one way or both.
  void add_cut_clients();
  // Hosts that are cut off from all others for three seconds.
  void add_cut(std::string name, std::function<host_list()> some,
               std::function<host_list(const host_list&)> others);
  [[nodiscard]] static host_list hosts_but(const host_list& these, std::size_t count = all_hosts);

  const std::unique_ptr<testing::breaking_network> network;

 private:
  bool lose_in_bursts();
};

}  // namespace mortise::evidence
