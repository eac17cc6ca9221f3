// All faults at once, with five servers that grant locks by a quorum. Processes contend while they
// are killed and stopped. Servers are killed, emptied, stalled, cut off, moved to another time, or
// restarted with an old snapshot. Two servers fail at a time, which five servers bear. Then servers
// forget without a restart, and a clock steps without one. No promise covers that. The test counts
// the overlaps, and the writes that the tokens refuse. Fifteen seconds by default;
// MORTISE_CHAOS_SECONDS sets more.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "integration/redlock/quorum_fixture.hpp"
#include "support/contention.hpp"
#include "support/settable_clock.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::quorum_chaos_test {
namespace {

constexpr std::size_t server_count = 5;
// A server that restarts is back before the next one is harmed, with all that it may have
// forgotten.
constexpr std::int64_t quarantine_ms = 2'000;
constexpr std::size_t rw_locks = 1;  // of the contended ones
constexpr std::int64_t hour_s = 3'600;

class quorum_chaos : public quorum {
 protected:
  quorum_chaos() {
    start(server_count, {settable_clock, "--save", "3600 1000000"});
    for (const auto& server : servers) {
      networks.push_back(std::make_unique<tcp_proxy>(server->socket_path()));
    }
  }
  // Half of the processes reach the servers by way of networks that are cut.
  [[nodiscard]] std::vector<std::string> urls() const {
    const std::string query = "?quarantine=2s&lease=500ms&command_timeout=1s";
    std::string direct = "redlock:";
    std::string cut = direct;
    for (std::size_t i = 0; i < server_count; ++i) {
      direct += (i == 0 ? "" : ",") + servers[i]->url() + (i == 0 ? query : "");
      cut += (i == 0 ? "" : ",") + networks[i]->url() + (i == 0 ? query : "");
    }
    return {direct, cut};
  }
  void pause_a_little() {
    const timespec pause{0, static_cast<long>(40'000'000 + chance() % 60'000'000)};
    nanosleep(&pause, nullptr);
  }
  void harm_a_process(contenders& all) {
    if (chance() % 3 == 0) {
      all.kill_one();
    } else {
      all.stop_one();
    }
  }
  // One fault of a server for a while, without another.
  struct trouble {
    enum class kind { none, stalled, restarted, frozen, deaf, refused, in_another_time };
    kind what = kind::none;
    std::size_t of = 0;
    time_ns until = 0;
  };
  void begin(trouble& one) {
    one.of = chance() % server_count;
    const auto& other = &one == &troubles[0] ? troubles[1] : troubles[0];
    if (other.what != trouble::kind::none && other.of == one.of) return;
    one.what =
        std::array{trouble::kind::stalled, trouble::kind::restarted, trouble::kind::frozen,
                   trouble::kind::deaf,    trouble::kind::refused,   trouble::kind::in_another_time}
            .at(chance() % 6);
    one.until = boot_now() + static_cast<time_ns>(200 + chance() % 800) * ns_per_ms;
    ++faults;
    auto& network = *networks.at(one.of);
    switch (one.what) {
      case trouble::kind::none:
        break;
      case trouble::kind::stalled:
        servers.at(one.of)->pause();
        break;
      case trouble::kind::restarted:
        restart(*servers.at(one.of));
        one.until = boot_now() + (quarantine_ms + 2 * second_ms) * ns_per_ms;
        break;
      case trouble::kind::frozen:
        network.control("freeze");
        break;
      case trouble::kind::deaf:
        network.control("freeze answers");
        break;
      case trouble::kind::refused:
        network.control("refuse");
        break;
      case trouble::kind::in_another_time:
        step_clock(*servers.at(one.of));
        break;
    }
  }
  // With nothing of before, or with what its latest snapshot has.
  void restart(test_server& server) {
    if (chance() % 3 == 0) return restart_empty(server);
    server.restart();
  }
  static void restart_empty(test_server& server) {
    server.kill();
    const auto path = server.socket_path();
    unlink((path.substr(0, path.rfind('/')) + "/dump.rdb").c_str());
    server.start();
  }
  void save_a_snapshot() {
    auto& server = *servers.at(chance() % server_count);
    const bool is_stalled = std::any_of(troubles.begin(), troubles.end(), [&](const auto& one) {
      return one.what == trouble::kind::stalled && servers.at(one.of).get() == &server;
    });
    if (!is_stalled) server.command({"SAVE"});
  }
  // A step ahead ends votes, so a server that should look restarted is restarted. A step back ends
  // none.
  void step_clock(test_server& server) {
    const auto ahead_s = std::array{hour_s / 2, -hour_s / 2, -3 * hour_s}.at(chance() % 3);
    server.set_clock(ahead_s);
    if (ahead_s > 0) restart_empty(server);
  }
  void end(trouble& one) {
    if (one.what == trouble::kind::in_another_time) return set_right(one);
    auto& network = *networks.at(one.of);
    if (one.what == trouble::kind::stalled) servers.at(one.of)->resume();
    if (one.what == trouble::kind::frozen || one.what == trouble::kind::deaf)
      network.control("thaw");
    if (one.what == trouble::kind::refused) network.control("accept");
    one.what = trouble::kind::none;
  }
  void set_right(trouble& one) {
    servers.at(one.of)->set_clock(0);
    restart_empty(*servers.at(one.of));
    one.what = trouble::kind::restarted;
    one.until = boot_now() + (quarantine_ms + 2 * second_ms) * ns_per_ms;
  }
  // A client that is granted the lock meanwhile has three votes. One of these is forgotten when the
  // other two servers are back. Without its quarantine they would be a quorum for the next.
  void forget_one_of_three() {
    const auto first = chance() % server_count;
    const auto second = (first + 1) % server_count;
    const auto third = (first + 2) % server_count;
    servers.at(first)->pause();
    servers.at(second)->pause();
    const timespec meanwhile{0, static_cast<long>(100'000'000 + chance() % 300'000'000)};
    nanosleep(&meanwhile, nullptr);
    restart(*servers.at(third));
    servers.at(first)->resume();
    servers.at(second)->resume();
    const auto until = boot_now() + (quarantine_ms + 2 * second_ms) * ns_per_ms;
    troubles[0] = {trouble::kind::restarted, third, until};
    faults += 3;
  }
  void run_faults() {
    if (chance() % 8 == 0) save_a_snapshot();
    const bool is_quiet =
        troubles[0].what == trouble::kind::none && troubles[1].what == trouble::kind::none;
    if (is_quiet && chance() % 3 == 0) return forget_one_of_three();
    for (auto& one : troubles) {
      if (one.what == trouble::kind::none && chance() % 4 == 0) {
        begin(one);
      } else if (boot_now() >= one.until) {
        end(one);
      }
    }
  }
  void report(const std::string& what, contenders& all, bool is_exclusive) const {
    all.report(what + ", " + std::to_string(faults) + " faults of servers and networks",
               is_exclusive);
  }

  const unsigned seed = chaos_seed();
  std::mt19937 chance{seed};
  std::vector<std::unique_ptr<tcp_proxy>> networks;
  std::array<trouble, 2> troubles;
  int faults = 0;
};

TEST_F(quorum_chaos, inside_of_what_is_promised_nobody_overlaps_and_tokens_rise) {
  contenders all(urls(), 6, seed, 5, rw_locks);
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(15))) {
    run_faults();
    harm_a_process(all);
    all.collect();
    pause_a_little();
  }
  for (auto& one : troubles) end(one);
  report("inside", all, true);
  EXPECT_GT(all.history().size(), 10U);
  EXPECT_GT(faults, 5);
  // What the killed have left over ends by itself.
  for (std::size_t i = 0; i < contended_locks; ++i) {
    const auto key = lock_key(std::to_string(i));
    for (std::size_t server = 0; server < server_count; ++server) {
      EXPECT_TRUE(eventually([&] { return owner_at(server, key) == "(nil)"; }));
    }
  }
}

TEST_F(quorum_chaos, outside_of_it_leases_may_overlap_and_no_token_is_given_twice) {
  contenders all(urls(), 6, seed, 5, rw_locks);
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(15) / 3)) {
    // As by an administrator's hand; with the votes go the numbers that they were given for.
    const auto first = chance() % server_count;
    for (std::size_t i = 0; i < 3; ++i) {
      auto& server = *servers.at((first + i) % server_count);
      for (std::size_t which = 0; which < contended_locks; ++which) {
        server.command({"DEL", lock_key(std::to_string(which))});
      }
    }
    ++faults;
    harm_a_process(all);
    all.collect();
    pause_a_little();
  }
  report("outside", all, false);
  EXPECT_GT(all.history().size(), 10U);
}

// Because of contention the hold has the votes of a bare quorum only. Then the quorum no longer
// knows it (hazard 4).
TEST_F(quorum_chaos, outside_of_it_is_one_clock_that_steps_at_will_and_no_token_is_given_twice) {
  contenders all(urls(), 6, seed, 5, rw_locks);
  auto& server = *servers.at(chance() % server_count);
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(15) / 2)) {
    server.set_clock(
        std::array{std::int64_t{0}, hour_s / 2, 3 * hour_s, -hour_s / 2, -3 * hour_s}.at(chance() %
                                                                                         5));
    ++faults;
    harm_a_process(all);
    all.collect();
    pause_a_little();
  }
  report("one clock", all, false);
  EXPECT_GT(all.history().size(), 10U);
}

}  // namespace
}  // namespace mortise::testing::quorum_chaos_test
