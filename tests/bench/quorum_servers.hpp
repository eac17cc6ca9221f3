// Five servers that give locks together, each behind a link with a known latency where one is
// given.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "delay_proxy.hpp"
#include "reference.hpp"
#include "support/server.hpp"

namespace mortise::bench {

class quorum_servers {
 public:
  static constexpr std::size_t count = 5;
  // How long a message takes to each of them, or back; 0 is without a link.
  using delays = std::array<std::int64_t, count>;

  explicit quorum_servers(const delays& one_way_ns = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      if (one_way_ns[i] == 0) continue;
      links_[i] = std::make_unique<delay_proxy>(servers_[i].url(), one_way_ns[i]);
    }
  }

  [[nodiscard]] std::string url_of(std::size_t server) const {
    return links_[server] ? links_[server]->url() : servers_[server].url();
  }
  [[nodiscard]] std::vector<std::string> urls() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(url_of(i));
    return all;
  }
  // Those of servers that were just started, which have forgotten nothing.
  [[nodiscard]] std::string url() const {
    auto text = "redlock:" + url_of(0) + "?quarantine=0";
    for (std::size_t i = 1; i < count; ++i) text += "," + url_of(i);
    return text;
  }
  testing::test_server& at(std::size_t server) { return servers_[server]; }
  // Commands that clients have sent to all of them.
  [[nodiscard]] double commands() const {
    double all = 0;
    for (const auto& server : servers_) {
      reference observer(server.url());
      all += server_usage::of(observer).commands;
    }
    return all;
  }

 private:
  std::array<testing::test_server, count> servers_;
  std::array<std::unique_ptr<delay_proxy>, count> links_;
};

// Until the client is connected to the server again.
inline void wait_for_client(testing::test_server& server) {
  const auto deadline = now_ns() + 30 * ns_per_second;
  while (server.command({"CLIENT", "LIST"}).find("name=mortise") == std::string::npos) {
    require(now_ns() < deadline, "the client does not come back");
    sleep_ns(10'000'000);
  }
}

}  // namespace mortise::bench
