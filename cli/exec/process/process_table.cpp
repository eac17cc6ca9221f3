#include "cli/exec/process/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

// A search of the ancestors restarts when one of them ends meanwhile.
constexpr int most_readings = 5;
constexpr int longest_line = 4096;

failure cannot_list(const std::string& problem) {
  return {exit_system, "cannot list processes in /proc: " + problem +
                           "; mount the proc file system of this PID namespace there"};
}

// Bytes of /proc/PROCESS/FILE; -1 with errno.
ssize_t read_file(int folder, pid_t process, const char* file, char* bytes, size_t capacity) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "%d/%s", process, file);
  const int descriptor = ::openat(folder, path.data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  const ssize_t size = ::read(descriptor, bytes, capacity);
  const int problem = errno;
  ::close(descriptor);
  errno = problem;
  return size;
}

}  // namespace

process_table::process_table() {
  folder_ = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw cannot_list(std::strerror(errno));
  reserve();
  const bool is_short = reserved_.back() < 0;
  const int problem = errno;
  std::array<char, 16> self{};
  const ssize_t size = ::readlinkat(folder_, "self", self.data(), self.size() - 1);
  if (!is_short && size > 0 && std::atoi(self.data()) == ::getpid()) return;
  use_reserve();
  ::close(folder_);
  if (is_short) {
    throw failure(exit_system, std::string("cannot reserve descriptors: ") +
                                   std::strerror(problem) + "; raise the limit (ulimit -n)");
  }
  throw cannot_list("this process is missing");
}

process_table::~process_table() {
  use_reserve();
  ::close(folder_);
}

void process_table::reserve() {
  for (auto& one : reserved_) {
    if (one < 0) one = ::fcntl(folder_, F_DUPFD_CLOEXEC, 0);
  }
}

void process_table::use_reserve() {
  for (auto& one : reserved_) {
    if (one >= 0) ::close(one);
    one = -1;
  }
}

// Parses /proc/N/stat: "number (name) state parent …", where the name may contain any bytes.
// Returns no for a missing process.
process_table::answer process_table::read_parent(pid_t process, pid_t& parent) const {
  std::array<char, 512> bytes{};
  const ssize_t size = read_file(folder_, process, "stat", bytes.data(), bytes.size() - 1);
  if (size < 0) return errno == ENOENT || errno == ESRCH ? answer::no : answer::unknown;
  const char* const name_end = std::strrchr(bytes.data(), ')');
  if (name_end == nullptr || name_end + 4 > bytes.data() + size) return answer::unknown;
  parent = static_cast<pid_t>(std::strtol(name_end + 4, nullptr, 10));
  return answer::yes;
}

// Whether the process or one of its ancestors, up to this process, matches.
template <typename predicate>
process_table::answer process_table::has_in_line(pid_t process, predicate is_it) const {
  for (int reading = 0; reading < most_readings; ++reading) {
    if (const auto found = look_in_line(process, is_it)) return *found;
  }
  return answer::unknown;
}

// The same. Returns nullopt if an ancestor ended meanwhile, because its children now have another
// parent.
template <typename predicate>
std::optional<process_table::answer> process_table::look_in_line(pid_t process,
                                                                 predicate is_it) const {
  pid_t one = process;
  for (int length = 0; length < longest_line; ++length) {
    if (is_it(one)) return answer::yes;
    if (one == ::getpid() || one <= 1) return answer::no;
    pid_t parent = 0;
    const auto is_read = read_parent(one, parent);
    if (is_read == answer::unknown) return answer::unknown;
    if (is_read == answer::no && one != process) return {};
    if (is_read == answer::no) return answer::no;
    one = parent;
  }
  return answer::unknown;
}

// Its command line is "/bin/sh", "-c", the script and its name.
bool process_table::is_supervisor(pid_t process) const {
  std::array<char, 16384> bytes{};
  const ssize_t size = read_file(folder_, process, "cmdline", bytes.data(), bytes.size());
  const std::string_view words(bytes.data(), size < 0 ? 0 : static_cast<size_t>(size));
  using namespace std::string_view_literals;
  return words.starts_with("/bin/sh\0-c\0"sv) &&
         words.find("\0mortise-supervisor\0"sv) != std::string_view::npos;
}

process_table::listing process_table::signal_descendants(pid_t spared, int signal) {
  listing found;
  use_reserve();
  if (::lseek(folder_, 0, SEEK_SET) != 0) found.is_whole = false;
  alignas(dirent64) std::array<char, 8192> entries;
  for (;;) {
    const auto size = ::syscall(SYS_getdents64, folder_, entries.data(), entries.size());
    if (size < 0) found.is_whole = false;
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const auto process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      if (process > 0 && process != ::getpid()) visit(process, spared, signal, found);
    }
  }
  reserve();
  return found;
}

void process_table::visit(pid_t process, pid_t spared, int signal, listing& found) const {
  const pid_t self = ::getpid();
  const auto is_ours = has_in_line(process, [self](pid_t one) { return one == self; });
  if (is_ours == answer::unknown) found.is_whole = false;
  if (is_ours != answer::yes) return;
  const auto is_spared = has_in_line(process, [this, self, spared](pid_t one) {
    return one > 1 && one != self && (one == spared || is_supervisor(one));
  });
  if (is_spared == answer::unknown) found.is_whole = false;
  if (is_spared == answer::yes) {
    found.has_spared = true;
    return;
  }
  found.has_others = true;
  pid_t parent = 0;
  if (signal != 0 && read_parent(process, parent) == answer::yes) send(process, parent, signal);
}

// Sends the signal to this process only, not to a later one with the same number. The pidfd refers
// to one process, and its parent confirms that it is the listed one.
void process_table::send(pid_t process, pid_t parent, int signal) const {
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0 && errno == ESRCH) return;
  pid_t current = 0;
  if (read_parent(process, current) == answer::yes && current == parent) {
    // Linux before 5.3 and some sandboxes have no pidfd. The number alone is nearly as safe,
    // because the time for its reuse is short.
    const bool is_sent =
        descriptor >= 0 && ::syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, 0) == 0;
    if (!is_sent && errno != ESRCH) ::kill(process, signal);
  }
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace mortise::cli::exec
