// Everything at once, with a master that Sentinels replace: processes contend while they are killed
// and stopped, and masters are killed, hang and are replaced by command. Replication is
// asynchronous, so two may hold after a failover, which is counted; the tokens keep such writes
// out, and no token is given twice.
//
// Twelve seconds by default; MORTISE_CHAOS_SECONDS asks for more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "safety/contention.hpp"
#include "safety/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing {
namespace {

class sentinel_chaos : public ::testing::Test {
 protected:
  [[nodiscard]] static std::int64_t seconds() {
    const char* const wanted = std::getenv("MORTISE_CHAOS_SECONDS");
    return wanted != nullptr ? std::atoll(wanted) : 12;
  }
  // Another is the master when it returns, and all servers are there.
  void replace_the_master() {
    const auto before = set.master_number();
    auto& master = set.server(before);
    ++faults;
    switch (chance() % 3) {
      case 0:
        return set.fail_over();
      case 1:
        master.kill();
        set.await_master_other_than(before);
        return master.start();
      default:
        master.pause();
        set.await_master_other_than(before);
        return master.resume();
    }
  }

  const unsigned seed = std::random_device{}();
  std::mt19937 chance{seed};
  sentinel_set set;
  contenders all{{set.url("lease=500ms&command_timeout=5s")}, 6, seed};
  int faults = 0;
};

TEST_F(sentinel_chaos, whatever_a_failover_loses_no_token_is_given_twice_and_nothing_is_left) {
  const auto since = boot_now();
  while (ms_since(since) < seconds() * second_ms) {
    all.harm_for(1'000);
    replace_the_master();
    all.harm_for(500);
    // The next failover has a replica that follows.
    ASSERT_TRUE(eventually([&] {
      return set.master().command({"INFO", "replication"}).find("state=online") !=
             std::string::npos;
    }));
  }
  all.finish();
  const auto overlaps = check_history(all.history(), {}, 1000).size();
  std::cout << all.history().size() << " acquisitions, " << faults << " masters replaced, "
            << all.kills() << " kills and " << all.stops() << " stops of clients, " << overlaps
            << " overlaps, " << all.refused() << " stale writes refused; seed " << seed << '\n';
  for (const auto& violation : check_history(all.history(), {.is_exclusive = false})) {
    ADD_FAILURE() << violation;
  }
  EXPECT_GT(all.history().size(), 50U);
  EXPECT_GT(faults, 1);
  for (std::size_t i = 0; i < contended_locks; ++i) {
    EXPECT_TRUE(eventually([&] {
      return set.master().command({"EXISTS", lock_key(std::to_string(i))}) == "0";
    }));
  }
}

}  // namespace
}  // namespace mortise::testing
