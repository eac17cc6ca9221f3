// A file descriptor that its destructor closes.
#pragma once

#include <unistd.h>

namespace mortise {

class descriptor {
 public:
  explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  void close() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void reset(int fd) noexcept {
    close();
    fd_ = fd;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace mortise
