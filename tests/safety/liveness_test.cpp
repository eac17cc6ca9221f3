// Hazards of liveness: lost messages, servers that never answer, scripts that vanish.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/deaf_port.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::liveness_test {
namespace {

// Does harm again and again, on a connection and in a thread of its own.
class harm {
 public:
  harm(const test_server& server, std::vector<std::string> command, int each_ms)
      : thread_([this, raw = server.connect(), command, each_ms] {
          while (!is_over_) {
            raw->command(command);
            ++count_;
            const timespec pause{0, each_ms * 1'000'000};
            nanosleep(&pause, nullptr);
          }
        }) {}
  ~harm() {
    is_over_ = true;
    thread_.join();
  }
  harm(const harm&) = delete;
  harm& operator=(const harm&) = delete;
  [[nodiscard]] int count() const { return count_; }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<int> count_{0};
  std::thread thread_;
};

struct vote_count {
  int acquired = 0;
  int failed = 0;
  std::int64_t longest_ms = 0;
};

// Acquires and unlocks for so long, and keeps the longest wait.
vote_count contend(const std::string& url, std::string_view name, std::int64_t for_ms) {
  const auto client = open_client(url);
  const auto lock = open_lock(client, name);
  vote_count result;
  const auto begin = boot_now();
  while (ms_since(begin) < for_ms) {
    const auto begin_ns = boot_now();
    const auto got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    result.longest_ms = std::max(result.longest_ms, ms_since(begin_ns));
    got == MORTISE_OK ? ++result.acquired : ++result.failed;
    mortise_lock_unlock(lock.get(), nullptr);
  }
  return result;
}

// Several clients contend for one lock while harm is done.
void contend_through(const std::vector<std::string>& command, int each_ms, int most_waited_ms) {
  test_server server;
  constexpr int contenders = 4;
  std::vector<vote_count> results(contenders);
  int harms = 0;
  {
    const harm doing(server, command, each_ms);
    std::vector<std::thread> threads;
    for (auto& result : results) {
      threads.emplace_back(
          [&] { result = contend(server.url() + "?lease=1s", "contended", 3 * second_ms); });
    }
    for (auto& thread : threads) thread.join();
    harms = doing.count();
  }
  EXPECT_GE(harms, 5);
  for (const auto& result : results) {
    EXPECT_GE(result.acquired, 2);
    EXPECT_EQ(0, result.failed);
    EXPECT_LT(result.longest_ms, most_waited_ms);
  }
  EXPECT_TRUE(eventually([&] {
    return server.command({"EXISTS", lock_key("contended"), queue_key("contended")}) == "0";
  }));
}

// No waiter waits much beyond the lease of a holder.
TEST(safety, hazard_24_killed_subscribers_still_get_their_turn) {
  contend_through({"CLIENT", "KILL", "TYPE", "pubsub"}, 100, 10 * second_ms);
}

TEST(safety, hazard_27_flushed_scripts_do_not_show) {
  contend_through({"SCRIPT", "FLUSH"}, 10, 10 * second_ms);
}

// Every step that runs a script, right after they all have vanished.
TEST(safety, hazard_27_every_step_survives_a_flush) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  const auto holder = open_lock(client, "flushed");
  const auto waiter = open_lock(other, "flushed");
  const auto queue = open_queue(other);
  const info_handle info(mortise_info_new());
  const auto flush = [&] { ASSERT_EQ("OK", server.command({"SCRIPT", "FLUSH"})); };
  const auto length = [&] { return server.command({"LLEN", queue_key("flushed")}); };
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  flush();
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(holder.get(), 60'000, nullptr));
  flush();
  EXPECT_EQ(MORTISE_OK, mortise_lock_query(holder.get(), info.get(), nullptr));
  EXPECT_EQ(1, mortise_info_is_mine(info.get()));
  flush();
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
  EXPECT_TRUE(eventually([&] { return length() == "1"; }));
  flush();
  EXPECT_EQ(MORTISE_OK, mortise_lock_cancel(waiter.get(), nullptr));
  EXPECT_EQ(MORTISE_CANCELLED, next_event(queue).status);
  EXPECT_TRUE(eventually([&] { return length() == "0"; }));
  flush();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_EQ("0", server.command({"EXISTS", lock_key("flushed")}));
}

// The server refuses the release of a retained read for its missing script. The try that was sent
// directly after it has a script, and meets the read of its own client.
TEST(safety, hazard_27_a_try_is_not_refused_by_a_retained_hold_of_its_own_client) {
  test_server server;
  const auto client = open_client(server.url() + "?retain=60s");
  const auto other = open_client(server.url());
  const auto rw = open_rw(client, "retained");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  const auto known = open_rw(other, "other");
  ASSERT_EQ("OK", server.command({"SCRIPT", "FLUSH"}));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(known.get(), nullptr));
  ASSERT_EQ("1", server.command({"EXISTS", lock_key("retained")}));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_try(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(known.get(), nullptr));
}

// A call that is given up: how long it may take beyond its deadline before that counts as a hang.
constexpr std::int64_t bound_ms = 3 * second_ms;

TEST(safety, hazard_26_opening_at_a_blackhole_ends_by_its_deadline) {
  fake_server mute([](fake_peer&, const fake_command&) {});
  const deaf_port deaf;
  for (const auto& url : {mute.url(), deaf.url()}) {
    const auto whole = url + "?command_timeout=300ms";
    const auto error = new_error();
    const auto begin = boot_now();
    const client_handle client(
        mortise_client_new(whole.data(), whole.size(), nullptr, error.get()));
    EXPECT_EQ(nullptr, client);
    EXPECT_LT(ms_since(begin), bound_ms);
    EXPECT_EQ(MORTISE_UNREACHABLE, mortise_error_status(error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(1, mortise_error_is_retryable(error.get()));
  }
}

// A client with a lock that it holds and one that is free, to make one call with.
struct caller {
  explicit caller(const std::string& url, const std::string& number)
      : client(open_client_patiently(url)),
        idle(open_lock(client, "idle" + number)),
        held(open_lock(client, "held" + number)),
        waiting(open_lock(client, "held" + number)) {}
  client_handle client;
  lock_handle idle;
  lock_handle held;
  lock_handle waiting;
};

struct call_case {
  const char* what;
  std::function<mortise_status(const caller&)> call;
  mortise_status when_sent;  // to a server that does not reply
};

const std::vector<call_case> calls = {
    {"ping", [](const caller& of) { return mortise_client_ping(of.client.get(), nullptr); },
     MORTISE_UNKNOWN},
    {"try", [](const caller& of) { return mortise_lock_try(of.idle.get(), nullptr); },
     MORTISE_UNKNOWN},
    {"acquire", [](const caller& of) { return mortise_lock_acquire(of.idle.get(), 200, nullptr); },
     MORTISE_UNKNOWN},
    // Behind a handle of the same client the server need not be asked.
    {"wait", [](const caller& of) { return mortise_lock_acquire(of.waiting.get(), 200, nullptr); },
     MORTISE_TIMED_OUT},
    {"extend", [](const caller& of) { return mortise_lock_extend(of.held.get(), 0, nullptr); },
     MORTISE_UNKNOWN},
    {"query",
     [](const caller& of) {
       const info_handle info(mortise_info_new());
       return mortise_lock_query(of.held.get(), info.get(), nullptr);
     },
     MORTISE_UNKNOWN},
};

TEST(safety, hazard_26_every_call_ends_by_its_deadline_when_the_server_hangs) {
  test_server server;
  const auto url = server.url() + "?command_timeout=300ms&lease=60s";
  std::vector<std::unique_ptr<caller>> callers;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    callers.push_back(std::make_unique<caller>(url, std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(callers[i]->held.get(), patience_ms, nullptr));
  }
  server.pause();
  const auto check = [](mortise_status expected, const char* what, auto&& call) {
    const auto begin = boot_now();
    EXPECT_EQ(expected, call()) << what;
    EXPECT_LT(ms_since(begin), bound_ms) << what;
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    check(calls[i].when_sent, calls[i].what, [&] { return calls[i].call(*callers[i]); });
  }
  // After the connection is given up, nothing more is sent.
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& of = *callers[i];
    ASSERT_TRUE(eventually(
        [&] { return mortise_client_ping(of.client.get(), nullptr) == MORTISE_UNREACHABLE; }));
    check(MORTISE_UNREACHABLE, calls[i].what, [&] { return calls[i].call(of); });
  }
  const auto& last = *callers.back();
  const auto queue = open_queue(last.client);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire_async(last.idle.get(), queue.get(), 1, 300, nullptr));
  check(MORTISE_UNREACHABLE, "event", [&] { return next_event(queue).status; });
  check(MORTISE_UNREACHABLE, "unlock",
        [&] { return mortise_lock_unlock(last.held.get(), nullptr); });
  // Another client of this process does not notice.
  test_server healthy;
  const auto other = open_client(healthy.url());
  const auto lock = open_lock(other, "other");
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  server.resume();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(last.held.get(), patience_ms, nullptr));
}

TEST(safety, hazard_26_waits_survive_a_restart_of_the_server) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  const auto holder = open_lock(client, "restart");
  const auto waiter = open_lock(other, "restart");
  const auto queue = open_queue(other);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("restart")}) == "1"; }));
  server.restart();  // all data are lost, which no promise covers
  const auto granted = next_event(queue);
  EXPECT_EQ(MORTISE_OK, granted.status);
  EXPECT_GT(granted.token, mortise_lock_token(holder.get()));
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(holder.get()) == 0; }));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
}

}  // namespace
}  // namespace mortise::testing::liveness_test
