// Five servers of a quorum. A fault strikes one or two of them at a time, which five servers bear.
#include <unistd.h>

#include "evidence/deployment/listed_servers.hpp"

namespace mortise::evidence {

namespace {

using testing::test_server;

constexpr std::size_t server_count = 5;
constexpr std::size_t quarantine_ms = 2'000;

class quorum_slice final : public listed_servers {
 public:
  explicit quorum_slice(const slice_settings& chosen)
      : listed_servers(chosen, server_count, {"--save", "3600 1000000"}) {
    const server_choice choice = [this]() -> test_server& { return random_server(); };
    add_common(choice);
    add_clocks(choice);
    add_network();
    add(fault::part::server, "two servers stop", [this] { return stop_two(); });
    add(fault::part::server, "server is killed, loses its data", [this] {
      restart(random_server(), false);
      return true;
    });
    add(fault::part::server, "server is killed, has an old snapshot", [this] {
      auto& server = random_server();
      server.command({"SAVE"});
      rest_ms(100, 1'000);
      restart(server, true);
      return true;
    });
    add(fault::part::server, "two servers stop, a third loses its data",
        [this] { return forget_one_of_three(); });
  }

  std::vector<entrance> entrances() override { return {{url(false), ""}, {url(true), ""}}; }
  bool is_exclusive() const override { return true; }
  bool has_semaphores() const override { return false; }

 private:
  std::string url(bool is_network) const {
    std::string text = "redlock:";
    for (std::size_t i = 0; i < server_count; ++i) {
      text += (i == 0 ? "" : ",") + (is_network ? networks[i]->url() : servers[i]->url()) +
              (i == 0 ? "?quarantine=2s&lease=500ms&command_timeout=1sOPTIONS" : "");
    }
    return text;
  }
  // The next fault comes after the quarantine.
  void restart(test_server& server, bool has_snapshot) {
    server.kill();
    const auto path = server.socket_path();
    if (!has_snapshot) unlink((path.substr(0, path.rfind('/')) + "/dump.rdb").c_str());
    server.start();
    rest_ms(quarantine_ms + 1'000, quarantine_ms + 1'500);
  }
  bool stop_two() {
    const auto first = random_below(server_count);
    const auto second = (first + 1 + random_below(server_count - 1)) % server_count;
    servers.at(first)->pause();
    servers.at(second)->pause();
    rest_ms(100, 1'000);
    servers.at(first)->resume();
    servers.at(second)->resume();
    return true;
  }
  // A client that is granted the lock meanwhile has three votes. One of these is forgotten when the
  // other two servers are back. Without its quarantine they would be a quorum for the next.
  bool forget_one_of_three() {
    const auto first = random_below(server_count);
    auto& one = *servers.at(first);
    auto& other = *servers.at((first + 1) % server_count);
    one.pause();
    other.pause();
    rest_ms(100, 400);
    auto& third = *servers.at((first + 2) % server_count);
    third.kill();
    third.start();
    one.resume();
    other.resume();
    rest_ms(quarantine_ms + 1'000, quarantine_ms + 1'500);
    return true;
  }
};

}  // namespace

std::unique_ptr<slice_deployment> open_quorum(const slice_settings& chosen) {
  if (chosen.kind != "redlock") return nullptr;
  return std::make_unique<quorum_slice>(chosen);
}

}  // namespace mortise::evidence
