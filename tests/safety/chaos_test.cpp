// Everything at once: processes that contend for a few locks while they are killed, stopped and
// cut off at random. What they believed is recorded and checked, and what they write is fenced.
//
// Ten seconds by default; MORTISE_CHAOS_SECONDS asks for more.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/contention.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::chaos_test {
namespace {

class chaos {
 public:
  void run(std::int64_t seconds) {
    const auto begin = boot_now();
    while (ms_since(begin) < seconds * second_ms) {
      harm();
      all_.collect();
      const timespec pause{0, static_cast<long>(40'000'000 + chance_() % 100'000'000)};
      nanosleep(&pause, nullptr);
    }
    all_.report(std::to_string(cuts_) + " cuts and " + std::to_string(pauses_) + " server pauses",
                true);
  }

  [[nodiscard]] const std::vector<hold_record>& history() const { return all_.history(); }
  [[nodiscard]] int harms() const { return all_.kills() + all_.stops() + cuts_ + pauses_; }
  // Everything has ended well, so all that is left over ends by itself.
  [[nodiscard]] bool leaves_nothing() {
    return eventually([&] {
      for (std::size_t i = 0; i < contended_locks; ++i) {
        const auto name = std::to_string(i);
        if (server_.command({"EXISTS", lock_key(name)}) != "0") return false;
      }
      return true;
    });
  }

 private:
  void harm() {
    switch (chance_() % 8) {
      case 0:
      case 1:
        all_.kill_one();
        break;
      case 2:
      case 3:
      case 4:
        all_.stop_one();
        break;
      case 5:
        server_.command({"CLIENT", "KILL", "TYPE", chance_() % 2 ? "pubsub" : "normal"});
        ++cuts_;
        break;
      case 6:
        server_.command({"CLIENT", "PAUSE", std::to_string(chance_() % 300), "ALL"});
        ++pauses_;
        break;
      default:
        server_.command({"SCRIPT", "FLUSH"});
        break;
    }
  }

  const unsigned seed_ = chaos_seed();
  std::mt19937 chance_{seed_};
  test_server server_;
  contenders all_{and_retaining(server_.url() + "?lease=400ms&command_timeout=500ms"), 6, seed_};
  int cuts_ = 0;
  int pauses_ = 0;
};

TEST(safety, chaos) {
  chaos all;
  all.run(chaos_seconds(10));
  EXPECT_GT(all.history().size(), 10U);
  EXPECT_GT(all.harms(), 10);
  EXPECT_TRUE(all.leaves_nothing());
}

}  // namespace
}  // namespace mortise::testing::chaos_test
