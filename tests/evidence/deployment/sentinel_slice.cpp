// A master, two replicas and three Sentinels, which replace the master when it dies, hangs or is
// cut off.
#include "evidence/deployment/networked_hosts.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::evidence {

namespace {

using testing::sentinel_set;
using testing::test_server;

constexpr std::size_t servers = 3;

class sentinel_slice final : public networked_hosts {
 public:
  sentinel_slice(const slice_settings& chosen, std::string acks)
      : networked_hosts(chosen), acks_(std::move(acks)), set_({.network = network.get()}) {
    // So that no client waits for the fate of a replica that is cut off.
    for (std::size_t i = 0; i < servers; ++i) {
      set_.server(i).command({"CONFIG", "SET", "repl-timeout", "2"});
    }
    add_common([this]() -> test_server& { return set_.master(); });
    add_cut_clients();
    add_losses_of_master();
    add_losses_of_others();
    add_partitions();
  }

  bool is_exclusive() const override { return acks_ == "all"; }

 protected:
  std::string url() override {
    return set_.url("lease=500ms&command_timeout=3sOPTIONS&acks=" + acks_);
  }
  std::size_t random_master() override { return set_.master_number(); }
  bool is_whole_in_time() override {
    for (std::size_t i = 0; i < servers; ++i) set_.remember_sentinel(i);
    return set_.is_whole_in_time();
  }
  std::vector<test_server*> keepers() override { return {&set_.master()}; }

 private:
  void add_one(const char* name, std::function<void()> inject) {
    add(fault::part::server, name, [this, inject] {
      inject();
      return is_whole_in_time();
    });
  }
  void add_losses_of_master() {
    add_one("failover by command", [this] { set_.fail_over(); });
    add_one("master is killed, and replaced", [this] {
      const auto before = set_.master_number();
      set_.server(before).kill();
      set_.await_master_other_than(before);
      set_.server(before).start();
    });
    add_one("master hangs, and is replaced", [this] {
      const auto before = set_.master_number();
      set_.server(before).pause();
      set_.await_master_other_than(before);
      set_.server(before).resume();
    });
  }
  void add_losses_of_others() {
    add_one("replica is killed, loses its data", [this] {
      auto& replica = random_replica();
      replica.kill();
      rest_ms(100, 3'000);
      replica.start();
    });
    add_one("replica hangs", [this] {
      auto& replica = random_replica();
      replica.pause();
      rest_ms(100, 3'000);
      replica.resume();
    });
    add_one("Sentinel hangs", [this] {
      auto& sentinel = set_.sentinel(random_below(servers));
      sentinel.pause();
      rest_ms(100, 3'000);
      sentinel.resume();
    });
    add_one("replication ends", [this] {
      set_.master().command({"CLIENT", "KILL", "TYPE", "replica", "SKIPME", "yes"});
    });
  }
  test_server& random_replica() {
    return set_.server((set_.master_number() + 1 + random_below(servers - 1)) % servers);
  }
  // A Sentinel is on the host after the servers, with the master of its number.
  void add_partitions() {
    add_cut(
        "master is cut off with clients",
        [this] {
          const auto master = set_.master_number();
          set_.forget_sentinel(master);
          return host_list{master, servers + master, near_host};
        },
        [](const auto& side) { return hosts_but(side); });
    add_cut(
        "master is cut off from its peers",
        [this] {
          const auto master = set_.master_number();
          set_.forget_sentinel(master);
          return host_list{master};
        },
        [](const auto& side) { return hosts_but(side, server_hosts); });
  }

  const std::string acks_;
  sentinel_set set_;
};

}  // namespace

std::unique_ptr<slice_deployment> open_sentinels(const slice_settings& chosen) {
  if (chosen.kind == "sentinel") return std::make_unique<sentinel_slice>(chosen, "0");
  if (chosen.kind == "sentinel-acks-1") return std::make_unique<sentinel_slice>(chosen, "1");
  if (chosen.kind == "sentinel-acks-all") return std::make_unique<sentinel_slice>(chosen, "all");
  return nullptr;
}

}  // namespace mortise::evidence
