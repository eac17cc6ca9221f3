// Hazards of ownership: locks that are taken away, renewals that lie or never end, tokens.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/obstacle.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::ownership_test {
namespace {

TEST(safety, hazard_14_lost_data_is_reported_within_one_renewal) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=900ms");
  const auto queue = open_queue(client);
  std::int64_t highest = 0;
  for (const auto& harm :
       {std::vector<std::string>{"FLUSHALL"}, std::vector<std::string>{"SWAPDB", "0", "1"},
        std::vector<std::string>{"DEL", lock_key("data")}}) {
    const auto lock = open_lock(client, "data");
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 9, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    const auto token = mortise_lock_token(lock.get());
    EXPECT_GT(token, highest);  // although the counter was lost
    highest = token;
    server.command(harm);
    const auto begin = boot_now();
    const auto at_risk = next_event(queue);  // comes before every loss
    EXPECT_EQ(MORTISE_EVENT_AT_RISK, at_risk.kind);
    EXPECT_EQ(token, at_risk.token);
    const auto lost = next_event(queue);
    EXPECT_EQ(MORTISE_EVENT_LOST, lost.kind);
    EXPECT_EQ(token, lost.token);
    EXPECT_LT(ms_since(begin), 10 * second_ms);
    EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("data")}));  // and it is not put back
    EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
  }
}

// By each holder, with renewal or without, as soon as the client is back. A third of this lease is
// far longer than any wait of this test.
TEST(safety, hazard_14_a_restart_without_data_is_reported_when_the_client_is_back) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=1h");
  const auto settled = open_client(server.url() + "?lease=1h&renewal=off");
  const auto renewed = open_lock(client, "renewed");
  const auto kept = open_lock(settled, "kept");
  const auto rw = open_rw(client, "rw");
  const auto semaphore = open_semaphore(client, "semaphore", 3);
  const auto queue = open_queue(client);
  const auto other = open_queue(settled);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(renewed.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(kept.get(), other.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(renewed.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(kept.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_acquire(semaphore.get(), 2, patience_ms, nullptr));
  server.restart();
  const event_handle event(mortise_event_new());
  for (const auto* each : {&queue, &other}) {
    do {
      ASSERT_EQ(MORTISE_OK, mortise_queue_next(each->get(), patience_ms, event.get(), nullptr));
    } while (mortise_event_kind(event.get()) == MORTISE_EVENT_AT_RISK);
    EXPECT_EQ(MORTISE_EVENT_LOST, mortise_event_kind(event.get()));
    EXPECT_EQ(MORTISE_REASON_SERVER_LOST, mortise_event_reason(event.get()));
  }
  EXPECT_TRUE(eventually([&] { return mortise_rw_is_reading(rw.get()) == 0; }));
  EXPECT_TRUE(eventually([&] { return mortise_semaphore_is_held(semaphore.get()) == 0; }));
  EXPECT_EQ("0", server.command({"EXISTS", lock_key("renewed"), lock_key("kept"), lock_key("rw"),
                                 lock_key("semaphore")}));
}

TEST(safety, hazard_17_extension_of_a_stolen_lock_says_lost) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=30s&renewal=off");
  const auto lock = open_lock(client, "stolen");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  server.command({"SET", lock_key("stolen"), "somebody else", "PX", "5000"});
  EXPECT_EQ(MORTISE_LOST, mortise_lock_extend(lock.get(), 60'000, nullptr));
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
  // The other's lock is as it was.
  EXPECT_EQ("somebody else", server.command({"GET", lock_key("stolen")}));
  EXPECT_LE(std::stoll(server.command({"PTTL", lock_key("stolen")})), 5000);
}

TEST(safety, hazard_17_unlock_and_free_never_touch_anothers_lock) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=30s&renewal=off");
  for (const bool is_freed : {false, true}) {
    auto lock = open_lock(client, "stolen");
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    server.command({"SET", lock_key("stolen"), "somebody else"});
    if (!is_freed) {
      EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
    }
    lock.reset();
    ASSERT_EQ(MORTISE_OK,
              mortise_client_ping(client.get(), nullptr));  // it comes after the release
    EXPECT_EQ("somebody else", server.command({"GET", lock_key("stolen")}));
    server.command({"DEL", lock_key("stolen")});
  }
}

// The thread that acquired ends without a word, and the handle is forgotten.
TEST(safety, hazard_19_forgotten_hold_ends_by_max_hold) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=2s&max_hold=4s");
  const auto queue = open_queue(client);
  const auto lock = open_lock(client, "forgotten");
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
  mortise_status got = MORTISE_INTERNAL;
  const auto begin = boot_now();
  std::thread([&] { got = mortise_lock_acquire(lock.get(), patience_ms, nullptr); }).join();
  ASSERT_EQ(MORTISE_OK, got);
  const auto other = open_client(server.url());
  const auto next = open_lock(other, "forgotten");
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr));
  EXPECT_GE(ms_since(begin), 3 * second_ms);  // it was renewed for a while
  EXPECT_EQ(MORTISE_EVENT_LOST, next_loss(queue).kind);
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
}

TEST(safety, hazard_19_no_renewal_after_unlock) {
  test_server server;
  proxy between(server.socket_path());
  constexpr std::int64_t lease_ms = 60;
  const auto client = open_client(between.url() + "?lease=" + std::to_string(lease_ms) + "ms");
  const auto lock = open_lock(client, "race");
  int in_time = 0;
  // Each hold lasts about as long as it takes to the first renewal, so that they race.
  for (int round = 0; round < 100; ++round) {
    const auto begin_ns = boot_now();
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    const auto begin = boot_now();
    while (boot_now() - begin < (15 + round % 10) * ns_per_ms) std::this_thread::yield();
    const auto status = mortise_lock_unlock(lock.get(), nullptr);
    if (ms_since(begin_ns) < lease_ms) {
      ++in_time;
      EXPECT_EQ(MORTISE_OK, status) << status_name(status);
    }
    if (status == MORTISE_OK) {
      EXPECT_EQ("0", server.command({"EXISTS", lock_key("race")}));
    } else {
      // This process did not run for a whole lease. The keys at the server expire.
      EXPECT_EQ(MORTISE_LOST, status) << status_name(status);
      EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("race")}) == "0"; }));
    }
  }
  EXPECT_GT(in_time, 0);
  std::atomic<int> late{0};
  between.set_rule([&](const fake_command& command) {
    if (command.is("EVALSHA") || command.is("EVAL")) ++late;
    return fault::none();
  });
  EXPECT_TRUE(always([&] { return late == 0; }, 300));
}

// The clients' I/O thread of a process, by its name.
pid_t io_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name == "mortise-io") return std::stoi(task.path().filename());
  }
  return 0;
}

// Stops one thread of another process, until the end of its scope.
class stopped_thread {
 public:
  explicit stopped_thread(pid_t thread) : thread_(thread) {
    is_stopped_ = ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) == 0 &&
                  ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0 &&
                  waitpid(thread_, nullptr, __WALL) == thread_;
    if (!is_stopped_ && errno == EPERM) obstacle_ = "ptrace is not permitted here";
  }
  ~stopped_thread() { ptrace(PTRACE_DETACH, thread_, nullptr, nullptr); }
  stopped_thread(const stopped_thread&) = delete;
  stopped_thread& operator=(const stopped_thread&) = delete;
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  // Why no thread can be stopped on this machine. Empty where one can.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

 private:
  const pid_t thread_;
  bool is_stopped_ = false;
  std::string obstacle_;
};

// Only the thread that renews is stopped. All other threads of the process run.
TEST(safety, hazard_20_stalled_renewal_thread_does_not_make_held_lie) {
  test_server server;
  const auto url = server.url() + "?lease=400ms";
  child holder([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "stalled");
    if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK) return;
    test.send(std::to_string(io_thread()));
    test.receive();
    const bool has_ended = eventually([&] { return mortise_lock_is_held(lock.get()) == 0; });
    test.send(has_ended ? "ended" : "still held");
    test.send(status_name(mortise_lock_unlock(lock.get(), nullptr)));
    test.receive();
  });
  const auto thread = static_cast<pid_t>(std::stoi(holder.receive()));
  ASSERT_GT(thread, 0);
  const stopped_thread stalled(thread);
  MORTISE_SKIP_FOR(stalled.obstacle());
  ASSERT_TRUE(stalled.is_stopped());
  holder.send("go on");
  EXPECT_EQ("ended", holder.receive());
  EXPECT_EQ(status_name(MORTISE_LOST), holder.receive());
  const auto client = open_client(url);
  const auto lock = open_lock(client, "stalled");
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

// Without MULTI the SET behind it stands alone, and takes the lock.
TEST(safety, hazard_23_a_try_without_the_right_to_transactions_leaves_no_lock_behind) {
  test_server server;
  server.command(
      {"ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all", "-@transaction"});
  const auto client = open_client("unix://worker:secret@" + server.socket_path() + "?lease=60s");
  const auto lock = open_lock(client, "alone");
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("alone")}) == "0"; }));
}

// PUBLISH is denied, which a script finds out after it has written.
TEST(safety, hazard_23_denied_publish_does_not_make_a_release_fail) {
  test_server server;
  server.command({"ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all", "-publish"});
  const auto url = "unix://worker:secret@" + server.socket_path() + "?lease=2s";
  const auto first = open_client(url);
  const auto second = open_client(url);
  const auto holder = open_lock(first, "silent");
  const auto waiter = open_lock(second, "silent");
  const auto queue = open_queue(second);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
    ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("silent")}) == "1"; }));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
    const auto begin = boot_now();
    EXPECT_EQ(MORTISE_OK, next_event(queue).status);  // by asking
    EXPECT_LT(ms_since(begin), 10 * second_ms);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
  }
}

TEST(safety, hazard_23_a_missing_right_to_the_channel_is_reported_with_the_remedy) {
  test_server server;
  server.command({"ACL", "SETUSER", "worker", "on", ">secret", "~*", "resetchannels", "+@all"});
  const auto url = "unix://worker:secret@" + server.socket_path();
  const auto error = new_error();
  const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
  EXPECT_EQ(nullptr, client);
  EXPECT_EQ(MORTISE_REFUSED, mortise_error_status(error.get()));
  EXPECT_NE(std::string::npos, std::string(mortise_error_message(error.get())).find("&mortise:"))
      << mortise_error_message(error.get());
}

// A replica that was promoted without the newest writes, and whose clock is behind them.
TEST(safety, hazard_30_no_server_that_comes_later_draws_a_token_below_one_that_was_seen) {
  test_server first;
  test_server second;
  tcp_proxy network(first.socket_path());
  first.command({"SET", "mortise:fence", "4000000000000000"});
  const auto client = open_client(network.url() + "?lease=60s");
  const auto other = open_client(first.url() + "?lease=60s");
  const auto lock = open_lock(client, "k");
  const auto others = open_lock(other, "k");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(others.get(), patience_ms, nullptr));
  // The grant comes as a message, and nothing else has its token.
  std::thread waiter(
      [&] { EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr)); });
  while (first.command({"LLEN", "{mortise:k}:q"}) != "1") std::this_thread::yield();
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(others.get(), nullptr));
  waiter.join();
  const auto seen = mortise_lock_token(lock.get());
  EXPECT_GT(seen, 4'000'000'000'000'000);
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  network.control("redirect " + second.socket_path());
  network.control("cut");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ("1", second.command({"EXISTS", "{mortise:k}"}));
  EXPECT_GT(mortise_lock_token(lock.get()), seen);
}

TEST(safety, hazard_30_tokens_survive_every_state_of_the_counter) {
  test_server server;
  const auto client = open_client(server.url());
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  std::int64_t highest = 0;
  const auto check = [&](const std::vector<std::string>& harm) {
    if (!harm.empty()) server.command({"DEL", "mortise:fence"});
    if (!harm.empty()) server.command(harm);
    for (const bool by_script : {false, true}) {
      const auto holder = open_lock(client, "token");
      ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
      auto token = mortise_lock_token(holder.get());
      EXPECT_GT(token, highest) << ::testing::PrintToString(harm);
      EXPECT_LT(token, limit);
      EXPECT_GT(token, std::int64_t{1'600'000'000'000'000});  // a time in microseconds
      highest = token;
      // A second grant of the same name, from a queue, by script.
      const auto other = open_client(server.url());
      const auto waiter = open_lock(other, "token");
      const auto queue = open_queue(other);
      if (by_script) {
        ASSERT_EQ(MORTISE_OK,
                  mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
        ASSERT_TRUE(eventually([&] {
          return server.command({"LLEN", queue_key("token")}) == "1";
        }));
      }
      ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
      if (!by_script) continue;
      const auto granted = next_event(queue);
      ASSERT_EQ(MORTISE_OK, granted.status);
      EXPECT_EQ(granted.token, mortise_lock_token(waiter.get()));
      EXPECT_GT(granted.token, highest);
      EXPECT_LE(granted.token, std::stoll(server.command({"GET", "mortise:fence"})));
      highest = granted.token;
      ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
    }
  };
  check({});
  check({"DEL", "mortise:fence"});
  check({"SET", "mortise:fence", "0"});
  check({"SET", "mortise:fence", "-5"});
  check({"SET", "mortise:fence", "999999999999900"});
  check({"SET", "mortise:fence", "not a number"});
  check({"SET", "mortise:fence", "1.5"});
  check({"SET", "mortise:fence", "1.79e+15"});
  check({"RPUSH", "mortise:fence", "wrong type"});
  // Where fifteen digits of Lua's own formatting would round: the tokens are exact.
  check({"SET", "mortise:fence", "8999999999999990"});
  check({});
}

}  // namespace
}  // namespace mortise::testing::ownership_test
