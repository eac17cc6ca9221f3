// What became of one connection to a server, across its reconnects.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "statistics/counter.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::statistics {

class connection_statistics {
 public:
  void answered(time_ns took) noexcept { round_trips_.note(took); }
  // It can be used, and why the one before had ended, nullptr for the first; and not any more, for
  // this reason. The I/O thread.
  const char* came_up() noexcept;
  void went_down(const outcome& why) noexcept;
  // Begins at zero, for another server. While the connection rests.
  void reset() noexcept;

  // As that of a server of this name.
  void add_to(snapshot& into, std::string_view server) const;

 private:
  histogram round_trips_;
  std::atomic<bool> is_up_{false};
  std::size_t ended_by_ = 0;
  bool has_ended_ = false;
  std::array<counter, 4> reconnects_;  // by why the one before had ended
};

}  // namespace mortise::statistics
