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

// One step of SplitMix64 (Steele, Lea and Flood, 2014): different inputs have different results.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

thread_identity this_thread() noexcept {
  const auto process = process_mark();
  if (known.process != process) {
    known = {process, {.id = random_number() | 1U, .number = ::syscall(SYS_gettid)}};
  }
  return known.thread;
}

thread_identity task_identity(std::int64_t number) noexcept {
  const auto id = mixed(process_mark() + mixed(static_cast<std::uint64_t>(number)));
  return {.id = id, .number = number, .is_task = true};
}

thread_identity caller_identity(std::int64_t task, bool is_blocking) noexcept {
  if (task != 0) return task_identity(task);
  return is_blocking ? this_thread() : thread_identity();
}

}  // namespace mortise
