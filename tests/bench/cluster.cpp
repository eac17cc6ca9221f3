// A cluster whose slots move to another server, with 100 waiters for 20 names of it. It measures
// the time from the first accepted write there to the first grant, whether the waiters keep their
// places and get no error, and how often they ask for the topology. It also compares the cost of a
// pair at a server of a cluster and at a single server.
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "async_loop.hpp"
#include "crowd.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "experiment.hpp"
#include "reference.hpp"
#include "support/test_cluster.hpp"

namespace mortise::bench {

namespace {

using testing::test_cluster;

constexpr const char* terms = "?lease=60s&command_timeout=30s";
constexpr std::int64_t poll_ns = 200'000;

enum class fault { failover, kill, hang, reshard, migrate };

// Names of the server, or, where a slot is to move key by key, all of one slot.
std::vector<std::string> names(test_cluster& set, std::size_t owner, bool are_of_one_slot) {
  std::vector<std::string> all;
  for (int i = 0; all.size() < crowd::name_count; ++i) {
    const auto tag = are_of_one_slot ? "{cluster}-" : "cluster-";
    const auto name = tag + std::to_string(i);
    if (set.owner_of("{mortise:" + name + "}") == owner) all.push_back(name);
  }
  return all;
}

// How often each server was asked which server has which slots, from its start or from `forget`.
double topology_queries(testing::test_server& server) {
  const auto stats = server.command({"INFO", "commandstats"});
  const auto at = stats.find("cmdstat_cluster|slots:calls=");
  return at == std::string::npos ? 0 : std::stod(stats.substr(at + 28));
}

// Notices when another server answers for a key, by asking as any client would.
class watch {
 public:
  watch(test_cluster& set, std::size_t before) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i != before) others_.push_back(set.at(i).connect());
    }
  }
  [[nodiscard]] std::int64_t await(const std::string& key) {
    for (;; sleep_ns(poll_ns)) {
      for (const auto& one : others_) {
        const auto reply = one->command({"EXISTS", key});
        if (reply == "0" || reply == "1") return now_ns();
      }
    }
  }

 private:
  std::vector<std::unique_ptr<testing::raw_client>> others_;
};

struct figures {
  std::vector<double> grant_ms;
  crowd::fate fate;
  double most_topologies = 0;  // of one client, asked of one server in one fault
};

void befall(test_cluster& set, fault what, std::size_t master, const std::string& key,
            std::size_t target) {
  switch (what) {
    case fault::failover:
      set.fail_over(master);
      return;
    case fault::kill:
      set.kill(master);
      return;
    case fault::hang:
      set.pause(master);
      return;
    case fault::reshard:
      set.move_slot(cluster::slot_of(key), master, target);
      return;
    case fault::migrate:
      set.migrate_slots(0, cluster::slot_count / 3 - 1, master, target);
      return;
  }
}

// While the old owner still serves for a moment, a release would be granted there. So the holder of
// the names releases them once the slots have moved, or while they are unavailable.
void measure(test_cluster& set, fault what, figures& into) {
  set.heal();
  const auto master = set.owner_of("{mortise:{cluster}-0}");
  const auto target = set.other_master(master);
  const auto mine = names(set, master, what == fault::reshard);
  const auto key = "{mortise:" + mine.front() + "}";
  crowd all(set.url() + terms, mine,
            [&](const auto& of, const auto& command) { return set.command_at(of, command); });
  static_cast<void>(set.command_at(key, {"WAIT", "1", "5000"}));
  for (std::size_t i = 0; i < set.size(); ++i) set.at(i).command({"CONFIG", "RESETSTAT"});
  watch others(set, master);
  const bool is_lost = what == fault::kill || what == fault::hang;
  std::thread harm;
  if (is_lost) {
    befall(set, what, master, key, target);
    all.release_all();
  } else {
    harm = std::thread([&] { befall(set, what, master, key, target); });
  }
  const auto since = others.await(key);
  if (!is_lost) all.release_all();
  const auto granted = all.await_grant();
  into.grant_ms.push_back(static_cast<double>(granted - since) / 1e6);
  if (harm.joinable()) harm.join();
  const auto came = all.drain();
  into.fate.errors += came.errors;
  into.fate.out_of_place += came.out_of_place;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (is_lost && i == master) continue;
    const auto count = topology_queries(set.at(i)) / static_cast<double>(all.client_count());
    into.most_topologies = std::max(into.most_topologies, count);
  }
}

double cpu_of_pair(reference& server, async_loop& loop) {
  const auto before = server_usage::of(server);
  const auto pairs = loop.run(0.5);
  return (server_usage::of(server) - before).cpu_us / pairs;
}

// The server's own work in a cluster: the same with commands that are no lock's.
double cpu_of_plain(reference& server, const std::vector<plain_lock>& keys) {
  constexpr int rounds = 400;
  const auto before = server_usage::of(server);
  for (int i = 0; i < rounds; ++i) server.pipelined_pairs(keys);
  return (server_usage::of(server) - before).cpu_us / rounds / static_cast<double>(keys.size());
}

void measure_cpu(const settings& chosen, table& results) {
  constexpr int depth = 64;
  testing::test_server single({.arguments = {"--port", "free"}});
  test_cluster set({.masters = 1, .replicas_each = 0});
  reference at_single(single.url());
  reference at_cluster(set.at(0).url());
  async_loop plain(single.tcp_url(), depth);
  async_loop loop(set.url(), depth);
  static_cast<void>(cpu_of_pair(at_cluster, loop));
  std::vector<double> ratios;
  std::vector<double> costs;
  std::vector<double> plain_ratios;
  const auto keys = plain_locks(depth);
  auto before = cpu_of_pair(at_single, plain);
  for (int i = 0; i < chosen.pick(20, 6); ++i) {
    costs.push_back(cpu_of_pair(at_cluster, loop));
    const auto after = cpu_of_pair(at_single, plain);
    ratios.push_back(costs.back() * 2 / (before + after));
    plain_ratios.push_back(cpu_of_plain(at_cluster, keys) / cpu_of_plain(at_single, keys));
    before = after;
  }
  results.measured("cluster.cpu", median(ratios));
  results.raw(
      "%.2f us a pair; rounds' ratios %.2f to %.2f (10th to 90th); of plain SET NX and "
      "compare-and-delete %.2f",
      median(costs), percentile(ratios, 0.1), percentile(ratios, 0.9), median(plain_ratios));
}

void run(const settings& chosen, table& results) {
  test_cluster set;
  figures total;
  const auto report = [&](const char* id, fault what) {
    figures of;
    for (int i = 0; i < chosen.pick(7, 2); ++i) measure(set, what, of);
    // The longest, because a stall is what it is at its worst.
    results.measured(id, percentile(of.grant_ms, 1.0));
    results.raw(
        "%zu times: median %.1f ms; asked of a server by a client %.1f times, %d errors, "
        "%d out of place",
        of.grant_ms.size(), median(of.grant_ms), of.most_topologies, of.fate.errors,
        of.fate.out_of_place);
    total.fate.errors += of.fate.errors;
    total.fate.out_of_place += of.fate.out_of_place;
    total.most_topologies = std::max(total.most_topologies, of.most_topologies);
  };
  report("cluster.failover", fault::failover);
  report("cluster.kill", fault::kill);
  report("cluster.hang", fault::hang);
  report("cluster.reshard", fault::reshard);
  if (set.has_migration()) report("cluster.migrate", fault::migrate);
  results.measured("cluster.places", total.fate.out_of_place);
  results.measured("cluster.errors", total.fate.errors);
  results.measured("cluster.topologies", total.most_topologies);
  measure_cpu(chosen, results);
}

}  // namespace

const experiment& cluster() {
  static const experiment instance{
      "cluster",
      {{"cluster.failover",
        "CLUSTER FAILOVER, 100 wait: longest until the first grant at who takes writes",
        aim::at_most, 100, "ms"},
       {"cluster.kill", "  the same, master killed", aim::at_most, 100, "ms"},
       {"cluster.hang", "  the same, master stopped", aim::at_most, 100, "ms"},
       {"cluster.reshard", "  the same, slot moved key by key", aim::at_most, 100, "ms"},
       {"cluster.migrate", "  the same, slots migrated at once (Valkey 9)", aim::at_most, 100,
        "ms"},
       {"cluster.places", "  how many lost their places in all these", aim::at_most, 0, ""},
       {"cluster.errors", "  how many were told an error", aim::at_most, 0, ""},
       {"cluster.topologies", "  how often one client asked one server for the slots", aim::at_most,
        2, ""},
       {"cluster.cpu", "server CPU of a pair in a cluster / on a single server", aim::at_most, 1.1,
        "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
