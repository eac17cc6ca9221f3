#include "support/changing_name.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mortise::testing {

namespace {

constexpr const char* hosts = "/etc/hosts";

std::string content_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool write_to(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto count = ::write(file, text.data(), text.size());
  ::close(file);
  return count == static_cast<ssize_t>(text.size());
}

// As itself, so that everything else stays as it is.
bool enter_user_namespace() {
  const auto user = std::to_string(::geteuid());
  const auto group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return write_to("/proc/self/setgroups", "deny") &&
         write_to("/proc/self/uid_map", user + " " + user + " 1") &&
         write_to("/proc/self/gid_map", group + " " + group + " 1");
}

// Whether this thread has a file of its own there now.
bool mount_own_hosts() {
  char path[] = "/tmp/mortise-hosts-XXXXXX";
  const int file = ::mkstemp(path);
  if (file < 0) return false;
  ::fchmod(file, 0644);
  ::close(file);
  bool is_mounted = write_to(path, content_of(hosts));
  is_mounted = is_mounted && (::unshare(CLONE_NEWNS) == 0 || enter_user_namespace());
  is_mounted = is_mounted && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  is_mounted = is_mounted && ::mount(path, hosts, nullptr, MS_BIND, nullptr) == 0;
  ::unlink(path);
  return is_mounted;
}

}  // namespace

changing_name::changing_name()
    : name_("mortise-" + std::to_string(::getpid()) + ".test"), before_(content_of(hosts)) {
  static const bool has_own_hosts = mount_own_hosts();
  if (!has_own_hosts && ::access(hosts, W_OK) != 0) {
    throw std::runtime_error(
        "a name cannot be led elsewhere: neither a mount namespace nor /etc/hosts is to be had; "
        "allow user namespaces or be root");
  }
}

changing_name::~changing_name() { write({}); }

void changing_name::lead_to(std::initializer_list<std::string_view> addresses) {
  std::string lines;
  for (const auto address : addresses) lines += std::string(address) + " " + name_ + "\n";
  write(lines);
}

// In place, because what is mounted is this file. Whoever reads it meanwhile finds no less of the
// other lines than before; a line that is cut short leads nowhere, and is looked for again.
void changing_name::write(const std::string& lines) {
  const auto text = before_ + (before_.ends_with('\n') ? "" : "\n") + lines;
  if (!write_to(hosts, text) || ::truncate(hosts, static_cast<off_t>(text.size())) != 0)
    std::abort();
}

}  // namespace mortise::testing
