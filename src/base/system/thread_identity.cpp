#include "base/system/thread_identity.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/random.hpp"
#include "base/system/fork.hpp"

namespace mortise {

namespace {

struct known_identity {
  std::uint64_t process = 0;  // the mark of the process that has drawn it
  thread_identity thread;
};
constinit thread_local known_identity known;

}  // namespace

thread_identity this_thread() noexcept {
  const auto process = process_mark();
  if (known.process != process) {
    known = {process, {random_number() | 1U, ::syscall(SYS_gettid)}};
  }
  return known.thread;
}

}  // namespace mortise
