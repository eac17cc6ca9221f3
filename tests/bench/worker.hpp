// A process that executes steps with locks, one after the other, and reports when each step began
// and ended. It can be killed and stopped in the middle of a step.
#pragma once

#include <cstdint>
#include <string>

#include "bench_process.hpp"

namespace mortise::bench {

enum class act : std::uint32_t { none, acquire, enqueue, unlock };

class worker {
 public:
  // `owners` clients with a handle of this name each. Returns when all are connected.
  worker(std::string url, std::string name, std::string options, int owners = 1);

  // Begins a step: acquire (waits for its turn), enqueue (all owners wait; the step ends at once),
  // or unlock.
  void begin(act what);
  // Waits for its end; throws when it failed.
  void finish();
  void perform(act what) {
    begin(what);
    finish();
  }

  [[nodiscard]] std::int64_t began_ns() const { return board_->began_ns; }
  [[nodiscard]] std::int64_t ended_ns() const { return board_->ended_ns; }

  void stop() const { process_.stop(); }
  void kill() { process_.kill(); }

 private:
  struct notice_board {
    std::atomic<std::uint32_t> step_count{0};  // how many steps; the child counts along
    std::atomic<std::uint32_t> done{0};
    std::atomic<act> what{act::none};
    std::atomic<std::int64_t> began_ns{0};
    std::atomic<std::int64_t> ended_ns{0};
  };

  void run() const;

  std::string url_;
  std::string name_;
  std::string options_;
  int owners_;
  shared<notice_board> board_;
  process process_;
};

}  // namespace mortise::bench
