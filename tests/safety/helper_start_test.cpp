// The start of the helper process of `release_on_death`, and the systems where it cannot start.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "helper/helper_process.hpp"
#include "safety/helper_spawn.hpp"
#include "safety/release_on_death.hpp"
#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/obstacle.hpp"
#include "support/server.hpp"

namespace mortise::testing::helper_start_test {
namespace {

TEST_F(release_on_death, hazard_22_signals_do_not_keep_the_helper_from_starting) {
  child killed([&](child_end& test) {
    std::vector<client_handle> clients;
    struct sigaction handled {};
    handled.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &handled, nullptr);
    const itimerval often{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    const auto error = new_error();
    // Each client has a helper.
    for (int i = 0; i < 10 && mortise_error_status(error.get()) == MORTISE_OK; ++i) {
      clients.push_back(open_client(url()));
      const auto lock = open_lock(clients.back(), i == 0 ? "order" : std::to_string(i));
      static_cast<void>(mortise_lock_acquire(lock.get(), patience_ms, error.get()));
    }
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    test.send(mortise_error_message(error.get()));
    test.receive();
  });
  ASSERT_EQ("", killed.receive());
  killed.kill();
  expect_free();
}

// From here on this call fails with the error.
void forbid(std::uint32_t number, std::uint32_t error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
  ASSERT_EQ(0, ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  ASSERT_EQ(0, ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

struct obstacle_to_start {
  const char* name;
  void (*raise)();
  mortise_status status;
  const char* message;
};

const obstacle_to_start obstacles_to_start[] = {
    {"no_pidfd", [] { forbid(SYS_pidfd_open, ENOSYS); }, MORTISE_UNSUPPORTED,
     "release_on_death: cannot watch this process (pidfd_open): Function not implemented; it needs "
     "Linux 5.3 or later, so omit the option"},
    {"no_memory_file", [] { forbid(SYS_memfd_create, EPERM); }, MORTISE_UNSUPPORTED,
     "release_on_death: cannot share memory with the helper: Operation not permitted; allow it, or "
     "omit the option"},
    {"no_process", [] { forbid(SYS_execve, EPERM); }, MORTISE_UNSUPPORTED,
     "release_on_death: cannot start the helper process: Operation not permitted; allow it, or "
     "omit the option"},
    {"no_file_size",
     [] {
       const rlimit small{1 << 20, 1 << 20};
       ::setrlimit(RLIMIT_FSIZE, &small);
     },
     MORTISE_UNSUPPORTED,
     "release_on_death: cannot share memory with the helper: File too large; raise the limit of "
     "the "
     "size of files, or omit the option"}};

class release_on_death_start : public release_on_death,
                               public ::testing::WithParamInterface<obstacle_to_start> {};

TEST_P(release_on_death_start, the_first_acquire_reports_the_reason) {
  child refused([&](child_end& test) {
    const auto client = open_client(url());
    const auto lock = open_lock(client, "order");
    GetParam().raise();
    const auto error = new_error();
    test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, error.get())));
    test.send(mortise_error_message(error.get()));
  });
  EXPECT_EQ(status_name(GetParam().status), refused.receive());
  const auto message = refused.receive();
  EXPECT_NE(std::string::npos, message.find(GetParam().message)) << message;
  EXPECT_EQ("0", server.command({"EXISTS", lock_key("order")}));
}

INSTANTIATE_TEST_SUITE_P(safety, release_on_death_start, ::testing::ValuesIn(obstacles_to_start),
                         [](const auto& item) { return std::string(item.param.name); });

// The helper starts, and its report that it is ready is lost. Each start of its own would take 2 s.
TEST_F(release_on_death, callers_that_wait_for_a_slow_start_share_its_failure) {
  constexpr int count = 8;
  child slow([&](child_end& test) {
    helper::helper_process helper;
    std::atomic<int> failures{0};
    const auto began = boot_now();
    std::thread([&] {
      forbid(SYS_sendto, 0);  // in this thread and in those that it starts
      std::vector<std::thread> callers;
      for (int i = 0; i < count; ++i) {
        callers.emplace_back([&] { failures += helper.begin(boot_now()).ok() ? 0 : 1; });
      }
      for (auto& one : callers) one.join();
    }).join();
    const bool is_soon = boot_now() - began < 10 * ns_per_s;
    test.send(std::to_string(failures) + (is_soon ? " soon" : " late"));
  });
  EXPECT_EQ("8 soon", slow.receive());
}

// A handle that another thread frees while its first acquire starts the helper. Nobody can unlock
// what it would hold.
class freed_during_the_start : public release_on_death, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) expect_acquired(holder);
  }
  // The other thread frees this handle when the acquire has begun.
  template <class Handle>
  static Handle* to_be_freed(Handle* handle, void (*free)(Handle*)) {
    before_the_helper_starts([=] { std::thread(free, handle).join(); });
    return handle;
  }
  void expect_nothing_acquired() {
    if (GetParam()) expect_released(holder);
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("order")}) == "0"; }));
  }

  const client_handle other = open_client(server.url());
  const lock_handle holder = open_lock(other, "order");
  const client_handle client = open_client(url());
};

TEST_P(freed_during_the_start, an_acquire_ends) {
  auto* const lock = to_be_freed(open_lock(client, "order").release(), mortise_lock_free);
  EXPECT_EQ(MORTISE_CLOSED, mortise_lock_acquire(lock, patience_ms, nullptr));
  expect_nothing_acquired();
}

TEST_P(freed_during_the_start, an_asynchronous_acquire_is_refused) {
  const auto queue = open_queue(client);
  auto* const lock = to_be_freed(open_lock(client, "order").release(), mortise_lock_free);
  EXPECT_EQ(MORTISE_CLOSED, mortise_lock_acquire_async(lock, queue.get(), 1, patience_ms, nullptr));
  mortise_queue_shutdown(queue.get());
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue).kind);
  expect_nothing_acquired();
}

TEST_P(freed_during_the_start, an_acquire_of_a_multi_ends) {
  const auto member = open_lock(client, "order");
  auto* const multi = to_be_freed(mortise_multi_new(client.get(), nullptr), mortise_multi_free);
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi, member.get(), nullptr));
  EXPECT_EQ(MORTISE_CLOSED, mortise_multi_acquire(multi, patience_ms, nullptr));
  EXPECT_EQ(0, mortise_lock_is_held(member.get()));
  expect_nothing_acquired();
}

INSTANTIATE_TEST_SUITE_P(safety, freed_during_the_start, ::testing::Bool(), [](const auto& item) {
  return std::string(item.param ? "of_a_held_lock" : "of_a_free_lock");
});

// The members are locks of their own, which a multi may acquire after their handles were freed.
TEST_F(release_on_death, a_member_freed_during_the_start_is_acquired) {
  const auto client = open_client(url());
  auto* const member = open_lock(client, "order").release();
  auto* const multi = mortise_multi_new(client.get(), nullptr);
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi, member, nullptr));
  before_the_helper_starts([=] { mortise_lock_free(member); });
  EXPECT_EQ(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, nullptr));
  EXPECT_EQ("1", server.command({"EXISTS", lock_key("order")}));
  mortise_multi_free(multi);
}

TEST_F(release_on_death, the_first_process_of_a_container_is_refused) {
  child refused([&](child_end& test) {
    if (::unshare(CLONE_NEWPID) != 0) return test.send("no right");
    const pid_t first = ::fork();
    if (first == 0) {
      const auto client = open_client(url());
      const auto error = new_error();
      const auto lock = open_lock(client, "order");
      static_cast<void>(mortise_lock_acquire(lock.get(), patience_ms, error.get()));
      test.send(mortise_error_message(error.get()));
      ::_exit(0);
    }
    ::waitpid(first, nullptr, 0);
  });
  const auto message = refused.receive();
  MORTISE_SKIP_FOR(message == "no right" ? "no right to make a namespace of processes" : "");
  EXPECT_NE(std::string::npos, message.find("first process of its container")) << message;
}

TEST_F(release_on_death, a_name_that_is_too_long_is_refused) {
  const auto client = open_client(url());
  const auto error = new_error();
  const std::string name(801, 'x');
  EXPECT_EQ(nullptr,
            mortise_lock_new(client.get(), name.data(), name.size(), nullptr, error.get()));
  EXPECT_STREQ(
      "name: 801 bytes are above the maximum of 800 with release_on_death; give a shorter name",
      mortise_error_message(error.get()));
  const auto longest = open_lock(client, name.substr(1));
  expect_acquired(longest);
  expect_released(longest);
}

}  // namespace
}  // namespace mortise::testing::helper_start_test
