#include "safety/scarce_memory.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using mortise::testing::whose;

std::atomic<bool> is_scarce{false};
std::atomic<whose> subject{whose::caller};
std::atomic<int> left{0};     // how many succeed before the first that fails
std::atomic<int> to_fail{0};  // how many of them
std::atomic<int> failed{0};

enum class thread_kind : unsigned char { unknown, library, other };
thread_local constinit thread_kind kind = thread_kind::unknown;
thread_local constinit bool is_caller = false;

// The library names its threads as their first action.
bool is_library_thread() {
  if (kind == thread_kind::unknown) {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    kind = std::strncmp(name, "mortise-", 8) == 0 ? thread_kind::library : thread_kind::other;
  }
  return kind == thread_kind::library;
}

bool has_room() {
  if (!is_scarce.load()) return true;
  const auto of = subject.load();
  const bool is_meant =
      (of != whose::library && is_caller) || (of != whose::caller && is_library_thread());
  if (!is_meant || left.fetch_sub(1) > 0 || to_fail.fetch_sub(1) <= 0) return true;
  ++failed;
  return false;
}

}  // namespace

// Not inlined, because GCC otherwise sees a free() of memory that is not from malloc. The other
// forms call these, except a sanitizer's.
void* operator new(std::size_t size) {
  void* const room = has_room() ? std::malloc(size > 0 ? size : 1) : nullptr;
  if (room == nullptr) throw std::bad_alloc();
  return room;
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept try {
  return operator new(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* room) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete(void* room, std::size_t /*size*/) noexcept {
  std::free(room);
}

namespace mortise::testing {

scarcity::scarcity(whose of, int after, int count) {
  subject = of;
  left = after;
  to_fail = count;
  failed = 0;
}

void scarcity::begin() {
  is_caller = true;
  is_scarce = true;
}

void scarcity::end() {
  is_scarce = false;
  is_caller = false;
}

int scarcity::failures() { return failed.load(); }

}  // namespace mortise::testing
