#include "cli/exec/process/token_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

failure cannot_write(const std::string& file, const std::string& problem) {
  return {exit_cannot_create, "cannot write --token-file \"" + file + "\": " + problem +
                                  "; the command was not started"};
}

failure cannot_write(const std::string& file, int error) {
  return cannot_write(file, std::string(std::strerror(error)));
}

}  // namespace

token_file::~token_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool token_file::open() {
  mode_t mode = S_IRUSR | S_IWUSR;
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0) {
    if (S_ISLNK(found.st_mode)) {
      throw cannot_write(path_,
                         "it is a symbolic link, which is not followed; give the file itself");
    }
    if (!S_ISREG(found.st_mode)) {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
      if (descriptor_ < 0 && errno != ENXIO) throw cannot_write(path_, errno);
      return descriptor_ >= 0;
    }
    // Its readers can also read the new one.
    if (found.st_uid == ::geteuid()) mode = found.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  } else if (errno != ENOENT) {
    throw cannot_write(path_, errno);
  }
  auto name = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw cannot_write(path_, errno);
  temporary_ = name;
  if (::fchmod(descriptor_, mode) != 0) throw cannot_write(path_, errno);
  return true;
}

void token_file::write(const std::string& text) {
  const auto count = ::write(descriptor_, text.data(), text.size());
  if (count < 0) throw cannot_write(path_, errno);
  if (count != static_cast<ssize_t>(text.size())) throw cannot_write(path_, ENOSPC);
  // Some file systems report a full disk only at the close.
  if (::close(std::exchange(descriptor_, -1)) != 0) throw cannot_write(path_, errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw cannot_write(path_, errno);
  temporary_.clear();
}

}  // namespace mortise::cli::exec
