#include "support/changing_name.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "support/hosts_file.hpp"

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

// As the same user, so that everything else stays as it is.
bool enter_user_namespace() {
  const auto user = std::to_string(::geteuid());
  const auto group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return write_to("/proc/self/setgroups", "deny") &&
         write_to("/proc/self/uid_map", user + " " + user + " 1") &&
         write_to("/proc/self/gid_map", group + " " + group + " 1");
}

// Whether this thread has a file of its own there now. In a chroot it has none: its root is no
// mount point, so the mount would be visible outside.
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

std::string find_obstacle() {
  if (mount_own_hosts()) return {};
  if (::access(hosts, W_OK) == 0) return {};
  const std::string reason = std::strerror(errno);
  return "no mount namespace can be made, and " + std::string(hosts) +
         " cannot be written: " + reason + "; allow user namespaces or run as root";
}

}  // namespace

const std::string& changing_name::obstacle() {
  static const std::string found = find_obstacle();
  return found;
}

changing_name::changing_name() : name_(hosts_file::own_name()) { obstacle(); }

changing_name::~changing_name() {
  if (!obstacle().empty()) return;
  try {
    hosts_file(hosts).lead(name_, {});
  } catch (const std::runtime_error& error) {
    std::cerr << "a line of " << name_ << " remains: " << error.what() << '\n';
  }
}

void changing_name::lead_to(std::initializer_list<std::string_view> addresses) {
  if (!obstacle().empty()) throw std::runtime_error(obstacle());
  hosts_file(hosts).lead(name_, std::vector<std::string>(addresses.begin(), addresses.end()));
}

}  // namespace mortise::testing
