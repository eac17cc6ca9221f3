#include "evidence/deployment/listed_servers.hpp"

#include <unistd.h>

#include "support/settable_clock.hpp"

namespace mortise::evidence {

using testing::tcp_proxy;
using testing::test_server;

listed_servers::listed_servers(const slice_settings& chosen, std::size_t count,
                               const std::vector<std::string>& arguments)
    : slice_deployment(chosen) {
  for (std::size_t i = 0; i < count; ++i) {
    testing::server_options options{.arguments = arguments};
    options.arguments.emplace_back(testing::settable_clock);
    servers.push_back(std::make_unique<test_server>(options));
    networks.push_back(std::make_unique<tcp_proxy>(servers.back()->socket_path()));
  }
}

std::vector<test_server*> listed_servers::keepers() {
  std::vector<test_server*> all;
  for (const auto& one : servers) all.push_back(one.get());
  return all;
}

void listed_servers::add_network(const char* name, std::vector<std::string> begin,
                                 std::vector<std::string> end) {
  add(fault::part::network, name, [this, begin, end] {
    auto& network = *networks.at(random_below(networks.size()));
    for (const auto& command : begin) network.control(command);
    rest_ms(100, 1'200);
    for (const auto& command : end) network.control(command);
    return true;
  });
}

void listed_servers::add_network() {
  add_network("network is cut", {"cut"}, {});
  add_network("network refuses", {"refuse"}, {"accept"});
  add_network("network loses all", {"freeze"}, {"thaw"});
  add_network("replies are late", {"freeze answers"}, {"thaw"});
  add_network("replies are lost", {"freeze answers"}, {"cut", "thaw"});
  add_network("network is slow", {"delay 60"}, {"delay 0"});
  add_network("connections are forgotten", {"forget"}, {});
}

namespace {

// One server, or shards, which are servers of their own.
class servers_apart : public listed_servers {
 public:
  servers_apart(const slice_settings& chosen, std::size_t count, bool is_outside)
      // The server keeps its locks over a restart, so it keeps its promise.
      : listed_servers(chosen, count, {"--appendonly", "yes", "--appendfsync", "always"}),
        is_outside_(is_outside) {
    const server_choice choice = [this]() -> test_server& { return random_server(); };
    add_common(choice);
    add_clocks(choice);
    add_network();
    add(fault::part::server, "server is killed, keeps its data", [this] {
      random_server().restart();
      return true;
    });
    if (is_outside) add_outside();
  }

  std::vector<entrance> entrances() override { return {{url(false), ""}, {url(true), ""}}; }
  bool is_exclusive() const override { return !is_outside_; }

 private:
  std::string url(bool is_network) const {
    const std::string query = "lease=500ms&command_timeout=1sOPTIONS";
    const auto place = [&](std::size_t i) {
      return is_network ? networks[i]->url() : servers[i]->url();
    };
    if (servers.size() == 1) return place(0) + "?" + query;
    std::string text = "shard:";
    for (std::size_t i = 0; i < servers.size(); ++i) {
      text += (i == 0 ? "" : ",") + place(i) + "?shard=s" + std::to_string(i) +
              (i == 0 ? "&" + query : "");
    }
    return text;
  }

  // docs/promises.md: a restart without data, FLUSHALL, and a clock that steps ahead.
  void add_outside() {
    add(fault::part::server, "server is killed, loses its data", [this] {
      auto& server = random_server();
      server.command({"FLUSHALL"});
      server.restart();
      return true;
    });
    add(fault::part::server, "keys are deleted",
        [this] { return random_server().command({"FLUSHALL"}) == "OK"; });
    add(fault::part::server, "clock steps ahead", [this] {
      auto& server = random_server();
      const auto before = server.command({"TIME"});
      server.set_clock(static_cast<std::int64_t>(1 + random_below(10)));
      return server.command({"TIME"}) > before;
    });
  }

  const bool is_outside_;
};

}  // namespace

std::unique_ptr<slice_deployment> open_servers(const slice_settings& chosen) {
  constexpr std::size_t shard_count = 3;
  if (chosen.kind == "one-server") return std::make_unique<servers_apart>(chosen, 1, false);
  if (chosen.kind == "one-server-outside") return std::make_unique<servers_apart>(chosen, 1, true);
  if (chosen.kind == "shards") return std::make_unique<servers_apart>(chosen, shard_count, false);
  return nullptr;
}

}  // namespace mortise::evidence
