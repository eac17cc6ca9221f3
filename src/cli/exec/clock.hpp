// A timer of CLOCK_BOOTTIME, and this clock: it goes on while the machine sleeps.
#pragma once

#include <cstdint>

namespace mortise::cli::exec {

constexpr int64_t ns_per_ms = 1'000'000;

int64_t now_ns();
// By the calendar, since 1970.
int64_t calendar_now_ms();

class timer {
 public:
  timer();
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Readable from that time on.
  int descriptor() const { return descriptor_; }
  void set(int64_t at_ns);
  void clear();

 private:
  int descriptor_;
};

}  // namespace mortise::cli::exec
