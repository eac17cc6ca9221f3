// Acquires all of several locks or none: handles of one client, of any kind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/events/event_queue.hpp"
#include "lock/gate/owner.hpp"

namespace mortise::client {

class client;
class lock_handle;
class multi_call;

class multi_handle final : public cancellable, public std::enable_shared_from_this<multi_handle> {
 public:
  struct member {
    std::shared_ptr<lock_handle> handle;
    lock::amount amount;
    std::int64_t hold_number = 0;  // of its part of the current hold

    [[nodiscard]] bool is_of_hold() const;
    [[nodiscard]] bool is_held() const;
    // ok if its part of the multi's hold lasts, in whichever mode. `busy` during an upgrade.
    [[nodiscard]] outcome check_held() const;
  };
  static constexpr std::size_t most_members = 64;

  explicit multi_handle(std::shared_ptr<client> client);
  ~multi_handle() override;
  multi_handle(const multi_handle&) = delete;
  multi_handle& operator=(const multi_handle&) = delete;

  // `name` is the name of the argument in a message.
  outcome add(std::shared_ptr<lock_handle> handle, const lock::amount& amount, const char* name);

  outcome try_acquire();
  outcome acquire(std::int64_t timeout_ms);
  // Unlocks only the hold with this number. 0 is any hold.
  outcome unlock(std::int64_t hold_number = 0);
  outcome extend(std::int64_t lease_ms);
  // The work goes on, for all members.
  outcome note_progress();
  outcome try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  outcome acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        std::int64_t timeout_ms);
  outcome unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t hold_number);
  outcome extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t lease_ms);
  [[nodiscard]] const std::string& name() const noexcept override { return no_name_; }
  // Adds the names of the members to a failure that names no lock.
  void name(outcome& error) const noexcept;
  static void name(outcome& error, const std::vector<member>& members) noexcept;
  // Ends a waiting acquire: ok, or not_waiting.
  outcome cancel() override;
  // The same for every acquire, until interrupt(false).
  outcome interrupt(bool is_on);
  // The later acquires belong to this task. 0: to the thread that they block.
  outcome set_task(std::int64_t task);
  // Reports losses and risks of each member to this queue. nullptr ends the watch.
  outcome watch(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  // The user freed the handle: ends its wait and releases its holds.
  void release() noexcept;

  [[nodiscard]] bool is_held() const;
  // Of the member that ends first.
  [[nodiscard]] std::int64_t valid_ms() const;
  [[nodiscard]] time_ns deadline_ns() const;
  [[nodiscard]] std::int64_t member_count() const;
  // Of the current or the last hold. 0 before the first.
  [[nodiscard]] std::int64_t hold_number() const;

  // Called by a call that has ended.
  void finished(const multi_call& call) noexcept;
  // The client was freed: ends the open calls, which get no more replies.
  void close() noexcept;

 private:
  // `hold_number` is the number of the call's hold. 0 is any hold.
  outcome run(const std::shared_ptr<multi_call>& call, std::int64_t hold_number = 0);
  outcome submit(const std::shared_ptr<multi_call>& call, const std::shared_ptr<event_queue>& queue,
                 std::int64_t tag, std::int64_t hold_number = 0);
  outcome begin(const std::shared_ptr<multi_call>& call, std::int64_t hold_number);
  [[nodiscard]] outcome check_number(std::int64_t hold_number) const;
  [[nodiscard]] outcome check_acquire(const multi_call& call) const;
  void note_end(const multi_call& call) noexcept;
  void give_back_all() noexcept;
  std::shared_ptr<multi_call> new_acquire(time_ns deadline, bool is_try);
  std::shared_ptr<multi_call> new_unlock();
  std::shared_ptr<multi_call> new_extend(std::int64_t lease_ms);
  [[nodiscard]] std::shared_ptr<multi_call> open_call() const;

  const std::shared_ptr<client> client_;
  const std::string no_name_;
  std::atomic<std::int64_t> task_{0};
  mutable std::mutex mutex_;
  std::vector<member> members_;       // in the order of acquisition
  std::shared_ptr<multi_call> open_;  // an acquire or an unlock
  std::vector<std::shared_ptr<multi_call>> extensions_;
  bool is_held_ = false;
  std::int64_t hold_number_ = 0;
  bool is_interrupted_ = false;
  bool is_released_ = false;
};

}  // namespace mortise::client
