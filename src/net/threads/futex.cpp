#include "net/threads/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace mortise::net {

namespace {

// errno belongs to the caller's thread, which may be about to read it.
class errno_keeper {
 public:
  errno_keeper() noexcept : saved_(errno) {}
  ~errno_keeper() { errno = saved_; }
  errno_keeper(const errno_keeper&) = delete;
  errno_keeper& operator=(const errno_keeper&) = delete;

 private:
  int saved_;
};

void wake(const std::atomic<std::uint32_t>* word, int count) noexcept {
  const errno_keeper keeper;
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                time_ns deadline) noexcept {
  const errno_keeper keeper;
  const time_ns left = std::min(deadline - boot_now(), longest_sleep_ns);
  if (left <= 0) return;
  const timespec timeout{static_cast<std::time_t>(left / ns_per_s),
                         static_cast<long>(left % ns_per_s)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}

void futex_wake_one(const std::atomic<std::uint32_t>* word) noexcept { wake(word, 1); }

void futex_wake_all(const std::atomic<std::uint32_t>* word) noexcept { wake(word, INT_MAX); }

}  // namespace mortise::net
