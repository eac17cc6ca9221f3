#include "clock_shim.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

namespace {

constexpr int clock_count = 16;
using shift_table = std::array<std::atomic<mortise::time_ns>, clock_count>;

shift_table own_shifts{};
shift_table* shifts = &own_shifts;

// In a server that has this preloaded: what its test has written into the file counts.
__attribute__((constructor)) void share_shifts() {
  const char* const path = std::getenv("MORTISE_CLOCK_SHIFTS");
  if (path == nullptr) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  void* const room = mmap(nullptr, sizeof(shift_table), PROT_READ, MAP_SHARED, file, 0);
  if (room == MAP_FAILED) std::abort();
  close(file);
  shifts = static_cast<shift_table*>(room);
}

timespec shifted(clockid_t clock, const timespec& real) {
  // It is the same clock, read in another way.
  if (clock == CLOCK_REALTIME_COARSE) clock = CLOCK_REALTIME;
  const auto shift =
      clock >= 0 && clock < clock_count
          ? (*shifts)[static_cast<std::size_t>(clock)].load(std::memory_order_relaxed)
          : 0;
  const auto now = real.tv_sec * mortise::ns_per_s + real.tv_nsec + shift;
  return {now / mortise::ns_per_s, now % mortise::ns_per_s};
}

}  // namespace

// These take the place of the C library's for the whole program.
extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0) *now = shifted(clock, *now);
  return static_cast<int>(result);
}

int gettimeofday(timeval* __restrict now, void* __restrict) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* into) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (into != nullptr) *into = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"

namespace mortise::testing {

void shift_clock(clockid_t clock, time_ns by_ns) {
  shifts->at(static_cast<std::size_t>(clock)).fetch_add(by_ns);
}

}  // namespace mortise::testing
