#include "base/system/inheritance.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace mortise::local_inheritance_test {
namespace {

constexpr int patience_ms = 20'000;

// A shell that lives on, with what it inherits.
pid_t start_shell(add_closefrom closefrom) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  EXPECT_EQ(inherit_below(3, actions, closefrom), 0);
  std::array<char, 3> name = {"sh"};
  std::array<char, 3> option = {"-c"};
  std::array<char, 16> script = {"exec sleep 600"};
  const std::array<char*, 4> arguments = {name.data(), option.data(), script.data(), nullptr};
  pid_t process = -1;
  EXPECT_EQ(::posix_spawn(&process, "/bin/sh", &actions, nullptr, arguments.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return process;
}

void expect_no_heir(add_closefrom closefrom) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // without O_CLOEXEC, as in many programs
  // One that a shell's own redirections could not name.
  const int far = ::fcntl(ends[1], F_DUPFD, 100);
  ASSERT_GE(far, 100);
  const pid_t process = start_shell(closefrom);
  ::close(ends[1]);
  ::close(far);
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, patience_ms), 1) << "the shell has the pipe";
  EXPECT_EQ(::waitpid(process, nullptr, WNOHANG), 0) << "the shell is gone";
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ::close(ends[0]);
}

TEST(local_inheritance, is_none_as_this_libc_can) { expect_no_heir(libc_closefrom()); }
TEST(local_inheritance, is_none_without_the_help_of_libc) { expect_no_heir(nullptr); }

}  // namespace
}  // namespace mortise::local_inheritance_test
