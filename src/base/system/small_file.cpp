#include "base/system/small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/system/descriptor.hpp"
#include "base/text/printable.hpp"

namespace mortise {

namespace {

// A buffer that its destructor overwrites.
class buffer {
 public:
  explicit buffer(std::size_t size) : bytes_(size, '\0') {}
  ~buffer() { ::explicit_bzero(bytes_.data(), bytes_.size()); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  // As read(2), but reads up to the end of the file or of the buffer.
  ssize_t fill(int fd) noexcept {
    std::size_t count = 0;
    while (count < bytes_.size()) {
      const auto got = ::read(fd, bytes_.data() + count, bytes_.size() - count);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -1;
      if (got == 0) break;
      count += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(count);
  }
  [[nodiscard]] std::string_view first(std::size_t count) const noexcept {
    return std::string_view(bytes_).substr(0, count);
  }

 private:
  std::string bytes_;
};

// Root's files are not checked, because a container's secrets belong to root and often have the
// mode 0444.
bool is_too_open(const struct stat& facts) noexcept {
  return facts.st_uid == ::geteuid() && facts.st_uid != 0 &&
         (facts.st_mode & (S_IROTH | S_IWOTH)) != 0;
}

std::string mode_of(const struct stat& facts) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", facts.st_mode & 07777U);
  return text.data();
}

}  // namespace

outcome read_small_file(std::string_view option, const std::string& path, std::size_t most_bytes,
                        file_content kind, secret& content) {
  const auto wrong = [&](std::string_view problem) {
    constexpr std::size_t whole = 4096;
    return outcome::of(status::invalid_argument, option, ": ", printable(path, whole), " ",
                       problem);
  };
  const auto failed = [&](int error) {
    return wrong(std::string("cannot be read: ") + std::strerror(error) +
                 "; give the path of a file that this user may read");
  };
  // Does not wait for the writer of a FIFO. A terminal does not become the controlling terminal.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed(errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return failed(errno);
  if (S_ISDIR(facts.st_mode)) return wrong("is a directory; give the path of a file in it");
  if (!S_ISREG(facts.st_mode)) {
    return wrong(
        "is not a regular file; give the path of a regular file, because a FIFO or a device can "
        "block the reader");
  }
  if (kind == file_content::confidential && is_too_open(facts)) {
    return wrong("has the mode " + mode_of(facts) +
                 ", so every user can read or change it; run chmod o= on it");
  }
  buffer bytes(most_bytes + 1);
  const auto count = bytes.fill(file.get());
  if (count < 0) return failed(errno);
  if (count == 0) return wrong("is empty; write the content into it");
  if (static_cast<std::size_t>(count) > most_bytes) {
    return wrong("has more than " + std::to_string(most_bytes) +
                 " bytes; check the path or give a shorter file");
  }
  content = secret(bytes.first(static_cast<std::size_t>(count)));
  return {};
}

}  // namespace mortise
