// A server that dies behind a name: the time from the first accepted write at its successor to the
// end of the first call that was waiting.
#include <chrono>
#include <future>

#include "experiment.hpp"
#include "mortise/mortise.h"
#include "support/changing_name.hpp"

namespace mortise::bench {

namespace {

constexpr const char* addresses[] = {"127.0.0.1", "127.0.0.2"};
constexpr std::int64_t patience_ms = 60'000;
// Until the tries have become as seldom as they do in the first minute.
constexpr std::int64_t outage_ns = ns_per_second;

std::unique_ptr<testing::test_server> start(int which, const std::string& port) {
  return std::make_unique<testing::test_server>(
      testing::server_options{.arguments = {"--bind", addresses[which], "--port", port,
                                            "--repl-diskless-sync-delay", "0"}});
}

void replicate(testing::test_server& replica, int master, const std::string& port) {
  require(replica.command({"REPLICAOF", addresses[master], port}) == "OK", "no replica");
  while (replica.command({"INFO", "replication"}).find("master_link_status:up") ==
         std::string::npos) {
    sleep_ns(ns_per_second / 1000);
  }
}

// The client waits for a lock while the name leads to a dead server, then to its replica.
double first_grant_ms(mortise_lock* lock, testing::changing_name& name,
                      testing::test_server& master, testing::test_server& replica, int address) {
  require(mortise_lock_acquire(lock, patience_ms, nullptr) == MORTISE_OK, "not acquired");
  require(mortise_lock_unlock(lock, nullptr) == MORTISE_OK, "not unlocked");
  master.kill();
  auto granted = std::async(std::launch::async, [&] {
    require(mortise_lock_acquire(lock, patience_ms, nullptr) == MORTISE_OK, "not acquired");
    return now_ns();
  });
  sleep_ns(outage_ns);
  name.lead_to({addresses[address]});
  require(replica.command({"REPLICAOF", "NO", "ONE"}) == "OK", "not promoted");
  const auto promoted = now_ns();
  const auto time = granted.get() - promoted;
  require(mortise_lock_unlock(lock, nullptr) == MORTISE_OK, "not unlocked");
  return static_cast<double>(time) / 1e6;
}

void run(const settings& chosen, table& results) {
  testing::changing_name name;
  testing::test_server probe({.arguments = {"--port", "free"}});
  const auto port = std::to_string(probe.port());
  probe.stop();
  std::unique_ptr<testing::test_server> servers[] = {start(0, port), start(1, port)};
  name.lead_to({addresses[0]});
  const auto url = "redis://" + name.text() + ":" + port;
  mortise_client* const client = mortise_client_new(url.data(), url.size(), nullptr, nullptr);
  require(client != nullptr, "the server does not answer");
  mortise_lock* const lock = mortise_lock_new(client, "failover", 8, nullptr, nullptr);
  std::vector<double> times;
  for (int i = 0; i < chosen.pick(12, 3); ++i) {
    const int from = i % 2;
    const int to = 1 - from;
    replicate(*servers[to], from, port);
    times.push_back(first_grant_ms(lock, name, *servers[from], *servers[to], to));
    servers[from]->start();
  }
  mortise_lock_free(lock);
  mortise_client_free(client);
  // The longest, because a stall is what it is at its worst.
  results.measured("failover.promotion", percentile(times, 1.0));
  results.raw("%zu promotions: shortest %.1f ms, median %.1f ms", times.size(),
              percentile(times, 0.0), median(times));
}

}  // namespace

const experiment& failover() {
  static const experiment instance{
      "failover",
      {{"failover.promotion", "promotion behind a name, longest until the first grant",
        aim::at_most, 100, "ms"}},
      run};
  return instance;
}

}  // namespace mortise::bench
