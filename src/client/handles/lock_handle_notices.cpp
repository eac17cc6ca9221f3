// The watch of a handle: its notices on a queue.
#include <memory>
#include <utility>

#include "client/client.hpp"
#include "client/gate_driver.hpp"
#include "client/handles/lock_handle.hpp"

namespace mortise::client {

outcome lock_handle::watch(std::shared_ptr<event_queue> queue, std::int64_t tag) {
  return gate_driver_->enter([&](lock::gate& gate, time_ns) {
    if (gate.is_closed()) return client_freed();
    end_watch();
    notices_.queue = std::move(queue);
    notices_.tag = tag;
    auto armed = arm_notices();
    if (!armed.ok()) end_watch();
    gate.repeat_contention(owner_);
    return armed;
  });
}

// Called before each acquire, because the previous hold may have used its notices. Also called
// after a report of progress, because the work may stall again. settle() first detects a loss of
// the previous hold. Otherwise the loss would use a notice of the next hold. Under the mutex.
outcome lock_handle::rearm(lock::gate& gate, time_ns now) {
  gate.settle(now);
  auto armed = arm_notices();
  if (armed.code != status::shut_down) return armed;
  end_watch();  // events of that queue are no longer read
  return {};
}

outcome lock_handle::arm_notices() {
  if (!notices_.queue) return {};
  if (!notices_.lost) {
    auto node = std::make_unique<event_node>();
    node->lock = name_;
    if (auto reserved = notices_.queue->reserve(); !reserved.ok()) return reserved;
    notices_.lost = std::move(node);
  }
  if (!notices_.at_risk) {
    auto node = std::make_unique<event_node>();
    node->lock = name_;
    notices_.at_risk = std::move(node);
    notices_.at_risk->uses_capacity = false;  // a watch takes one place
  }
  // Unlike a loss, a missed hint never fails an acquire.
  if (owner_.reports_contention && !notices_.contended) {
    auto node = std::make_unique<event_node>();
    node->lock = name_;
    if (notices_.queue->reserve().ok()) notices_.contended = std::move(node);
  }
  return {};
}

void lock_handle::end_watch() noexcept {
  if (notices_.lost) notices_.queue->unreserve();
  if (notices_.contended) notices_.queue->unreserve();
  notices_ = {};
}

void lock_handle::notice(std::unique_ptr<event_node>& slot, event_kind kind, status code,
                         reason why, const char* words) noexcept {
  if (!slot) return;
  slot->content.kind = kind;
  slot->content.tag = notices_.tag;
  describe(slot->content, owner_.token);
  slot->content.error.code = code;
  slot->content.error.why = why;
  slot->content.error.cause = words;
  auto unread = notices_.queue->deliver(std::move(slot));
  if (unread) keep_unread(std::move(unread));
}

void lock_handle::keep_unread(std::unique_ptr<event_node> node) noexcept {
  gate_driver_->keep_unread(std::move(node));
}

void lock_handle::describe(event& target, std::int64_t token) const noexcept {
  if (token == 0) return;
  target.token = token;
  target.hold_number = owner_.hold_number;
}

void lock_handle::notice_lost() noexcept {
  if (notices_.quiet_hold == owner_.hold_number) {
    const auto why = notices_.quiet_risk;
    notice(notices_.at_risk, event_kind::at_risk, status::ok, why, reason_text(why));
  }
  notice(notices_.lost, event_kind::lost, status::lost, owner_.loss, reason_text(owner_.loss));
}

// The risk of a hold that is then unlocked takes no place. Without a limit, the risks of many such
// holds would fill the memory while nobody reads the queue.
void lock_handle::notice_at_risk(reason why) noexcept {
  if (notices_.queue && !notices_.queue->has_room_for_risk()) {
    notices_.quiet_hold = owner_.hold_number;
    notices_.quiet_risk = why;
    return;
  }
  notices_.quiet_hold = 0;
  notice(notices_.at_risk, event_kind::at_risk, status::ok, why, reason_text(why));
}

void lock_handle::notice_contended() noexcept {
  notice(notices_.contended, event_kind::contended, status::ok, reason::none,
         "others wait for the lock");
}

}  // namespace mortise::client
