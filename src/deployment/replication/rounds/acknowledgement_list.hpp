// Replies that count after replicas have acknowledged the data, in their order.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/fifo.hpp"
#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::deployment {

class unacknowledged : public fifo_link<unacknowledged> {
 public:
  virtual ~unacknowledged() = default;

 private:
  friend class acknowledgements;
  friend class acknowledgement_rounds;
  friend class acknowledgement_list;
  // Each wait ends with one of these calls, on any thread, without an engine lock held. ok: enough
  // replicas have the data.
  virtual void on_acknowledged(const outcome& result, time_ns now) noexcept = 0;
  // The server was lost, so the outcome is unknown.
  virtual void on_server_lost(time_ns now) noexcept = 0;

  time_ns deadline_ = 0;
  std::string_view place_;  // of its lock, see protocol::place_of
};

class acknowledgement_list : public fifo<unacknowledged> {
 public:
  // Moves the items for which `predicate` returns true to another list.
  template <class Predicate>
  void part(acknowledgement_list& target, Predicate&& predicate) noexcept {
    acknowledgement_list kept;
    while (auto* const item = pop()) (predicate(*item) ? target : kept).push(*item);
    std::swap(*this, kept);
  }
  [[nodiscard]] time_ns earliest_deadline() const noexcept {
    auto at = time_never;
    for (const auto* item = first(); item != nullptr; item = next(*item)) {
      at = std::min(at, item->deadline_);
    }
    return at;
  }
  [[nodiscard]] time_ns latest_deadline() const noexcept {
    time_ns at = 0;
    for (const auto* item = first(); item != nullptr; item = next(*item)) {
      at = std::max(at, item->deadline_);
    }
    return at;
  }
};

}  // namespace mortise::deployment
