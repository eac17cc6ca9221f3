// Handles of one client whose lock a quorum of servers gives: the client asks for the votes once,
// and passes the lock on among them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::quorum_passing_test {
namespace {

const std::string name = "report";
constexpr int handles = 4;

class quorum_passing : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url() const {
    return "redlock:" + servers[0].url() + "?quarantine=0," + servers[1].url() + "," +
           servers[2].url();
  }
  // Has the lock once, alone, with a token above all before it.
  void take_a_turn(const lock_handle& lock) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(0, inside.fetch_add(1));
    const auto token = mortise_lock_token(lock.get());
    EXPECT_LT(last.exchange(token), token);
    inside.fetch_sub(1);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
  // How often scripts were called at a server.
  std::int64_t calls() {
    const auto statistics = servers[0].command({"INFO", "commandstats"});
    const std::string key = "cmdstat_evalsha:calls=";
    const auto at = statistics.find(key);
    return at == std::string::npos ? 0 : std::stoll(statistics.substr(at + key.size()));
  }

  std::array<test_server, 3> servers;
  std::atomic<int> inside{0};
  std::atomic<std::int64_t> last{0};
};

// Hazard 30: each of them has a token of its own, although the votes stay where they are.
TEST_F(quorum_passing, handles_take_turns_with_rising_tokens_and_fewer_questions) {
  constexpr int turns = 100;
  const auto client = open_client(url());
  std::vector<std::thread> users;
  const auto before = calls();
  users.reserve(handles);
  for (int i = 0; i < handles; ++i) {
    users.emplace_back([&] {
      const auto lock = open_lock(client, name);
      for (int turn = 0; turn < turns; ++turn) take_a_turn(lock);
    });
  }
  for (auto& user : users) user.join();
  EXPECT_LT(calls() - before, 2 * handles * turns) << "a take and a release for each";
}

// Passes end, and behind its own release the client does not ask first.
TEST_F(quorum_passing, handles_that_never_pause_keep_no_other_client_out) {
  const auto client = open_client(url());
  const auto rival = open_client(url());
  std::atomic<bool> is_over{false};
  std::vector<std::thread> users;
  users.reserve(handles);
  for (int i = 0; i < handles; ++i) {
    users.emplace_back([&] {
      const auto lock = open_lock(client, name);
      while (!is_over) take_a_turn(lock);
    });
  }
  const auto other = open_lock(rival, name);
  for (int turn = 0; turn < 10; ++turn) take_a_turn(other);
  is_over = true;
  for (auto& user : users) user.join();
}

}  // namespace
}  // namespace mortise::testing::quorum_passing_test
