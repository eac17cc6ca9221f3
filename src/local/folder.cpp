#include "local/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mortise::local {

namespace {

bool is_own_folder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

outcome refusal(const std::string& path, const std::string& fault, const std::string& remedy) {
  return outcome::of(status::refused, "local: the folder " + path + " " + fault + "; " + remedy +
                                          ", or set MORTISE_LOCAL_DIR to another folder");
}

outcome verify(const std::string& path, int descriptor, bool is_new) {
  struct stat found {};
  // The umask may have removed more than the rights of others.
  if (is_new && ::fchmod(descriptor, 0700) != 0) {
    return refusal(path, std::string("cannot be made private: ") + std::strerror(errno),
                   "remove it");
  }
  if (::fstat(descriptor, &found) != 0) {
    return refusal(path, std::string("cannot be checked: ") + std::strerror(errno), "remove it");
  }
  if (found.st_uid != ::geteuid()) {
    return refusal(path,
                   "belongs to user " + std::to_string(found.st_uid) + ", not to user " +
                       std::to_string(::geteuid()),
                   "ask its owner to remove it");
  }
  if ((found.st_mode & 077U) != 0) {
    return refusal(path, "is accessible to other users",
                   "make it private (chmod 700 " + path + ")");
  }
  return {};
}

}  // namespace

std::string usual_folder() {
  const auto user = std::to_string(::geteuid());
  // After `su` the variable may still name the folder of another user.
  const char* named = ::secure_getenv("XDG_RUNTIME_DIR");
  for (const std::string& base :
       {std::string(named != nullptr ? named : ""), "/run/user/" + user}) {
    if (!base.empty() && base.front() == '/' && is_own_folder(base)) return base + "/mortise";
  }
  return "/tmp/mortise-" + user;
}

outcome open_private_folder(const std::string& path, int& descriptor) {
  if (path.empty() || path.front() != '/') {
    return outcome::of(status::invalid_argument,
                       "MORTISE_LOCAL_DIR is \"" + path + "\"; give the full path of a folder");
  }
  const bool is_new = ::mkdir(path.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) {
    return refusal(path, std::string("cannot be created: ") + std::strerror(errno),
                   "create it (mkdir -m 700 " + path + ")");
  }
  descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    const bool is_other_kind = errno == ENOTDIR || errno == ELOOP;
    return refusal(path,
                   is_other_kind ? "is a link or a file"
                                 : std::string("cannot be opened: ") + std::strerror(errno),
                   is_other_kind ? "remove it" : "make it accessible to its owner (chmod 700)");
  }
  auto result = verify(path, descriptor, is_new);
  if (!result.ok()) {
    ::close(descriptor);
    descriptor = -1;
  }
  return result;
}

}  // namespace mortise::local
