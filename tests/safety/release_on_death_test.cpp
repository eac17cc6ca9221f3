// The helper process of `release_on_death`: what it releases when a process is dead, and that
// nothing less than death makes it release.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/system/descriptor.hpp"
#include "helper/helper_process.hpp"
#include "safety/helper_spawn.hpp"
#include "safety/release_on_death.hpp"
#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/obstacle.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::release_on_death_test {
namespace {

// Empty if the process has ended: other tests have processes, too.
std::string text_of(const std::filesystem::path& file) {
  const std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The helper of a process; 0 for none.
pid_t helper_of(pid_t process) {
  const auto end = " of process " + std::to_string(process);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command = text_of(entry.path() / "cmdline").c_str();  // without its NUL
    if (command.starts_with("mortise-helper:") && command.ends_with(end)) {
      return std::stoi(entry.path().filename());
    }
  }
  return 0;
}

// A process that holds the lock. It reports the status of its acquire.
struct holder : child {
  explicit holder(const std::string& url)
      : child([=](child_end& test) {
          const auto client = open_client(url);
          const auto lock = open_lock(client, "order");
          test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
          test.receive();
        }) {}
};

TEST_F(release_on_death, a_waiter_is_granted_the_lock_of_a_killed_holder) {
  holder killed(url());
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "order");
  const auto queue = open_queue(client);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, 60 * second_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("order")}) == "1"; }));
  killed.kill();
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
}

// The server never sees the upgrade, so the hold is still a reader's.
TEST_F(release_on_death, a_hold_is_released_although_its_upgrade_was_lost) {
  std::atomic<bool> is_upgrading{false};
  std::atomic<bool> has_upgraded{false};
  std::atomic<bool> is_killed{false};
  const proxy between(server.socket_path(), [&](const fake_command& command) {
    if (!is_upgrading || !command.is("EVALSHA") || has_upgraded.exchange(true)) {
      return fault::none();
    }
    while (!is_killed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fault::cut_before();
  });
  child killed([&](child_end& test) {
    const auto client = open_client(between.url() + terms);
    const auto rw = open_rw(client, "order");
    test.send(status_name(mortise_rw_read_acquire(rw.get(), patience_ms, nullptr)));
    test.receive();
    static_cast<void>(mortise_rw_upgrade(rw.get(), nullptr));
  });
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  is_upgrading = true;
  killed.send("upgrade");
  EXPECT_TRUE(eventually([&] { return has_upgraded.load(); }));
  killed.kill();
  is_killed = true;
  const auto client = open_client(server.url());
  const auto writer = open_rw(client, "order");
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
}

// Each kind and amount, also after it was changed.
TEST_F(release_on_death, holds_of_each_kind_are_released) {
  using step = mortise_status (*)(mortise_rw * rw);
  const step read = [](mortise_rw* rw) {
    return mortise_rw_read_acquire(rw, patience_ms, nullptr);
  };
  const step write = [](mortise_rw* rw) {
    return mortise_rw_write_acquire(rw, patience_ms, nullptr);
  };
  const step raise = [](mortise_rw* rw) { return mortise_rw_upgrade(rw, nullptr); };
  const step lower = [](mortise_rw* rw) { return mortise_rw_downgrade(rw, nullptr); };
  const std::vector<std::vector<step>> uses = {{read}, {write}, {read, raise}, {write, lower}};
  for (const auto& steps : uses) {
    child killed([&](child_end& test) {
      const auto client = open_client(url());
      const auto rw = open_rw(client, "order");
      mortise_status result = MORTISE_OK;
      for (const auto& one : steps) {
        if (result == MORTISE_OK) result = one(rw.get());
      }
      test.send(status_name(result));
      test.receive();
    });
    ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
    killed.kill();
    const auto client = open_client(server.url());
    const auto writer = open_rw(client, "order");
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
  }
  child killed([&](child_end& test) {
    const auto client = open_client(url());
    const auto permits = open_semaphore(client, "permits", 3);
    test.send(status_name(mortise_semaphore_acquire(permits.get(), 2, patience_ms, nullptr)));
    test.receive();
  });
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  killed.kill();
  const auto client = open_client(server.url());
  const auto permits = open_semaphore(client, "permits", 3);
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(permits.get(), 3, patience_ms, nullptr));
}

// No other acquire of the client has started the helper.
TEST_F(release_on_death, the_members_of_a_multi_are_released) {
  child killed([&](child_end& test) {
    const auto client = open_client(url());
    const auto one = open_lock(client, "order");
    const auto other = open_lock(client, "other");
    auto* const multi = mortise_multi_new(client.get(), nullptr);
    EXPECT_EQ(MORTISE_OK, mortise_multi_add_lock(multi, one.get(), nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_multi_add_lock(multi, other.get(), nullptr));
    test.send(status_name(mortise_multi_acquire(multi, patience_ms, nullptr)));
    test.receive();
  });
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  killed.kill();
  EXPECT_TRUE(eventually([&] {
    return server.command({"EXISTS", lock_key("order"), lock_key("other")}) == "0";
  }));
}

// Nothing that an unlock released is released again, and no lock of another owner.
TEST_F(release_on_death, locks_that_are_not_held_at_the_end_stay_as_they_are) {
  child killed([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    expect_acquired(lock);
    expect_released(lock);
    test.send("released");
    test.receive();
  });
  ASSERT_EQ("released", killed.receive());
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  killed.kill();
  eventually([] { return false; }, second_ms / 2);
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, nullptr));
}

// As after a restart or a failover, with each script of a release.
TEST_F(release_on_death, hazard_27_a_server_without_the_scripts_releases_each_kind) {
  child killed([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    expect_acquired(lock);
    const auto rw = open_rw(client, "rw");
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw.get(), patience_ms, nullptr));
    const auto permits = open_semaphore(client, "permits", 2);
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(permits.get(), 2, patience_ms, nullptr));
    const auto other = open_client(url() + "&protocol=hash");
    const auto hash = open_lock(other, "hash");
    expect_acquired(hash);
    test.send("held");
    test.receive();
  });
  ASSERT_EQ("held", killed.receive());
  ASSERT_EQ("OK", server.command({"SCRIPT", "FLUSH"}));
  killed.kill();
  const auto are_free = [&] {
    return server.command(
               {"EXISTS", lock_key("order"), lock_key("rw"), lock_key("permits"), "hash"}) == "0";
  };
  EXPECT_TRUE(eventually(are_free));
}

// There is room for 4096 claims.
TEST_F(release_on_death, a_lock_that_is_not_held_takes_no_room) {
  const auto client = open_client(url());
  std::vector<lock_handle> locks;
  for (int i = 0; i <= 4096; ++i) {
    locks.push_back(open_lock(client, "order " + std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(locks.back().get(), patience_ms, nullptr)) << i;
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(locks.back().get(), nullptr)) << i;
  }
}

TEST_F(release_on_death, hazard_1_a_stopped_holder_keeps_its_lock) {
  holder stopped(url());
  ASSERT_EQ(status_name(MORTISE_OK), stopped.receive());
  stopped.pause();
  expect_kept();
  stopped.resume();
  stopped.kill();
  expect_free();
}

TEST_F(release_on_death, hazard_1_a_traced_holder_keeps_its_lock) {
  holder traced(url());
  ASSERT_EQ(status_name(MORTISE_OK), traced.receive());
  const bool is_traced = ::ptrace(PTRACE_SEIZE, traced.pid(), 0, 0) == 0;
  MORTISE_SKIP_FOR(is_traced ? "" : "no right to trace a process");
  ASSERT_EQ(0, ::ptrace(PTRACE_INTERRUPT, traced.pid(), 0, 0));
  expect_kept();
  ::ptrace(PTRACE_DETACH, traced.pid(), 0, 0);
  traced.kill();
  expect_free();
}

TEST_F(release_on_death, hazard_16_a_disconnected_holder_keeps_its_lock) {
  holder cut(url());
  ASSERT_EQ(status_name(MORTISE_OK), cut.receive());
  server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  expect_kept();
  cut.kill();
  expect_free();
}

TEST_F(release_on_death, hazard_21_the_death_of_a_forked_child_releases_nothing) {
  child parent([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    expect_acquired(lock);
    const pid_t forked = ::fork();
    if (forked == 0) {
      mortise_lock_unlock(lock.get(), nullptr);
      mortise_lock_free(lock.get());
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(forked, nullptr, 0);
    test.send("forked");
    test.receive();
  });
  ASSERT_EQ("forked", parent.receive());
  expect_kept();
  parent.kill();
  expect_free();
}

TEST_F(release_on_death, hazard_21_a_process_that_executes_another_program_is_not_dead) {
  child replaced([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
    ::execlp("sleep", "sleep", "600", nullptr);
  });
  ASSERT_EQ(status_name(MORTISE_OK), replaced.receive());
  ASSERT_TRUE(eventually(
      [&] { return text_of("/proc/" + std::to_string(replaced.pid()) + "/comm") == "sleep\n"; }));
  expect_kept();
}

TEST_F(release_on_death, without_the_helper_the_lease_decides) {
  holder killed(url());
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  const auto helper = helper_of(killed.pid());
  ASSERT_NE(0, helper);
  ::kill(helper, SIGKILL);
  ASSERT_TRUE(eventually([&] { return helper_of(killed.pid()) == 0; }));
  killed.kill();
  expect_kept();
}

TEST_F(release_on_death, an_acquire_replaces_a_dead_helper) {
  child killed([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    expect_acquired(lock);
    test.send("held");
    test.receive();
    expect_acquired(open_lock(client, "other"));
    test.send("held");
    test.receive();
  });
  ASSERT_EQ("held", killed.receive());
  ::kill(helper_of(killed.pid()), SIGKILL);
  ASSERT_TRUE(eventually([&] { return helper_of(killed.pid()) == 0; }));
  eventually([] { return false; }, second_ms + second_ms / 4);  // it is looked for once a second
  killed.send("go on");
  ASSERT_EQ("held", killed.receive());
  killed.kill();
  expect_free();
}

TEST_F(release_on_death, hazard_21_a_forked_child_does_not_hide_the_death_of_the_helper) {
  helper::helper_process helper;
  pid_t forked = -1;
  before_the_helper_starts([&] {  // as if another thread forked a process that executes nothing
    forked = ::fork();
    if (forked == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (forked == 0) ::pause();
  });
  ASSERT_TRUE(helper.begin(boot_now()).ok());
  const auto first = helper_of(::getpid());
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return helper_of(::getpid()) != first; }));
  // While the first one dies, its name is gone and it still counts as running.
  std::int64_t ahead_s = 0;
  EXPECT_TRUE(eventually([&] {
    ahead_s += 2;
    return helper.begin(boot_now() + ahead_s * ns_per_s).ok() && helper_of(::getpid()) != 0;
  }));
  ::kill(forked, SIGKILL);
  ::waitpid(forked, nullptr, 0);
}

TEST_F(release_on_death, a_freed_client_leaves_no_helper) {
  auto client = open_client(url());
  expect_acquired(open_lock(client, "order"));
  EXPECT_NE(0, helper_of(::getpid()));
  client.reset();
  EXPECT_TRUE(eventually([] { return helper_of(::getpid()) == 0; }));
  EXPECT_LE(::waitpid(-1, nullptr, WNOHANG), 0) << "a dead child is left";
}

// What the descriptors of a process are.
std::multiset<std::string> descriptors_of(const std::filesystem::path& process) {
  std::multiset<std::string> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd")) {
    std::error_code closed;
    const auto target = std::filesystem::read_symlink(entry, closed).string();
    kinds.insert(target.substr(0, target.find('[')));
  }
  return kinds;
}

// Its command line, environment, descriptors and memory.
TEST_F(release_on_death, the_helper_has_nothing_of_the_program) {
  ASSERT_EQ("OK", server.command(
                      {"ACL", "SETUSER", "locker", "on", ">sesame-open", "~*", "&*", "+@all"}));
  auto with_login = url();
  with_login.insert(with_login.find("://") + 3, "locker:sesame-open@");
  child killed([&](child_end& test) {
    int ends[2];
    ASSERT_EQ(0, ::pipe(ends));  // without O_CLOEXEC, as in many programs
    ::setenv("SECRET_OF_THE_PROGRAM", "sesame-open", 1);
    const auto client = open_client(with_login);
    const auto lock = open_lock(client, "order");
    test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
    test.receive();
  });
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  const auto process = std::filesystem::path("/proc") / std::to_string(helper_of(killed.pid()));
  EXPECT_EQ("", text_of(process / "environ"));
  EXPECT_EQ(std::string::npos, text_of(process / "cmdline").find("sesame"));
  EXPECT_EQ("mortise-helper\n", text_of(process / "comm"));
  // The control socket, and the connection to the server, which the helper opens after the acquire.
  const std::multiset<std::string> expected{"/dev/null",   "/dev/null", "/dev/null",
                                            "anon_inode:", "socket:",   "socket:"};
  EXPECT_TRUE(eventually([&] { return descriptors_of(process) == expected; }))
      << ::testing::PrintToString(descriptors_of(process));
  const auto memory = text_of(process / "smaps_rollup");
  const auto rss = memory.find("Rss:");
  ASSERT_NE(std::string::npos, rss);
  EXPECT_LE(std::stoi(memory.substr(rss + 4)), 1024) << memory;
  killed.kill();
  expect_free();
}

TEST_F(release_on_death, the_terminals_signals_do_not_reach_the_helper) {
  holder killed(url());
  ASSERT_EQ(status_name(MORTISE_OK), killed.receive());
  const auto helper = helper_of(killed.pid());
  EXPECT_NE(::getsid(killed.pid()), ::getsid(helper));
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGTSTP}) ::kill(helper, signal);
  killed.kill();
  expect_free();
}

// A profiler or the runtime of a language may send as many.
// As of a large cluster. The socket has room for less than 300 messages that are not read yet.
TEST_F(release_on_death, the_helper_gets_more_connections_than_its_socket_holds) {
  constexpr int count = 600;
  const descriptor file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  helper::helper_process helper;
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(helper.set_connection(helper.add_connection(), file.get()));
  }
  const auto begun = helper.begin(boot_now());
  ASSERT_TRUE(begun.ok()) << begun.message;
  const auto files = std::filesystem::path("/proc") / std::to_string(helper_of(::getpid())) / "fd";
  EXPECT_TRUE(eventually(
      [&] { return std::distance(std::filesystem::directory_iterator(files), {}) > count; }));
}

}  // namespace
}  // namespace mortise::testing::release_on_death_test
