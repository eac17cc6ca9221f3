// One user of one handle: acquires, checks, holds, extends and unlocks at random, and knows what
// the library has promised each time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lock/gate/gate.hpp"
#include "simulation/lock/simulated_client.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

enum class purpose : std::uint8_t { unlock, extend, raise, lower, value };

class user {
 public:
  user(simulated_client& client, const named_lock& of, bool is_strict, int number,
       std::int64_t lease_ms);

  void start();
  // Stops making new attempts; unlocks what it holds.
  void retire() { is_retired_ = true; }
  // Ends the wait, if it waits.
  void give_up() {
    if (is_busy()) give_up(*wait_, status::cancelled);
  }
  // Looks at the hold; after every step of the gate.
  void observe(time_ns local_now);
  void on_lost();
  void on_at_risk();
  void on_contended();
  // The process died or the client was freed: whatever was held is over.
  void on_end();

  [[nodiscard]] lock::owner& owner() { return *owner_; }
  // nullptr between two handles.
  [[nodiscard]] const std::shared_ptr<simulated_gate_driver>& gate_driver() const {
    return gate_driver_;
  }
  [[nodiscard]] bool is_strict() const { return is_strict_; }
  [[nodiscard]] bool is_holding() const { return hold_.is_active && !hold_.is_over; }
  // The same at this moment, even without a look since.
  [[nodiscard]] bool holds_now() const { return is_holding() && client_.now() < hold_.valid_until; }
  // The last moment at which it did; true time.
  [[nodiscard]] time_ns last_held() const { return holds_now() ? world_.time.now() : last_held_; }
  [[nodiscard]] const simulated_client& client() const { return client_; }
  [[nodiscard]] const std::string& name() const { return lock_.name; }
  [[nodiscard]] bool is_busy() const { return wait_ != nullptr && !wait_->is_finished; }
  // Waits with an acquire that the gate has accepted, and since when (true time).
  [[nodiscard]] bool is_waiting() const { return is_busy() && !wait_->is_try; }
  [[nodiscard]] time_ns waiting_since() const { return wait_->accepted_at; }
  // Since when it has held without the report of waiters that it asks for (true time); time_never
  // after the report and without such a hold.
  [[nodiscard]] time_ns uncontended_since() const {
    const bool is_due = is_holding() && owner_->reports_contention && !hold_.is_contended;
    return is_due ? hold_.granted : time_never;
  }
  [[nodiscard]] const std::string& describe() const { return label_; }
  // The beginning of each value of the present hold.
  [[nodiscard]] std::string value_start() const {
    return label_ + " hold " + std::to_string(holds_) + " value ";
  }
  [[nodiscard]] bool is_settled() const;
  void check_poison();

 private:
  struct operation_facts {
    bool is_accepted = false;
    bool is_finished = false;
    time_ns accepted_at = 0;   // true time
    time_ns due = time_never;  // local
  };
  struct acquiring_operation final : lock::acquire_operation, operation_facts {
    explicit acquiring_operation(user& by) : by_(by) {}
    void finish(const outcome& result, std::int64_t token) noexcept override;
    user& by_;
  };
  struct other_operation final : lock::operation, operation_facts {
    other_operation(user& by, purpose why) : by_(by), why_(why) {}
    void finish(const outcome& result, std::int64_t token) noexcept override;
    user& by_;
    purpose why_;
    time_ns valid_before = 0;  // unlock, local
    time_ns target = 0;        // extend, local
    std::int64_t hold = 0;     // extend
  };
  struct hold {
    bool is_active = false;
    bool is_over = false;  // by its deadline, its loss or its unlock
    bool is_loss_reported = false;
    bool is_contended = false;   // waiters were reported
    std::array<int, 2> depth{};  // by mode
    std::int64_t number = 0;
    std::int64_t permits = 1;
    std::int64_t token = 0;
    time_ns start = 0;        // true
    time_ns accepted_at = 0;  // true
    time_ns granted = 0;      // when all of it began, also before it was raised or lowered
    time_ns valid_until = 0;  // local
    time_ns promised = 0;     // by an extension, local
    time_ns reported = 0;     // the last progress, local
    std::string claim;        // its owner token, if it is in a trace
  };
  static constexpr std::int64_t poison = -0x7777777777;

  void later(time_ns delay, void (user::*what)());
  void act();
  void act_again();
  [[nodiscard]] lock::amount choose_amount();
  void change_mode();
  void raise();
  void lower();
  void on_raised(const outcome& result, std::int64_t token);
  // A hold goes on with another permits from now on.
  void change_hold(std::int64_t permits, lock::hold_mode mode);
  void record_hold(time_ns end);
  void trace_deadline(time_ns valid_until);
  int& depth(lock::hold_mode mode) { return hold_.depth[static_cast<std::size_t>(mode)]; }
  [[nodiscard]] bool is_only(lock::hold_mode mode) const {
    return hold_.depth[static_cast<std::size_t>(mode)] == 1 && hold_.depth[0] + hold_.depth[1] == 1;
  }
  void acquire();
  void watch_deadline(acquiring_operation& operation);
  void give_up_at(acquiring_operation& operation, time_ns local, status why);
  void renew_handle();
  void on_acquired(acquiring_operation& done, const outcome& result, std::int64_t token);
  void on_other(other_operation& done, const outcome& result, std::int64_t token);
  void on_unlocked(const other_operation& done, const outcome& result);
  bool check_finish(operation_facts& facts, const char* what);
  void give_up(acquiring_operation& operation, status why);
  void live_with_hold();
  void unlock();
  void extend();
  [[nodiscard]] bool may_export() const;
  void export_hold();
  void adopt(acquiring_operation& operation);
  void note_progress();
  void check_progress(time_ns valid_until) const;
  void set_value();
  void on_value(const other_operation& done, const outcome& result);
  void forget();
  void end_hold(time_ns at);
  void check_sharing();
  void count_result(const outcome& result);
  void violate(const std::string& what) const;

  simulated_client& client_;
  const named_lock lock_;
  const bool is_strict_;
  std::shared_ptr<simulated_gate_driver> gate_driver_;
  world& world_;
  const std::string label_;
  const std::int64_t lease_ms_;
  const bool reports_progress_;
  const int number_;
  const bool reports_contention_;
  const bool exports_;
  std::unique_ptr<lock::owner> owner_;
  std::vector<std::unique_ptr<lock::owner>> forgotten_;
  std::vector<std::unique_ptr<acquiring_operation>> acquires_;
  std::vector<std::unique_ptr<other_operation>> others_;
  acquiring_operation* wait_ = nullptr;
  hold hold_;
  std::int64_t holds_ = 0;
  std::int64_t values_ = 0;
  bool is_raising_ = false;
  time_ns last_held_ = 0;  // true time
  bool is_retired_ = false;
  bool is_forgetting_ = false;
  bool is_export_refused_ = false;  // other readers share the claim
};

}  // namespace mortise::simulation
