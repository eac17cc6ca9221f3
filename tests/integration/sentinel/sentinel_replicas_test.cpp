// The number of replicas that the Sentinels report, and the server that they report it of.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deployment/sentinel/sentinels.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "support/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_replicas_test {
namespace {

net::address address_of(int port) {
  net::address at;
  EXPECT_TRUE(net::address::from_literal("127.0.0.1", port, at));
  return at;
}

// A server that is no longer the master must not count replicas as its own (hazard 10).
TEST(sentinels, tell_of_the_replicas_of_the_master_only) {
  sentinel_set set;
  net::reactor loop;
  ASSERT_TRUE(loop.start().ok());
  std::vector<sentinel::sentinels::member> members;
  for (std::size_t i = 0; i < 3; ++i) {
    redis::connection_config config;
    config.where = net::resolver_for_host("127.0.0.1", set.sentinel(i).port());
    members.push_back({"127.0.0.1:" + std::to_string(set.sentinel(i).port()), std::move(config)});
  }
  sentinel::sentinels all(loop, std::move(members), sentinel_set::name, "the set", address_map(""));
  ASSERT_TRUE(all.begin([] {}).ok());
  const auto look = [&] { return all.resolve(boot_now() + patience_ms * ns_per_ms).result.ok(); };
  const auto count_of = [&](std::size_t server) -> std::optional<std::int64_t> {
    const auto reported = all.replicas_of(address_of(set.server(server).port()));
    if (!reported) return std::nullopt;
    EXPECT_EQ(2, reported->count.all);
    EXPECT_GE(boot_now(), reported->asked_at);
    return reported->count.up;
  };

  const auto first = set.master_number();
  EXPECT_EQ(std::nullopt, count_of(first)) << "nobody has asked yet";
  ASSERT_TRUE(look());
  EXPECT_EQ(2, count_of(first));
  EXPECT_EQ(std::nullopt, count_of((first + 1) % 3));

  // One that they hold to be down is not counted.
  set.server((first + 1) % 3).pause();
  EXPECT_TRUE(eventually([&] { return look() && count_of(first) == 1; }));
  set.server((first + 1) % 3).resume();
  EXPECT_TRUE(eventually([&] { return look() && count_of(first) == 2; }));

  set.fail_over();
  const auto second = set.master_number();
  EXPECT_TRUE(eventually([&] { return look() && count_of(second) == 2; }));
  EXPECT_EQ(std::nullopt, count_of(first));
  all.close();
  loop.stop();
}

}  // namespace
}  // namespace mortise::testing::sentinel_replicas_test
