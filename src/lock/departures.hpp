// The tenures of a gate that are being given back, and the unlocks that wait for that.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lock/gate_listener.hpp"
#include "lock/operations.hpp"
#include "lock/owner.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

struct departure {
  std::unique_ptr<tenure> claim;
  operation* done = nullptr;     // the unlock that waits for it, or nullptr
  lock::owner* owner = nullptr;  // whose unlock that is
  // Where it is counted what becomes of the lock; none where nothing was held.
  statistics::lock_statistics* counts = nullptr;
  bool was_told_sent = false;  // the unlock has ended, so that a failure is the listener's
};

class departures {
 public:
  departures(operations& accepted, gate_listener& listener)
      : operations_(accepted), listener_(listener) {}

  // Room for so many more, so that tenures can be left without memory.
  void reserve(std::size_t more) { departures_.reserve(departures_.size() + more); }
  // These four say what became of the lock: released, handed over, or unknown when no word of it
  // came.
  answer add(departure leaving, time_ns now);
  answer on_answer(std::uint64_t tenure_id, std::uint32_t serial, const step_result& said,
                   time_ns now);
  answer on_timer(time_ns now);
  void on_up(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // That which this unlock waits for, or nullptr.
  [[nodiscard]] departure* of(const operation& unlock) noexcept;
  // Ends the unlock that waits for it, if any. From then on the handle may acquire again, which the
  // end of the departure must not undo.
  void tell(departure& gone, const outcome& how);
  // Those of this handle have nobody to be told any more; of all, and the last word is said at
  // once.
  void forget(const lock::owner& owner);
  void close(time_ns now);
  [[nodiscard]] bool is_empty() const noexcept { return departures_.empty(); }
  // Whether any is one whose answer its unlock would wait for.
  [[nodiscard]] bool are_awaited() const noexcept;

 private:
  void tell_sent(departure& gone);
  answer tell_result(departure& gone);
  answer drop_departed();

  operations& operations_;
  gate_listener& listener_;
  std::vector<departure> departures_;
};

}  // namespace mortise::lock
