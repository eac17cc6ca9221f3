// Servers that a URL lists, and a proxy before each, which some of the recorders use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evidence/deployment/slice_deployment.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::evidence {

class listed_servers : public slice_deployment {
 public:
  listed_servers(const slice_settings& chosen, std::size_t count,
                 const std::vector<std::string>& arguments);

 protected:
  [[nodiscard]] testing::test_server& random_server() {
    return *servers.at(random_below(servers.size()));
  }
  [[nodiscard]] std::vector<testing::test_server*> keepers() override;
  // The faults of one proxy.
  void add_network();

  std::vector<std::unique_ptr<testing::test_server>> servers;
  std::vector<std::unique_ptr<testing::tcp_proxy>> networks;

 private:
  void add_network(const char* name, std::vector<std::string> begin, std::vector<std::string> end);
};

}  // namespace mortise::evidence
