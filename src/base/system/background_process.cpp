#include "base/system/background_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "base/system/inheritance.hpp"
#include "base/system/private_descriptors.hpp"

namespace mortise {

namespace {

constexpr int first_inherited = 3;
constexpr std::size_t most_inherited = 4;
constexpr int reap_pause_ms = 1;

class spawn_plan {
 public:
  explicit spawn_plan(std::span<const int> inherited) {
    copies_.fill(-1);
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    const int end = first_inherited + static_cast<int>(inherited.size());
    // Copies above all targets, because a program may have closed 0, 1 or 2. Before glibc 2.29 a
    // copy of a descriptor to itself stays close-on-exec.
    for (std::size_t i = 0; i < inherited.size(); ++i) {
      copies_.at(i) = keep_private(::fcntl(inherited[i], F_DUPFD_CLOEXEC, end));
      note(copies_.at(i) < 0 ? errno : 0);
      note(::posix_spawn_file_actions_adddup2(&actions_, copies_.at(i),
                                              first_inherited + static_cast<int>(i)));
    }
    for (int stream = 0; stream < first_inherited; ++stream) {
      note(::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0));
    }
    note(inherit_below(end, actions_, libc_closefrom()));
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A separate session: the terminal's signals do not reach it.
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_plan() {
    for (const int copy : copies_) close_private(copy);
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  int run(pid_t& process, const char* program, char* const* arguments,
          char* const* environment) const {
    if (problem_ != 0) return problem_;
    return ::posix_spawn(&process, program, &actions_, &attributes_, arguments, environment);
  }

 private:
  void note(int error) noexcept {
    if (problem_ == 0) problem_ = error;
  }

  int problem_ = 0;
  std::array<int, most_inherited> copies_{};
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

int start_in_background(const char* program, char* const* arguments, char* const* environment,
                        std::span<const int> inherited, pid_t& process) noexcept {
  if (inherited.size() > most_inherited) return EINVAL;
  return spawn_plan(inherited).run(process, program, arguments, environment);
}

void reap_starter(pid_t process, time_ns deadline) noexcept {
  for (;;) {
    const pid_t ended = ::waitpid(process, nullptr, WNOHANG);
    const bool goes_on = ended == 0 || (ended < 0 && errno == EINTR);
    if (!goes_on || boot_now() >= deadline) return;
    ::poll(nullptr, 0, reap_pause_ms);
  }
}

}  // namespace mortise
