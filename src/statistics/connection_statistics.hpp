// Statistics of one connection to a server, across its reconnects.
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
  // came_up() returns why the previous connection ended, or nullptr for the first. went_down()
  // records the reason. Both run on the I/O thread.
  const char* came_up() noexcept;
  void went_down(const outcome& why) noexcept;
  // Resets the counts for another server, while there is no connection.
  void reset() noexcept;

  // Adds the counts under this name of the server.
  void add_to(snapshot& target, std::string_view server) const;

 private:
  histogram round_trips_;
  std::atomic<bool> is_up_{false};
  std::size_t ended_by_ = 0;
  bool has_ended_ = false;
  std::array<counter, 4> reconnects_;  // by the reason of the previous disconnect
};

}  // namespace mortise::statistics
