#include "cli/exec/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mortise::cli::exec {
namespace {

struct folder_closer {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

std::string contents_of(pid_t process, const char* file) {
  const auto path = "/proc/" + std::to_string(process) + "/" + file;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::array<char, 1024> bytes{};
  const auto size = ::read(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  return {bytes.data(), size < 0 ? 0 : static_cast<size_t>(size)};
}

// Of /proc/N/stat: "number (name) state parent …", where the name may contain anything.
std::optional<pid_t> parent_of(pid_t process) {
  const auto stat = contents_of(process, "stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return {};
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

std::unordered_multimap<pid_t, pid_t> children_by_parent() {
  std::unordered_multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, folder_closer> processes(::opendir("/proc"));
  if (!processes) return children;
  while (const auto* entry = ::readdir(processes.get())) {
    const auto process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (process <= 0) continue;
    if (const auto parent = parent_of(process)) children.emplace(*parent, process);
  }
  return children;
}

}  // namespace

std::vector<relative> descendants_of(pid_t root, const std::function<bool(pid_t)>& is_spared) {
  const auto children = children_by_parent();
  std::vector<relative> found = {{root, 0}};
  for (size_t next = 0; next < found.size(); ++next) {
    const pid_t parent = found[next].process;
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (!is_spared(child->second)) found.push_back({child->second, parent});
    }
  }
  found.erase(found.begin());
  return found;
}

void send_to(const relative& one, int signal) {
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, one.process, 0));
  if (descriptor < 0) return;
  // The descriptor is of whoever has the number now; it is the one we mean if its parent is.
  if (parent_of(one.process) == one.parent) {
    ::syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, 0);
  }
  ::close(descriptor);
}

bool is_supervisor(pid_t process) {
  // Its words are "/bin/sh", "-c", the script and the name that it goes by.
  const auto path = "/proc/" + std::to_string(process) + "/cmdline";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  std::array<char, 16384> bytes{};
  const auto size = ::read(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  const std::string_view words(bytes.data(), size < 0 ? 0 : static_cast<size_t>(size));
  using namespace std::string_view_literals;
  return words.starts_with("/bin/sh\0-c\0"sv) &&
         words.find("\0mortise-supervisor\0"sv) != std::string_view::npos;
}

}  // namespace mortise::cli::exec
