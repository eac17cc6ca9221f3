// Two hosts of clients and several of servers, with the promises to these clients, for each
// deployment and each kind of network.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/contention.hpp"
#include "support/handles.hpp"
#include "support/partition/breaking_network.hpp"
#include "support/partition/remote_client.hpp"

namespace mortise::testing {

// Servers are on those before; a holder is near the one that grants, if only that is cut off.
constexpr std::size_t near_host = 6;
constexpr std::size_t far_host = 7;
constexpr std::size_t all_hosts = 8;

inline std::vector<std::size_t> hosts_but(const std::vector<std::size_t>& these,
                                          std::size_t count = all_hosts) {
  std::vector<std::size_t> others;
  for (std::size_t host = 0; host < count; ++host) {
    if (std::find(these.begin(), these.end(), host) == these.end()) others.push_back(host);
  }
  return others;
}

// `Set` is made with a network that it is on; one of each medium serves all tests of a process.
template <class Set>
class partitions : public ::testing::TestWithParam<breaking_network::medium> {
 protected:
  void SetUp() override {
    auto& mine = sets[static_cast<std::size_t>(GetParam())];
    if (!mine) mine = std::make_unique<Set>(GetParam());
    here = mine.get();
  }
  static void TearDownTestSuite() {
    for (auto& one : sets) one.reset();
  }

  // One holds the lock and is cut off, and the other waits for it.
  void cut_off(remote_client& holder, remote_client& other, const std::function<void()>& cut) {
    held = holder.ask("acquire order 20000");
    ASSERT_EQ(status_name(MORTISE_OK), status_name(held.status)) << held.message;
    holder.control("watch order");
    cut();
    other.control("acquire order 60000");
  }
  void expect_loss_report(remote_client& holder) {
    lost = holder.receive();
    EXPECT_EQ(status_name(MORTISE_LOST), status_name(lost.status));
    EXPECT_EQ(status_name(MORTISE_LOST), status_name(holder.ask("unlock order").status));
    EXPECT_NE(status_name(MORTISE_OK), status_name(holder.ask("try order").status));
  }
  // After the holder was notified, and with a higher token.
  void expect_next(remote_client& other) {
    const auto granted = other.receive();
    ASSERT_EQ(status_name(MORTISE_OK), status_name(granted.status)) << granted.message;
    EXPECT_LT(lost.at, granted.at) << "two have it";
    EXPECT_GT(granted.token, held.token);
  }
  // The holder is back, and nothing is left of its hold; the other has the lock.
  void expect_as_others(remote_client& holder, remote_client& other) {
    EXPECT_TRUE(eventually([&] { return holder.ask("ping").status == MORTISE_OK; }));
    // With `acks` it is in doubt until the replicas of today have it.
    EXPECT_TRUE(eventually([&] { return other.ask("held order").status == MORTISE_OK; }));
    EXPECT_EQ(status_name(MORTISE_NOT_ACQUIRED), status_name(holder.ask("try order").status));
    const auto left = other.ask("unlock order");
    EXPECT_EQ(status_name(MORTISE_OK), status_name(left.status)) << left.message;
    const auto again = holder.ask("acquire order 20000");
    EXPECT_EQ(status_name(MORTISE_OK), status_name(again.status)) << again.message;
    EXPECT_GT(again.token, left.token);
  }

  // Processes on both hosts contend, while something of that number is cut, again and again.
  void contend_while(const std::string& url, bool is_exclusive,
                     const std::function<void(unsigned number)>& cut,
                     const std::function<void()>& heal) {
    constexpr unsigned long_one_in = 50;
    const auto seed = chaos_seed();
    std::mt19937 chance(seed);
    contenders all(and_retaining(url), 6, seed, long_one_in, 0, [this](std::size_t number) {
      here->network->enter(number % 2 == 0 ? near_host : far_host);
    });
    int befallen = 0;
    const auto since = boot_now();
    while (all.is_to_go_on(since, chaos_seconds(12))) {
      all.harm_for(500);
      cut(static_cast<unsigned>(chance()));
      all.harm_for(3 * second_ms);
      heal();
      ++befallen;
    }
    all.report(std::to_string(befallen) + " partitions", is_exclusive);
    EXPECT_GT(befallen, 0);
    EXPECT_GT(all.history().size(), 10U);
  }

  inline static std::unique_ptr<Set> sets[2];
  Set* here = nullptr;
  remote_client::answer held;
  remote_client::answer lost;  // `at`: when it was last held
};

// Waits for the lock on each of the two hosts in turn, in an order that is known. The URL has a
// `command_timeout` that a failover does not outlast.
class remote_line {
 public:
  remote_line(breaking_network& network, const std::string& url,
              const std::function<std::string()>& length) {
    for (std::size_t i = 0; i < count; ++i) {
      waiters_.push_back(
          std::make_unique<remote_client>(network, i % 2 == 0 ? near_host : far_host, url));
      waiters_.back()->control("acquire order 60000");
      EXPECT_TRUE(eventually([&] { return length() == std::to_string(i + 1); }));
    }
  }
  void expect_served_in_order(std::int64_t token) {
    for (const auto& one : waiters_) {
      const auto granted = one->receive();
      EXPECT_EQ(status_name(MORTISE_OK), status_name(granted.status)) << granted.message;
      EXPECT_GT(granted.token, token);
      token = granted.token;
      const auto left = one->ask("unlock order");
      EXPECT_EQ(status_name(MORTISE_OK), status_name(left.status)) << left.message;
    }
  }

 private:
  static constexpr std::size_t count = 3;
  std::vector<std::unique_ptr<remote_client>> waiters_;
};

// All tests run over the one; those over the other run when they are asked for.
inline const auto best_medium = ::testing::Values(breaking_network::best());
inline const auto other_medium = ::testing::Values(breaking_network::medium::proxies);
inline std::string name_of_medium(const ::testing::TestParamInfo<breaking_network::medium>& item) {
  return name_of(item.param);
}

}  // namespace mortise::testing
