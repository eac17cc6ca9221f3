// A handle of any kind of lock: one owner of one name, and what its user can ask of it. A mutex and
// a writer acquire the whole lock; a reader and who takes permits acquire a part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "client/event_queue.hpp"
#include "lock/owner.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::lock {
class acquire_operation;
class gate;
class operation;
}  // namespace mortise::lock
namespace mortise::protocol {
struct command;
struct lock_info;
}  // namespace mortise::protocol

namespace mortise::client {

class client;
class gate_driver;

class lock_handle : public cancellable, public std::enable_shared_from_this<lock_handle> {
 public:
  // `limit` is how much there is of the lock: 1 of a mutex.
  lock_handle(std::shared_ptr<client> client, std::shared_ptr<gate_driver> gate_driver,
              std::string name, lock::lock_kind kind, const settings& terms, std::int64_t limit);
  // Gives back what is held.
  ~lock_handle() override;
  lock_handle(const lock_handle&) = delete;
  lock_handle& operator=(const lock_handle&) = delete;

  // Blocking; timeouts are the caller's, and -1 waits for ever.
  outcome try_acquire(const lock::amount& wanted);
  outcome acquire(const lock::amount& wanted, std::int64_t timeout_ms);
  // Unlocks only the hold with this number; 0 is any.
  outcome unlock(lock::hold_mode mode, std::int64_t hold_number = 0);
  outcome extend(std::int64_t lease_ms);
  // From a reader to the writer, and back.
  outcome upgrade();
  outcome downgrade();
  outcome query(protocol::lock_info& info);
  // Of a semaphore: how many permits there are from now on.
  outcome resize(std::int64_t permits);
  // Ends the hold of another handle, anywhere.
  outcome force_release(std::string_view owner);
  // The same, ending in one event when they are accepted.
  outcome try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                    const lock::amount& wanted);
  outcome acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        const lock::amount& wanted, std::int64_t timeout_ms);
  outcome unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       lock::hold_mode mode, std::int64_t hold_number = 0);
  outcome extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t lease_ms);
  outcome upgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  outcome downgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  // The same for a caller that keeps the operation until it is finished.
  outcome start(lock::acquire_operation& call);
  outcome start_unlock(lock::operation& call, lock::hold_mode mode, std::int64_t hold_number);
  outcome start_extend(lock::operation& call, std::int64_t lease_ms);
  // Extends a hold that is not renewed and has lost a tenth of its lease; false when nothing was
  // asked.
  bool start_top_up(lock::operation& call);
  // Gives the hold back without waiting for the answer.
  void give_back(lock::hold_mode mode, std::int64_t hold_number) noexcept;
  // Ends a waiting acquire: ok, or not_waiting.
  outcome cancel() override;
  // The same for every acquire from now on, until it is taken back.
  outcome interrupt(bool is_on);
  // Where losses and risks are told from now on; nullptr for nowhere.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag);
  // The user is done with the handle: its waits end, its hold is given back.
  void release() noexcept;

  [[nodiscard]] bool is_held() const;
  [[nodiscard]] bool has_hold(lock::hold_mode mode) const;
  // ok, or why there is no such hold that a call could be about.
  outcome check_held(lock::hold_mode mode);
  [[nodiscard]] std::int64_t valid_ms() const;
  // When the hold ends, by CLOCK_BOOTTIME; 0 when there is none.
  [[nodiscard]] time_ns deadline_ns() const;
  [[nodiscard]] std::int64_t token() const;
  // Of the present or the last hold; 0 before the first.
  [[nodiscard]] std::int64_t hold_number() const;
  // How much there is of the lock, as far as this handle was told.
  [[nodiscard]] std::int64_t limit() const noexcept { return owner_.limit; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::shared_ptr<client>& made_by() const noexcept { return client_; }

  // For the gate_driver, under its mutex.
  static lock_handle& of(lock::owner& who) noexcept {
    return *static_cast<handle_owner&>(who).handle;
  }
  // What a call that has ended is about; it has a token if it began a hold.
  void describe(event& told, std::int64_t token) const noexcept;
  void notice_lost() noexcept;
  void notice_at_risk(reason why) noexcept;
  // Takes a finished node that no queue wants.
  void bury(std::unique_ptr<event_node> node) noexcept;
  [[nodiscard]] const std::string& key() const noexcept;

 private:
  struct handle_owner : lock::owner {
    lock_handle* handle = nullptr;
  };
  // A watch, with the notices for which room was reserved.
  struct notices {
    std::shared_ptr<event_queue> queue;
    std::int64_t tag = 0;
    std::unique_ptr<event_node> lost;
    std::unique_ptr<event_node> at_risk;
  };

  template <class Operation, class Start>
  outcome block(Operation& call, std::int64_t timeout_ms, Start&& start);
  template <class Base, class Start>
  outcome submit(const std::shared_ptr<event_queue>& queue, std::int64_t tag, event_kind kind,
                 std::int64_t timeout_ms, Start&& start);
  outcome start_acquire(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        const lock::amount& wanted, std::int64_t timeout_ms, bool is_try);
  outcome end_hold(lock::gate& gate, lock::hold_mode mode, std::int64_t hold_number,
                   lock::operation* call, time_ns now);
  outcome ask(const protocol::command& asked, time_ns deadline);
  outcome rearm(lock::gate& gate, time_ns now);
  outcome arm_notices();
  void notice(std::unique_ptr<event_node>& slot, event_kind kind, status code, reason why) noexcept;
  void end_watch() noexcept;
  [[nodiscard]] std::int64_t command_timeout_ms() const;

  const std::shared_ptr<client> client_;
  const std::shared_ptr<gate_driver> gate_driver_;
  const std::string name_;
  handle_owner owner_;  // under the gate_driver's mutex
  notices notices_;     // likewise
};

}  // namespace mortise::client
