#include "local/launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/system/descriptor.hpp"
#include "local/inheritance.hpp"
#include "local/supervisor.hpp"

namespace mortise::local {

namespace {

constexpr int supervisor_lock_fd = 3;
constexpr int reap_pause_ms = 1;

bool is_program(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// The full path of the first program found, or "". Folders relative to the current one are skipped:
// a library must not run a program from an arbitrary folder.
std::string find_program(std::initializer_list<const char*> names, std::string_view search_path) {
  for (const char* name : names) {
    for (std::size_t start = 0; start <= search_path.size();) {
      const auto end = std::min(search_path.find(':', start), search_path.size());
      const auto folder = search_path.substr(start, end - start);
      start = end + 1;
      if (folder.empty() || folder.front() != '/') continue;
      auto path = std::string(folder) + "/" + name;
      if (is_program(path)) return path;
    }
  }
  return {};
}

outcome missing(const char* what, const char* remedy) {
  return outcome::of(status::unreachable, std::string("local: ") + what + " is not installed; " +
                                              remedy + " or give a redis:// URL");
}

// The inheritance of the supervisor: its standard streams are null. It inherits no descriptor of
// the program but the lock, and no signal settings.
class spawn_plan {
 public:
  explicit spawn_plan(int lock_fd) {
    ::posix_spawn_file_actions_init(&actions_);
    // Before glibc 2.29 a copy of a descriptor to itself stays close-on-exec.
    if (lock_fd == supervisor_lock_fd) {
      other_lock_.reset(::fcntl(lock_fd, F_DUPFD_CLOEXEC, supervisor_lock_fd + 1));
      lock_fd = other_lock_.get();
    }
    if (lock_fd < 0) problem_ = errno;
    // Comes first, because the lock may be 0, 1 or 2 if the program has closed those.
    ::posix_spawn_file_actions_adddup2(&actions_, lock_fd, supervisor_lock_fd);
    for (int stream = 0; stream < supervisor_lock_fd; ++stream) {
      ::posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
    }
    const int inherited = inherit_below(supervisor_lock_fd + 1, actions_, libc_closefrom());
    if (problem_ == 0) problem_ = inherited;
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A separate session: the terminal's signals do not reach it.
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_plan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  // Returns 0 or an errno.
  int run(pid_t& process, char* const* arguments, char* const* environment) const {
    if (problem_ != 0) return problem_;
    return ::posix_spawn(&process, "/bin/sh", &actions_, &attributes_, arguments, environment);
  }

 private:
  int problem_ = 0;
  descriptor other_lock_;
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// The direct child ends as soon as it has put itself into the background. If the program ignores or
// collects SIGCHLD, waitpid fails (ECHILD).
void reap(pid_t process, time_ns deadline) {
  for (;;) {
    const pid_t ended = ::waitpid(process, nullptr, WNOHANG);
    const bool goes_on = ended == 0 || (ended < 0 && errno == EINTR);
    if (!goes_on || boot_now() >= deadline) return;
    ::poll(nullptr, 0, reap_pause_ms);
  }
}

}  // namespace

outcome launch_supervisor(const local_settings& settings, int lock_fd, time_ns deadline) {
  auto server = find_program({"valkey-server", "redis-server"}, settings.search_path);
  if (server.empty()) {
    return missing("redis-server or valkey-server", "install it (apt-get install redis-server)");
  }
  auto client = find_program({"valkey-cli", "redis-cli"}, settings.search_path);
  if (client.empty()) {
    return missing("redis-cli or valkey-cli, which watches the server,",
                   "install it (apt-get install redis-tools)");
  }
  std::string script = supervisor_script;
  std::string folder = settings.folder;
  auto idle = std::to_string(settings.idle_s);
  std::array<std::string, 3> names = {"/bin/sh", "-c", "mortise-supervisor"};
  const std::array<char*, 9> arguments = {names[0].data(), names[1].data(), script.data(),
                                          names[2].data(), folder.data(),   server.data(),
                                          client.data(),   idle.data(),     nullptr};
  // The program's environment is not inherited: it may preload libraries or hold secrets.
  auto path = "PATH=" + settings.search_path;
  std::string locale = "LC_ALL=C";
  const std::array<char*, 3> environment = {path.data(), locale.data(), nullptr};

  pid_t process = -1;
  const spawn_plan plan(lock_fd);
  if (const int error = plan.run(process, arguments.data(), environment.data()); error != 0) {
    auto result = outcome::of(status::unreachable,
                              std::string("local: cannot start /bin/sh: ") + std::strerror(error));
    result.is_retryable = error == EAGAIN || error == ENOMEM;
    return result;
  }
  reap(process, deadline);
  return {};
}

}  // namespace mortise::local
