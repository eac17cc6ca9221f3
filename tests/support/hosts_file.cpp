#include "support/hosts_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace mortise::testing {

namespace {

constexpr std::string_view name_start = "mortise-";
constexpr std::string_view name_end = ".test";
// An address of IPv4 at its longest. With addresses of one width a change stays in its place.
constexpr std::size_t address_width = 15;

// The process whose name a line ends in; 0 if it ends in no such name.
pid_t process_of(std::string_view line) {
  const auto at = line.rfind(' ');
  if (at == std::string_view::npos) return 0;
  const auto name = line.substr(at + 1);
  if (!name.starts_with(name_start) || !name.ends_with(name_end)) return 0;
  return static_cast<pid_t>(std::atol(name.data() + name_start.size()));
}

bool is_dead(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

// Calls the body with the start and the text of each line, without its end.
template <class Body>
void for_each_line(const std::string& text, Body body) {
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    body(start, std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
}

// Removes the comments at the end that were lines of tests.
void trim(std::string& text) {
  while (!text.empty()) {
    const auto end = text.size() - (text.ends_with('\n') ? 1 : 0);
    const auto before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const auto start = before == std::string::npos ? 0 : before + 1;
    const auto last = std::string_view(text).substr(start, end - start);
    if (!last.starts_with('#') || process_of(last) == 0) return;
    text.resize(start);
  }
}

class open_file {
 public:
  explicit open_file(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) fail("open");
    while (::flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) fail("lock");
    }
  }
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text;
    char chunk[4096];
    for (;;) {
      const auto count = ::pread(fd_, chunk, sizeof chunk, static_cast<off_t>(text.size()));
      if (count < 0) fail("read");
      if (count == 0) return text;
      text.append(chunk, static_cast<std::size_t>(count));
    }
  }

  // In its place, because other namespaces have mounted this file. Only the bytes that differ are
  // written: a reader has no lock.
  void change(const std::string& before, const std::string& after) const {
    const auto shorter = std::min(before.size(), after.size());
    std::size_t start = 0;
    while (start < shorter && before[start] == after[start]) ++start;
    auto end = after.size();
    if (before.size() == after.size()) {
      while (end > start && before[end - 1] == after[end - 1]) --end;
    }
    const auto count = ::pwrite(fd_, after.data() + start, end - start, static_cast<off_t>(start));
    if (count != static_cast<ssize_t>(end - start)) fail("write");
    if (after.size() < before.size() && ::ftruncate(fd_, static_cast<off_t>(after.size())) != 0)
      fail("truncate");
  }

 private:
  [[noreturn]] void fail(const char* step) const {
    throw std::runtime_error(std::string("cannot ") + step + " " + path_ + ": " +
                             std::strerror(errno));
  }

  const std::string path_;
  const int fd_;
};

}  // namespace

std::string hosts_file::own_name() {
  return std::string(name_start) + std::to_string(::getpid()) + std::string(name_end);
}

// A removed line becomes a comment, which is one byte and moves nothing. Comments at the end of the
// file go.
std::string with_lines(std::string text, const std::string& name,
                       const std::vector<std::string>& addresses) {
  std::string lines;
  for (const auto& address : addresses) {
    lines += address + std::string(address_width - std::min(address.size(), address_width), ' ');
    lines += " " + name + "\n";
  }
  std::string own;  // the lines of the name, if these are next to each other
  std::size_t own_start = 0;
  std::vector<std::size_t> removed;
  for_each_line(text, [&](std::size_t start, std::string_view line) {
    if (line.starts_with('#')) return;
    if (line.ends_with(" " + name)) {
      if (own.empty()) own_start = start;
      own.append(line).append("\n");
      removed.push_back(start);
    } else if (const auto process = process_of(line); process != 0 && is_dead(process)) {
      text[start] = '#';
    }
  });
  if (!lines.empty() && own.size() == lines.size() &&
      text.compare(own_start, own.size(), own) == 0) {
    text.replace(own_start, own.size(), lines);
    return text;
  }
  for (const auto start : removed) text[start] = '#';
  trim(text);
  if (!lines.empty() && !text.empty() && !text.ends_with('\n')) text += '\n';
  return text + lines;
}

void hosts_file::lead(const std::string& name, const std::vector<std::string>& addresses) {
  const open_file file(path_);
  const auto before = file.text();
  file.change(before, with_lines(before, name, addresses));
}

}  // namespace mortise::testing
