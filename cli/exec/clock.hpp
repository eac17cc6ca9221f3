// A timer of CLOCK_BOOTTIME, and this clock. It continues while the machine is suspended.
#pragma once

#include <cstdint>

namespace mortise::cli::exec {

constexpr int64_t ns_per_ms = 1'000'000;

int64_t now_ns();
// Wall-clock time since 1970.
int64_t calendar_now_ms();

class timer {
 public:
  timer();
  ~timer();
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Readable after the timer's time.
  int descriptor() const { return descriptor_; }
  void set(int64_t at_ns);
  void clear();

 private:
  int descriptor_;
};

}  // namespace mortise::cli::exec
