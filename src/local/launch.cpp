#include "local/launch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/system/background_process.hpp"
#include "local/supervisor.hpp"

namespace mortise::local {

namespace {

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
  const int error = start_in_background("/bin/sh", arguments.data(), environment.data(),
                                        std::array{lock_fd}, process);
  if (error != 0) {
    auto result = outcome::of(status::unreachable,
                              std::string("local: cannot start /bin/sh: ") + std::strerror(error));
    result.is_retryable = error == EAGAIN || error == ENOMEM;
    return result;
  }
  reap_starter(process, deadline);
  return {};
}

}  // namespace mortise::local
