// A mutex handle: one owner of one name, and what its user can ask of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "client/event_queue.hpp"
#include "lock/owner.hpp"

namespace mortise::client {

class core;
class gatekeeper;
struct lock_info;

class lock_handle : public std::enable_shared_from_this<lock_handle> {
 public:
  lock_handle(std::shared_ptr<core> client, std::shared_ptr<gatekeeper> keeper, std::string name,
              const settings& terms);
  // Gives back what is held.
  ~lock_handle();
  lock_handle(const lock_handle&) = delete;
  lock_handle& operator=(const lock_handle&) = delete;

  // Blocking; timeouts are the caller's, and -1 waits for ever.
  outcome try_acquire();
  outcome acquire(std::int64_t timeout_ms);
  outcome unlock();
  outcome extend(std::int64_t lease_ms);
  outcome query(lock_info& info);
  // The same, ending in one event when they are accepted.
  outcome try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  outcome acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        std::int64_t timeout_ms);
  outcome unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag);
  outcome extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t lease_ms);
  // Ends a waiting acquire: ok, or not_owner when nothing waits.
  outcome cancel();
  // Where losses and risks are told from now on; nullptr for nowhere.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag);
  // The user is done with the handle: its waits end, its hold is given back.
  void release() noexcept;

  [[nodiscard]] bool is_held() const;
  [[nodiscard]] std::int64_t valid_ms() const;
  [[nodiscard]] std::int64_t token() const;

  // For the gatekeeper, under its mutex.
  static lock_handle& of(lock::owner& who) noexcept {
    return *static_cast<handle_owner&>(who).handle;
  }
  void notice_lost() noexcept;
  void notice_at_risk() noexcept;
  [[nodiscard]] gatekeeper& keeper() noexcept { return *keeper_; }

 private:
  struct handle_owner : lock::owner {
    lock_handle* handle = nullptr;
  };
  // A watch, with the notices for which room was reserved.
  struct watching {
    std::shared_ptr<event_queue> queue;
    std::int64_t tag = 0;
    std::unique_ptr<event_node> lost;
    std::unique_ptr<event_node> at_risk;
  };

  template <class Operation, class Start>
  outcome block(Operation& call, time_ns deadline, Start&& start);
  template <class Base, class Start>
  outcome submit(const std::shared_ptr<event_queue>& queue, std::int64_t tag, event_kind kind,
                 time_ns deadline, Start&& start);
  outcome start_acquire(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                        time_ns deadline, bool is_try);
  outcome block_acquire(time_ns deadline, bool is_try);
  outcome rearm();
  outcome arm_notices();
  void notice(std::unique_ptr<event_node>& slot, event_kind kind, status code) noexcept;
  void end_watch() noexcept;
  [[nodiscard]] time_ns command_deadline() const;

  const std::shared_ptr<core> core_;
  const std::shared_ptr<gatekeeper> keeper_;
  const std::string name_;
  handle_owner owner_;  // under the gatekeeper's mutex
  watching watching_;   // likewise
};

}  // namespace mortise::client
