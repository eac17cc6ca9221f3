#include "bench_process.hpp"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>

#include "harness.hpp"

namespace mortise::bench {

process::process(const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  pid_ = ::fork();
  require(pid_ >= 0, "fork failed");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  int exit_code = 0;
  try {
    body();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench: a child process: %s\n", problem.what());
    exit_code = 1;
  }
  ::_exit(exit_code);
}

process::process(process&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }

process::~process() { kill(); }

void process::stop() const {
  ::kill(pid_, SIGSTOP);
  int state = 0;
  while (::waitpid(pid_, &state, WUNTRACED) < 0 && errno == EINTR) {
  }
}

void process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool process::has_ended(int& exit_code) {
  int state = 0;
  if (pid_ < 0 || ::waitpid(pid_, &state, WNOHANG) != pid_) return false;
  pid_ = -1;
  exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 1;
  return true;
}

void process::join() {
  int state = 0;
  while (::waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  require(WIFEXITED(state) && WEXITSTATUS(state) == 0, "a child process has failed");
}

void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  const timespec limit{0, 100'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace mortise::bench
