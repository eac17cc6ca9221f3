// One acquire, unlock or extension of a multi_handle: a small state machine that advances when its
// previous step has ended. It runs on the thread that starts it, and then on the I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/handles/multi_handle.hpp"
#include "client/presence/deadlock_search.hpp"
#include "lock/gate/gate.hpp"
#include "net/reactor.hpp"
#include "net/threads/caller.hpp"

namespace mortise::client {

class multi_call final : public std::enable_shared_from_this<multi_call>, private net::task {
 public:
  enum class purpose : std::uint8_t { acquire, try_acquire, unlock, extend };

  multi_call(std::shared_ptr<client> client, std::shared_ptr<multi_handle> owner,
             std::vector<multi_handle::member> members, purpose what, time_ns deadline,
             std::int64_t lease_ms = 0);
  ~multi_call() override;

  // The call ends in an event, or with caller.finish() and result().
  std::unique_ptr<event_node> event;
  std::shared_ptr<event_queue> queue;
  net::caller caller;
  // Of an unlock or an extension: the hold of the multi to which its members' numbers belong.
  std::int64_t hold_number = 0;
  [[nodiscard]] const outcome& result() const noexcept { return result_; }
  [[nodiscard]] purpose what() const noexcept { return what_; }
  // With the numbers of the holds that it acquired or was given.
  [[nodiscard]] const std::vector<multi_handle::member>& members() const noexcept {
    return members_;
  }
  // The kind of its event.
  [[nodiscard]] event_kind end_kind() const noexcept;
  [[nodiscard]] bool is_acquire() const noexcept {
    return what_ == purpose::acquire || what_ == purpose::try_acquire;
  }

  // Whether a wait for a member may end in a deadlock.
  [[nodiscard]] bool fails_in_deadlock() const noexcept;
  void start(std::int64_t task_number);
  // Ends a waiting acquire or an extension with this outcome. False if it no longer waits.
  bool give_up(const outcome& result);
  // The multi was freed: ends the call with `closed`. The releases of an unlock continue.
  void abandon() noexcept;
  // Ends the call now. The I/O thread has ended.
  void close() noexcept;

 private:
  // The open acquire of one member, and the open unlock or extension of one member.
  struct acquire_step final : lock::acquire_operation {
    multi_call* call = nullptr;
    void finish(const outcome& result, std::int64_t token) noexcept override;
  };
  struct member_step final : lock::operation {
    multi_call* call = nullptr;
    std::size_t member = 0;
    void finish(const outcome& result, std::int64_t token) noexcept override;
  };

  void run() noexcept override { advance(); }
  void advance() noexcept;
  // Each function advances as far as possible without waiting. True if it now waits for a step.
  bool acquire_rest();
  bool unlock_all();
  bool extend_all();
  bool end_step();
  bool start_next();
  bool top_up();
  bool start_top_up(member_step& step) noexcept;
  template <class Start>
  void start_all(Start&& start);
  outcome start_unlock(member_step& step) noexcept;
  void abandon_unlocks() noexcept;
  outcome start_extend(member_step& step) noexcept;
  void end_acquire() noexcept;
  [[nodiscard]] bool run_steps(purpose what);
  void step_ended(const outcome& result, std::size_t member) noexcept;
  [[nodiscard]] outcome about(const outcome& result, std::size_t member) const noexcept;
  void finish() noexcept;

  const std::shared_ptr<client> client_;
  const std::shared_ptr<multi_handle> owner_;
  std::vector<multi_handle::member> members_;
  const purpose what_;
  const time_ns deadline_;
  const std::int64_t lease_ms_;  // of an extension

  // Order of locking: this mutex, a gate_driver's, steps_mutex_, the reactor's.
  std::mutex mutex_;
  std::shared_ptr<multi_call> self_;  // while the call is open
  std::size_t acquired_ = 0;          // number of acquired members, from the first
  bool is_started_ = false;           // the acquire step, or all unlock or extension steps
  bool is_over_ = false;
  outcome end_reason_;  // not ok: why the call must end
  acquire_step acquiring_;
  std::optional<deadlock_search::watch> watched_;  // of an acquire for a task, until its end
  bool is_topped_up_ = false;  // acquire: all are held, and short leases are extended
  std::vector<member_step> member_steps_;
  outcome result_;

  std::mutex steps_mutex_;
  std::size_t open_steps_ = 0;
  outcome step_result_;  // of ended steps: a loss, or otherwise the first failure
};

}  // namespace mortise::client
