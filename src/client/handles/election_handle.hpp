// A candidate of an election: the owner of a mutex, whose holder leads. It also observes
// the leader, without waiting for the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "client/events/observer.hpp"
#include "client/handles/lock_handle.hpp"

namespace mortise::client {

class election_handle final : public lock_handle, public observed {
 public:
  using lock_handle::lock_handle;
  ~election_handle() override;
  election_handle(const election_handle&) = delete;
  election_handle& operator=(const election_handle&) = delete;

  // The options of a candidate. Each leadership gets an owner token of its own and ends with its
  // hold, so an observer sees each change: no local pass, no shared hold and no retained claim.
  static settings terms_of(settings terms);

  // Ends a leadership. Observers of this client look again at once.
  outcome resign(std::int64_t hold_number);
  outcome resign_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                       std::int64_t hold_number);
  // Reports the leader to this queue, now and after each change. nullptr ends that.
  outcome observe(std::shared_ptr<event_queue> queue, std::int64_t tag, std::int64_t interval_ms);
  // The user freed the handle.
  void release() noexcept;

  void notice_lost() noexcept override;

 private:
  // observed
  void look() noexcept override;
  void report(std::shared_ptr<const protocol::lock_info> seen);
  void hasten() noexcept;

  std::mutex mutex_;  // protects the rest
  std::shared_ptr<event_queue> queue_;
  std::int64_t tag_ = 0;
  bool has_reported_ = false;
  // The last report: the owner token of the leader, or "", and the value.
  std::string leader_;
  std::string value_;
};

}  // namespace mortise::client
