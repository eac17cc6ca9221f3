// A handle of any kind of lock: one owner of one name, and the calls of its user. A mutex and a
// writer acquire in exclusive mode. A reader and a semaphore handle acquire in shared mode.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "client/events/event_queue.hpp"
#include "lock/gate/owner.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::lock {
class acquire_operation;
class gate;
struct exported_claim;
class operation;
}  // namespace mortise::lock
namespace mortise::protocol {
struct command;
struct exported_hold;
struct lock_info;
}  // namespace mortise::protocol

namespace mortise::client {

class client;
class gate_driver;

class lock_handle : public cancellable, public std::enable_shared_from_this<lock_handle> {
 public:
  // A mutex has a `capacity` of 1.
  lock_handle(std::shared_ptr<client> client, std::shared_ptr<gate_driver> gate_driver,
              std::string name, lock::lock_kind kind, const settings& terms, std::int64_t capacity);
  // Releases the hold.
  ~lock_handle() override;
  lock_handle(const lock_handle&) = delete;
  lock_handle& operator=(const lock_handle&) = delete;

  // Blocking calls. The caller gives the timeout. -1 waits without limit.
  outcome try_acquire(const lock::amount& amount);
  outcome acquire(const lock::amount& amount, std::int64_t timeout_ms) {
    return acquire_or_adopt(amount, timeout_ms, {});
  }
  // Unlocks only the hold with this number. 0 is any hold.
  outcome unlock(lock::hold_mode mode, std::int64_t hold_number = 0);
  outcome extend(std::int64_t lease_ms);
  // The work under the hold with this number goes on (option `progress`).
  outcome note_progress(std::int64_t hold_number = 0);
  // Ends the hold without a release. It lasts for this lease at the server. The text is its id.
  outcome export_hold(std::int64_t lease_ms, std::string& text);
  // Continues an exported hold.
  outcome adopt(std::string_view text);
  // Turns a reader into the writer, and back.
  outcome upgrade();
  outcome downgrade();
  // Sets the value that queries show for the hold, or removes it with an empty text.
  outcome set_value(std::string_view value);
  outcome query(protocol::lock_info& info);
  // Changes the capacity of a semaphore.
  outcome resize(std::int64_t capacity);
  // Ends the hold of another handle, of any client.
  outcome force_release(std::string_view owner);
  // The same calls without blocking. An accepted call ends in one event.
  outcome try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                    const lock::amount& amount);
  outcome acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        const lock::amount& amount, std::int64_t timeout_ms);
  outcome unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       lock::hold_mode mode, std::int64_t hold_number = 0);
  outcome extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t lease_ms);
  outcome set_value_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                          std::string_view value);
  outcome upgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  outcome downgrade_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  // The same for a caller that keeps the operation until it is finished.
  outcome start(lock::acquire_operation& call);
  // Also in the other mode, if the hold with this number has changed to it. Ends an open upgrade.
  outcome start_unlock(lock::operation& call, lock::hold_mode mode, std::int64_t hold_number);
  outcome start_extend(lock::operation& call, std::int64_t lease_ms);
  // Extends a hold without renewal that has used a tenth of its lease. False if no request was
  // sent.
  bool start_top_up(lock::operation& call);
  // The work under the hold begins (option `progress`).
  void start_progress() noexcept;
  // Ends an operation that was started here. The release of an unlock continues.
  void abandon(lock::operation& call) noexcept;
  // Releases the hold as `start_unlock`, without waiting for the reply.
  void give_back(lock::hold_mode mode, std::int64_t hold_number) noexcept;
  // Ends a waiting acquire: ok, or not_waiting.
  outcome cancel() override;
  // The same for every acquire, until interrupt(false).
  outcome interrupt(bool is_on);
  // The later acquires belong to this task. 0: to the thread that they block.
  outcome set_task(std::int64_t task);
  // Reports losses, risks and waiters to this queue. nullptr ends the watch.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag);
  // The user freed the handle: ends its waits and releases its hold.
  void release() noexcept;

  [[nodiscard]] bool is_held() const;
  [[nodiscard]] bool has_hold(lock::hold_mode mode) const;
  // ok, or why there is no hold, or `busy` while another call is changing it.
  outcome check_held();
  [[nodiscard]] std::int64_t valid_ms() const;
  // End of the hold by CLOCK_BOOTTIME. 0 without a hold.
  [[nodiscard]] time_ns deadline_ns() const;
  [[nodiscard]] std::int64_t token() const;
  // Of the current or the last hold. 0 before the first.
  [[nodiscard]] std::int64_t hold_number() const;
  // The capacity of the lock, as far as this handle knows.
  [[nodiscard]] std::int64_t capacity() const noexcept { return owner_.capacity; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] bool fails_in_deadlock() const noexcept { return owner_.fails_in_deadlock; }
  [[nodiscard]] const std::shared_ptr<client>& owner_client() const noexcept { return client_; }

  // For the gate_driver, under its mutex.
  static lock_handle& handle_of(lock::owner& owner) noexcept {
    return *static_cast<handle_owner&>(owner).handle;
  }
  // Adds the hold to the event of an ended call. `token` is 0 if the call began no hold.
  void describe(event& target, std::int64_t token) const noexcept;
  virtual void notice_lost() noexcept;
  void notice_at_risk(reason why) noexcept;
  void notice_contended() noexcept;
  // Keeps a finished node of a freed queue.
  void keep_unread(std::unique_ptr<event_node> node) noexcept;
  [[nodiscard]] const std::string& key() const noexcept;
  [[nodiscard]] std::uint64_t gate_id() const noexcept;

 private:
  struct handle_owner : lock::owner {
    lock_handle* handle = nullptr;
  };
  // The number of the adopted hold, and the owner token that its next export restores.
  struct adoption {
    std::int64_t hold_number = 0;
    std::string id;
  };
  // A watch, with the notices that have a reserved place.
  struct notices {
    std::shared_ptr<event_queue> queue;
    std::int64_t tag = 0;
    std::unique_ptr<event_node> lost;
    std::unique_ptr<event_node> at_risk;
    std::unique_ptr<event_node> contended;  // a hint: nullptr while the queue is full
    // The hold whose risk is reported only with its loss, because too many risks are unread.
    std::int64_t quiet_hold = 0;
    reason quiet_risk = reason::none;
  };

  template <class Operation, class Start>
  outcome block(Operation& call, std::int64_t timeout_ms, Start&& start);
  template <class Base, class Start>
  outcome submit(const std::shared_ptr<event_queue>& queue, std::int64_t tag, event_kind kind,
                 std::int64_t timeout_ms, Start&& start);
  outcome start_acquire(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        const lock::amount& amount, std::int64_t timeout_ms, bool is_try);
  [[nodiscard]] lock::hold_mode present_mode(lock::hold_mode mode, std::int64_t hold_number) const;
  outcome end_hold(lock::gate& gate, lock::hold_mode mode, std::int64_t hold_number,
                   lock::operation* call, time_ns now);
  outcome end_part(lock::gate& gate, lock::hold_mode mode, std::int64_t hold_number,
                   lock::operation* call, time_ns now);
  outcome ask(const protocol::command& request, time_ns deadline);
  // `adopted` is the owner token of an exported hold, or empty.
  outcome acquire_or_adopt(const lock::amount& amount, std::int64_t timeout_ms,
                           std::string_view adopted);
  outcome check_adoption(const protocol::exported_hold& exported) const;
  outcome acknowledge_export(std::int64_t lease_ms);
  outcome give_out(const lock::exported_claim& exported, time_ns deadline);
  outcome rearm(lock::gate& gate, time_ns now);
  outcome arm_notices();
  void notice(std::unique_ptr<event_node>& slot, event_kind kind, status code, reason why,
              const char* words) noexcept;
  void end_watch() noexcept;
  [[nodiscard]] std::int64_t command_timeout_ms() const;

  const std::shared_ptr<client> client_;
  const std::shared_ptr<gate_driver> gate_driver_;
  const std::string name_;
  std::atomic<std::int64_t> task_{0};
  handle_owner owner_;        // under the gate_driver's mutex
  adoption adoption_;         // likewise
  notices notices_;           // likewise
  bool is_released_ = false;  // likewise; a multi may still acquire its member
};

}  // namespace mortise::client
