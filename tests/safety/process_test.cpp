// Hazards of processes: fork, signals, sudden death.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/fake_server.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

// The children of a process with threads make clients, which start threads of their own.
extern "C" const char* __tsan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "die_after_fork=0";
}

namespace mortise::testing::process_test {
namespace {

TEST(safety, hazard_21_a_thousand_forks_have_a_thousand_identities) {
  constexpr int forks = 1000;
  constexpr int at_once = 20;
  test_server server;
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "parent");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto token = mortise_lock_token(lock.get());
  std::set<std::string> owners;
  for (int started = 0; started < forks; started += at_once) {
    std::vector<std::unique_ptr<child>> children;
    for (int i = 0; i < at_once; ++i) {
      children.push_back(std::make_unique<child>([&](child_end& test) {
        const auto inherited = mortise_lock_unlock(lock.get(), nullptr);
        mortise_lock_free(lock.get());
        const auto own = open_client(server.url());
        const auto mine = open_lock(own, "child" + std::to_string(getpid()));
        const info_handle info(mortise_info_new());
        const auto got = mortise_lock_acquire(mine.get(), patience_ms, nullptr);
        mortise_lock_query(mine.get(), info.get(), nullptr);
        test.send(status_name(inherited) + ", " + status_name(got) + ", " +
                  std::to_string(mortise_info_is_mine(info.get())));
        test.send(mortise_info_entry_owner(info.get(), 0));
        test.receive();
      }));
    }
    for (const auto& each : children) {
      EXPECT_EQ(status_name(MORTISE_FORKED) + ", " + status_name(MORTISE_OK) + ", 1",
                each->receive());
      EXPECT_TRUE(owners.insert(each->receive()).second);
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(forks), owners.size());
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  EXPECT_EQ(token, mortise_lock_token(lock.get()));
  EXPECT_EQ("1", server.command({"EXISTS", lock_key("parent")}));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

// The value of a line of a thread's status, such as "SigBlk:".
std::string status_of(const std::filesystem::path& task, const std::string& field) {
  std::ifstream file(task / "status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return line.substr(line.find_first_not_of(" \t", field.size()));
  }
  return "";
}

// The program's handlers run on the program's threads.
TEST(safety, hazard_22_our_threads_take_no_signals) {
  test_server server;
  const auto client = open_client(server.url());
  int ours = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (status_of(task.path(), "Name:") != "mortise-io") continue;
    ++ours;
    const auto blocked = std::stoull(status_of(task.path(), "SigBlk:"), nullptr, 16);
    for (const int signal :
         {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGCHLD}) {
      EXPECT_NE(0U, blocked & (1ULL << (signal - 1))) << signal;
    }
  }
  EXPECT_EQ(1, ours);
}

volatile std::sig_atomic_t alarms = 0;

TEST(safety, hazard_22_ten_thousand_signals_a_second_do_no_harm) {
  test_server server;
  const auto url = server.url();
  // In a child, whose only thread that takes the signal is the one that calls.
  child stormed([&](child_end& test) {
    struct sigaction action {};
    action.sa_handler = [](int) { alarms = alarms + 1; };  // without SA_RESTART
    sigaction(SIGALRM, &action, nullptr);
    const auto client = open_client(url);
    const auto other = open_client(url);
    const auto lock = open_lock(client, "storm");
    const auto waiter = open_lock(other, "storm");
    const auto queue = open_queue(other);
    const itimerval each{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &each, nullptr);
    std::map<std::string, int> failures;
    const auto expect = [&](const char* what, bool is_so, mortise_status got) {
      if (!is_so) ++failures[std::string(what) + " says " + status_name(got)];
    };
    const auto expect_ok = [&](const char* what, mortise_status got) {
      expect(what, got == MORTISE_OK, got);
    };
    constexpr int rounds = 500;
    int unanswered = 0;
    for (int round = 0; round < rounds; ++round) {
      expect_ok("acquire", mortise_lock_acquire(lock.get(), patience_ms, nullptr));
      const auto late = mortise_lock_acquire(waiter.get(), 1, nullptr);
      // Unknown when even the first reply took longer, which happens now and then.
      if (late == MORTISE_UNKNOWN) {
        ++unanswered;
      } else {
        expect("late", late == MORTISE_TIMED_OUT, late);
      }
      expect_ok("wait",
                mortise_lock_acquire_async(waiter.get(), queue.get(), round, patience_ms, nullptr));
      expect_ok("unlock", mortise_lock_unlock(lock.get(), nullptr));
      expect_ok("event", next_event(queue).status);
      expect_ok("unlock", mortise_lock_unlock(waiter.get(), nullptr));
      expect_ok("ping", mortise_client_ping(client.get(), nullptr));
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    std::string failed;
    for (const auto& [what, count] : failures) failed += what + ", ";
    if (unanswered == rounds) failed += "no wait was answered";
    test.send(failed);
    test.send(alarms > 100 ? "stormy" : "calm");
    test.receive();
  });
  // On a slow machine it says nothing for long.
  auto failed = stormed.receive();
  while (failed == "(silence)") failed = stormed.receive();
  EXPECT_EQ("", failed);
  EXPECT_EQ("stormy", stormed.receive());
}

// A write to a connection whose peer has closed it must not end the process. This server closes
// right after each reply, and the next command is sent at once.
TEST(safety, hazard_22_no_sigpipe) {
  child caller([](child_end& test) {
    std::signal(SIGPIPE, SIG_DFL);
    const auto client = open_client_patiently(test.receive());
    int answered = 0;
    const auto begin = boot_now();
    while (answered < 100 && ms_since(begin) < patience_ms) {
      if (mortise_client_ping(client.get(), nullptr) != MORTISE_OK) continue;
      // The moment between the server's end and our noticing is short: look for it.
      const auto now = boot_now();
      while (boot_now() - now < answered % 50 * ns_per_us) {
      }
      ++answered;
    }
    test.send(answered == 100 ? "alive" : "hardly answered");
    test.receive();
  });
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (command.is("EVAL")) return peer.send(":1790000000000000\r\n");
    fake_server::answer_healthy(peer, command);
    if (command.is("PING")) peer.close();
  });
  caller.send(server.url() + "?command_timeout=100ms");
  EXPECT_EQ("alive", caller.receive());
}

TEST(safety, hazard_22_killed_holder_is_succeeded_when_its_lease_ends) {
  test_server server;
  const auto url = server.url() + "?lease=800ms";
  for (const bool is_awaited : {false, true}) {
    child holder([&](child_end& test) {
      const auto client = open_client(url);
      const auto lock = open_lock(client, "killed");
      test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
      test.receive();
    });
    ASSERT_EQ(status_name(MORTISE_OK), holder.receive());
    const auto client = open_client(url);
    const auto lock = open_lock(client, "killed");
    const auto queue = open_queue(client);
    if (is_awaited) {
      ASSERT_EQ(MORTISE_OK,
                mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
      ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("killed")}) == "1"; }));
    }
    const auto begin = boot_now();
    holder.kill();
    if (is_awaited) {
      EXPECT_EQ(MORTISE_OK, next_event(queue).status);
    } else {
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    }
    EXPECT_LT(ms_since(begin), 800 + 5 * second_ms);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
}

// Waiters that died are passed over. The live waiter has given up, so at the end of the lease each
// client may take the lock.
TEST(safety, hazard_22_a_try_succeeds_when_the_lease_of_a_killed_holder_is_over) {
  test_server server;
  const auto url = server.url() + "?lease=3s&renewal=off";
  child holder([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "tried");
    if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) == MORTISE_OK) test.send("held");
    test.receive();
  });
  ASSERT_EQ("held", holder.receive());
  holder.kill();
  const auto client = open_client(url);
  const auto waiter = open_lock(client, "tried");
  const auto length = [&] { return server.command({"LLEN", queue_key("tried")}); };
  ASSERT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(waiter.get(), second_ms / 2, nullptr));
  ASSERT_TRUE(eventually([&] { return length() == "0"; }));
  // No longer than the lease at the server, of which a part has passed.
  EXPECT_LE(std::stoll(server.command({"PTTL", lock_key("tried")})), 3 * second_ms);
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("tried")}) == "0"; }));
  EXPECT_EQ(MORTISE_OK, mortise_lock_try(waiter.get(), nullptr));
}

TEST(safety, hazard_22_killed_waiters_do_not_hold_up_the_next) {
  test_server server;
  const auto url = server.url() + "?lease=30s";
  std::vector<std::unique_ptr<child>> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.push_back(std::make_unique<child>([&](child_end& test) {
      const auto client = open_client(url);
      const auto lock = open_lock(client, "dead");
      test.receive();
      static_cast<void>(mortise_lock_acquire(lock.get(), MORTISE_FOREVER, nullptr));
    }));
  }
  const auto client = open_client(url);
  const auto other = open_client(url);
  const auto holder = open_lock(client, "dead");
  const auto last = open_lock(other, "dead");
  const auto queue = open_queue(other);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  for (const auto& each : waiters) each->send("wait");
  const auto length = [&] { return server.command({"LLEN", queue_key("dead")}); };
  ASSERT_TRUE(eventually([&] { return length() == "5"; }));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(last.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return length() == "6"; }));
  waiters.clear();
  // The server passes them over once it knows that their connections have ended.
  ASSERT_TRUE(eventually([&] {
    const auto inboxes = server.command({"PUBSUB", "CHANNELS", "mortise:inbox:*"});
    return std::count(inboxes.begin(), inboxes.end(), '\n') == 1;  // two, one a line
  }));
  const auto begin = boot_now();
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_LT(ms_since(begin), 2500);  // five grants that nobody confirms would take 8 s
}

}  // namespace
}  // namespace mortise::testing::process_test
