#include "local/local_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/system/descriptor.hpp"
#include "local/folder.hpp"
#include "local/launch.hpp"
#include "net/dial/address.hpp"

namespace mortise::local {

namespace {

// Each probe is a connection for a server that starts. Many processes that probe without a longer
// pause keep it from answering its supervisor.
constexpr int first_pause_ms = 2;
constexpr int longest_pause_ms = 64;
constexpr int max_idle_s = 86'400;
constexpr const char* usual_programs = "/usr/local/bin:/usr/bin:/usr/sbin:/bin";

enum class presence { accepts, absent, unclear };

// Whether a server listens there. On `unclear`, errno has the reason.
presence probe(const net::address& where) {
  const descriptor probe_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe_fd.get() < 0) return presence::unclear;
  if (::connect(probe_fd.get(), where.raw(), where.size()) == 0) return presence::accepts;
  // Its queue of new connections is full, so a server listens.
  if (errno == EAGAIN) return presence::accepts;
  return errno == ENOENT || errno == ECONNREFUSED ? presence::absent : presence::unclear;
}

outcome system_failure(const std::string& what, int error) {
  auto result = outcome::of(status::unreachable, "local: " + what + ": " + std::strerror(error));
  result.is_retryable = error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
  return result;
}

// The last line that the server wrote before it died.
std::string last_log_line(int folder_fd) {
  const descriptor log(::openat(folder_fd, "local.log", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (log.get() < 0) return {};
  std::array<char, 512> tail{};
  const off_t size = ::lseek(log.get(), 0, SEEK_END);
  const off_t start = std::max<off_t>(0, size - static_cast<off_t>(tail.size()));
  const auto count = ::pread(log.get(), tail.data(), tail.size(), start);
  if (count <= 0) return {};
  std::string_view text(tail.data(), static_cast<std::size_t>(count));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const auto line = text.rfind('\n');
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

// One attempt to find or start the server. Many processes may attempt this at the same time.
class starter {
 public:
  starter(const local_settings& settings, time_ns deadline)
      : settings_(settings), deadline_(deadline), socket_path_(settings.folder + "/local.sock") {}

  outcome run(std::string& socket_path);

 private:
  // Ok with is_running_ when the server accepts connections. Ok without it when another step is
  // needed.
  outcome step();
  bool take_lock(int mode);
  void release_lock();
  outcome start();
  bool bring_back_socket() const;
  [[nodiscard]] outcome start_failure() const;

  const local_settings& settings_;
  const time_ns deadline_;
  const std::string socket_path_;
  net::address where_;
  descriptor folder_;
  descriptor lock_;
  bool has_started_ = false;
  bool is_running_ = false;
};

outcome starter::run(std::string& socket_path) {
  if (!net::address::from_path(socket_path_, where_)) {
    return outcome::of(status::invalid_argument,
                       "local: the path " + socket_path_ +
                           " is longer than 107 bytes, the maximum for a unix socket; set "
                           "MORTISE_LOCAL_DIR to a shorter path");
  }
  for (int pause_ms = first_pause_ms;; pause_ms = std::min(2 * pause_ms, longest_pause_ms)) {
    if (auto result = step(); !result.ok()) return result;
    if (is_running_) {
      socket_path = socket_path_;
      return {};
    }
    if (boot_now() >= deadline_) {
      auto result = outcome::of(status::unreachable, "local: no server accepts connections at " +
                                                         socket_path_ + " yet; try again");
      result.is_retryable = true;
      return result;
    }
    ::poll(nullptr, 0, pause_ms);
  }
}

outcome starter::step() {
  // Opened again at each step: the folder may have been removed meanwhile, with the lock in it.
  int folder = -1;
  if (auto result = open_private_folder(settings_.folder, folder); !result.ok()) return result;
  folder_.reset(folder);
  const presence found = probe(where_);
  if (found == presence::unclear) return system_failure("cannot connect to " + socket_path_, errno);
  const bool is_there = found == presence::accepts;
  if (!take_lock(is_there ? LOCK_SH : LOCK_EX)) {
    const bool is_passing = errno == EWOULDBLOCK || errno == EINTR || errno == ENOENT;
    return is_passing ? outcome{}
                      : system_failure("cannot lock " + settings_.folder + "/local.lock", errno);
  }
  // Certain only under the lock: no other process has started the server since, and its supervisor
  // is not about to end it. The supervisor notices this connection before its next idle check.
  outcome result;
  const presence confirmed = probe(where_);
  is_running_ = confirmed == presence::accepts;
  if (confirmed == presence::absent && !is_there) {
    result = has_started_ ? start_failure() : start();
  }
  release_lock();
  return result;
}

// On false errno has the reason: EWOULDBLOCK when another process holds the lock.
bool starter::take_lock(int mode) {
  lock_.reset(
      ::openat(folder_.get(), "local.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock_.get() < 0 || ::flock(lock_.get(), mode | LOCK_NB) != 0) return false;
  struct stat found {};
  if (::fstat(lock_.get(), &found) == 0 && found.st_nlink > 0) return true;
  // The file was removed between the open and the flock. Other processes may lock its successor.
  errno = ENOENT;
  return false;
}

// Unlocks explicitly: a child that was forked meanwhile may hold a copy of the descriptor.
void starter::release_lock() {
  if (lock_.get() >= 0) ::flock(lock_.get(), LOCK_UN);
  lock_.close();
}

outcome starter::start() {
  if (bring_back_socket()) return {};
  has_started_ = true;
  ::unlinkat(folder_.get(), "local.sock", 0);
  auto result = launch_supervisor(settings_, lock_.get(), deadline_);
  // The supervisor has inherited the lock, and releases it when the server answers or is dead.
  if (result.ok()) lock_.close();
  return result;
}

// A supervisor that was killed during its idle check leaves its server under another name, perhaps
// with locks in it.
bool starter::bring_back_socket() const {
  net::address hidden;
  if (!net::address::from_path(settings_.folder + "/local.hidden", hidden)) return false;
  if (probe(hidden) == presence::accepts) {
    return ::renameat(folder_.get(), "local.hidden", folder_.get(), "local.sock") == 0;
  }
  ::unlinkat(folder_.get(), "local.hidden", 0);
  return false;
}

outcome starter::start_failure() const {
  const auto words = last_log_line(folder_.get());
  return outcome::of(status::unreachable, "local: the server did not start" +
                                              (words.empty() ? "" : ": " + words) +
                                              "; its log is " + settings_.folder + "/local.log");
}

int idle_from(const char* text) {
  int idle_s = 0;
  if (text == nullptr) return local_settings{}.idle_s;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), idle_s);
  const bool is_good = error == std::errc{} && *end == '\0' && idle_s >= 1 && idle_s <= max_idle_s;
  return is_good ? idle_s : local_settings{}.idle_s;
}

}  // namespace

local_settings local_settings::from_environment() {
  local_settings settings;
  const char* folder = ::secure_getenv("MORTISE_LOCAL_DIR");
  settings.folder = folder != nullptr && *folder != '\0' ? folder : usual_folder();
  const char* path = ::secure_getenv("PATH");
  if (path != nullptr && *path != '\0') settings.search_path = std::string(path) + ":";
  settings.search_path += usual_programs;
  settings.idle_s = idle_from(::secure_getenv("MORTISE_LOCAL_IDLE_S"));
  return settings;
}

outcome ensure_local_server(const local_settings& settings, time_ns deadline,
                            std::string& socket_path) {
  return starter(settings, deadline).run(socket_path);
}

outcome ensure_local_server(time_ns deadline, std::string& socket_path) {
  return ensure_local_server(local_settings::from_environment(), deadline, socket_path);
}

}  // namespace mortise::local
