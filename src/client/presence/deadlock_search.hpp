// Ends waits with the option `deadlock=fail` that are in a deadlock. It takes listings on a thread
// of its own, which the first long wait of that kind starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "client/events/observer.hpp"
#include "lock/gate/gate_report.hpp"
#include "protocol/listing/wait_graph.hpp"

namespace mortise::client {

class client;
class gate_driver;

class deadlock_search final : public observed,
                              public std::enable_shared_from_this<deadlock_search> {
 public:
  // A wait that ends within this time costs no request.
  static constexpr time_ns patience_ns = ns_per_s;

  explicit deadlock_search(client& owner);
  // While this object lives, the search looks for deadlocks.
  class watch final {
   public:
    // A wait that is long already is looked at now.
    watch(deadlock_search& search, bool is_long) : search_(search) { search_.begin_wait(is_long); }
    ~watch() { search_.end_wait(); }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

   private:
    deadlock_search& search_;
  };
  // Ends the thread, and waits for it. Its listing ends with the servers of the client.
  void end() noexcept { observer_.end(); }
  // When a wait began, for all clients: a time of the host's clock that a later step of that clock
  // does not change. So it also identifies the wait.
  [[nodiscard]] std::int64_t shared_us(time_ns began) const noexcept {
    return (began + wall_offset_ns_) / ns_per_us;
  }

 private:
  // A wait of this client that may be ended.
  struct candidate {
    std::uint64_t gate_id = 0;
    std::uint64_t thread_id = 0;
    time_ns began = 0;
  };

  void begin_wait(bool is_long) noexcept;
  void end_wait() noexcept;
  void look() noexcept override;
  [[nodiscard]] bool is_due(time_ns now);
  void plan_next(std::int64_t clients, bool has_short_wait);
  [[nodiscard]] std::vector<candidate> candidates(bool& has_short_wait);
  // Returns the number of clients that have answered.
  std::int64_t end_victims(const std::vector<candidate>& own);
  void end_wait_of(const candidate& victim, const protocol::wait_graph& graph,
                   const protocol::wait_graph::deadlock& circle);
  [[nodiscard]] std::int64_t capacity_of(const std::string& semaphore, time_ns deadline);

  client& client_;
  const time_ns wall_offset_ns_;
  const std::string no_key_;  // it looks for all locks
  observer observer_;
  std::mutex mutex_;  // protects the members below
  std::size_t waits_ = 0;
  bool is_searching_ = false;  // the thread looks at intervals
  bool has_new_wait_ = false;  // since the last listing
  time_ns last_look_ = 0;
  time_ns shortest_ns_ = 0;  // the pause after it, for a new wait
  time_ns pause_ns_ = 0;     // the pause after it, for the others
};

}  // namespace mortise::client
