// Memory that runs out where a test decides: this program's operator new counts, and fails. Other
// threads of the program, such as proxies, always have memory.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace mortise::testing {

enum class whose {
  caller,   // of the thread that asks for scarcity
  library,  // of the library's own threads
  both,
};

// From begin() to end(), or its own end, `after` allocations succeed and the next `count` fail.
// There is one at a time.
class scarcity {
 public:
  static constexpr int all = 1'000'000'000;

  explicit scarcity(whose subject, int after = 0, int count = all);
  ~scarcity() { end(); }
  scarcity(const scarcity&) = delete;
  scarcity& operator=(const scarcity&) = delete;

  void begin();
  void end();
  // The number of failed allocations; also after its end.
  [[nodiscard]] static int failures();
};

// Runs `scenario(memory)` again and again: each time another allocation fails, first alone, then
// with some behind it, until there is none left to fail. Returns how many have failed.
template <class Scenario>
int sweep(whose subject, Scenario&& scenario) {
  constexpr int outage = 4;
  int total = 0;
  for (const int count : {1, outage}) {
    for (int after = 0;; ++after) {
      SCOPED_TRACE("allocation " + std::to_string(after) + ", " + std::to_string(count) + " fail");
      {
        scarcity memory(subject, after, count);
        scenario(memory);
      }
      total += scarcity::failures();
      if (scarcity::failures() == 0 || ::testing::Test::HasFailure()) break;
    }
  }
  return total;
}

}  // namespace mortise::testing
