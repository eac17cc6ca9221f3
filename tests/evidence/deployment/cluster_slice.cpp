// A cluster of three masters with a replica each.
#include "deployment/cluster/routing/slot.hpp"
#include "evidence/deployment/networked_hosts.hpp"
#include "support/test_cluster.hpp"

namespace mortise::evidence {

namespace {

using testing::test_cluster;
using testing::test_server;

// Without failovers of its own, the cluster loses nothing. With them, only acknowledged holds are
// kept, and a slot that moves is not acknowledged at its next master (docs/promises.md).
struct cluster_rules {
  const char* kind;
  const char* acks;
  bool has_failovers;
  bool has_moves;
  bool is_exclusive;
};

constexpr cluster_rules all_rules[] = {
    {"cluster-without-failovers", "0", false, true, true},
    {"cluster", "0", true, true, false},
    {"cluster-acks-1", "1", true, false, true},
    {"cluster-acks-all", "all", true, false, true},
};

class cluster_slice final : public networked_hosts {
 public:
  cluster_slice(const slice_settings& chosen, const cluster_rules& rules)
      : networked_hosts(chosen),
        rules_(rules),
        set_({.arguments = {"--cluster-replica-no-failover", rules.has_failovers ? "no" : "yes"},
              .network = network.get()}) {
    add_common([this]() -> test_server& { return set_.at(random_master()); });
    add_cut_clients();
    add_losses_of_replicas();
    add_one("failover by command", [this] { set_.fail_over(random_master()); });
    if (rules.has_moves) add_one("slot moves", [this] { move_slot(); });
    if (rules.has_failovers) add_failovers();
  }

  bool is_exclusive() const override { return rules_.is_exclusive; }

 protected:
  std::string url() override {
    return set_.url() + "?lease=500ms&command_timeout=3sOPTIONS&acks=" + rules_.acks;
  }
  std::size_t random_master() override { return set_.owner_of(key_of(random_lock())); }
  bool is_whole_in_time() override {
    set_.heal();
    return true;
  }
  std::vector<test_server*> keepers() override {
    std::vector<test_server*> masters;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      if (set_.at(i).command({"ROLE"}).starts_with("master")) masters.push_back(&set_.at(i));
    }
    return masters;
  }

 private:
  void add_one(const char* name, std::function<void()> inject) {
    add(fault::part::server, name, [this, inject] {
      inject();
      return is_whole_in_time();
    });
  }
  void move_slot() {
    const auto key = key_of(random_lock());
    const auto from = set_.owner_of(key);
    set_.move_slot(cluster::slot_of(key), from, set_.other_master(from));
  }
  void add_losses_of_replicas() {
    add_one("replica is killed, loses its data", [this] {
      set_.kill(set_.replica_of(random_master()));
      rest_ms(100, 3'000);
    });
    add_one("replica hangs", [this] {
      set_.pause(set_.replica_of(random_master()));
      rest_ms(100, 3'000);
    });
    add_one("replication ends", [this] {
      set_.at(random_master()).command({"CLIENT", "KILL", "TYPE", "replica", "SKIPME", "yes"});
    });
  }
  void add_failovers() {
    for (const bool is_kill : {true, false}) {
      add_one(is_kill ? "master is killed, and replaced" : "master hangs, and is replaced",
              [this, is_kill] {
                const auto key = key_of(random_lock());
                const auto master = set_.owner_of(key);
                is_kill ? set_.kill(master) : set_.pause(master);
                // Of the servers that run: the next master.
                set_.owner_of(key);
              });
    }
    add_cut(
        "master is cut off with clients",
        [this] {
          return host_list{random_master(), near_host};
        },
        [](const auto& side) { return hosts_but(side); });
    add_cut(
        "master is cut off from its peers", [this] { return host_list{random_master()}; },
        [](const auto& side) { return hosts_but(side, server_hosts); });
  }

  const cluster_rules& rules_;
  test_cluster set_;
};

}  // namespace

std::unique_ptr<slice_deployment> open_cluster(const slice_settings& chosen) {
  for (const auto& rules : all_rules) {
    if (chosen.kind == rules.kind) return std::make_unique<cluster_slice>(chosen, rules);
  }
  return nullptr;
}

}  // namespace mortise::evidence
