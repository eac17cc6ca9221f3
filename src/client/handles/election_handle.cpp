#include "client/handles/election_handle.hpp"

#include <new>
#include <utility>

#include "client/client.hpp"
#include "protocol/listing/query.hpp"

namespace mortise::client {

namespace {

// The holder leads. A claim that is only retained has no leader.
const protocol::lock_party* leader_in(const protocol::lock_info& info) noexcept {
  const bool is_led = info.is_held && info.shown_holders > 0 && !info.entries.front().is_retained;
  return is_led ? &info.entries.front() : nullptr;
}

}  // namespace

settings election_handle::terms_of(settings terms) {
  terms.fair_strict = true;
  terms.retain_ms = 0;
  terms.reentrant_read = terms.reentrant_write = false;
  return terms;
}

election_handle::~election_handle() { release(); }

void election_handle::release() noexcept {
  owner_client()->elections().remove(*this);
  std::shared_ptr<event_queue> last;
  {
    const std::lock_guard guard(mutex_);
    last.swap(queue_);
  }
  lock_handle::release();
}

// ---- leading --------------------------------------------------------------------------------

outcome election_handle::resign(std::int64_t hold_number) {
  auto ended = unlock(lock::hold_mode::exclusive, hold_number);
  hasten();
  return ended;
}

outcome election_handle::resign_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                      std::int64_t hold_number) {
  auto begun = unlock_async(queue, tag, lock::hold_mode::exclusive, hold_number);
  hasten();
  return begun;
}

void election_handle::notice_lost() noexcept {
  lock_handle::notice_lost();
  hasten();
}

void election_handle::hasten() noexcept { owner_client()->elections().hasten(key()); }

// ---- observing ------------------------------------------------------------------------------

outcome election_handle::observe(std::shared_ptr<event_queue> queue, std::int64_t tag,
                                 std::int64_t interval_ms) {
  if (queue && queue->is_shut_down()) {
    return outcome::of(status::shut_down, "the queue was shut down");
  }
  if (owner_client()->is_closed()) return client_freed();
  const bool is_on = queue != nullptr;
  {
    const std::lock_guard guard(mutex_);
    queue_.swap(queue);  // the previous queue is freed without the mutex
    tag_ = tag;
    has_reported_ = false;
  }
  if (!is_on) {
    owner_client()->elections().remove(*this);
    return {};
  }
  auto self = std::static_pointer_cast<election_handle>(shared_from_this());
  auto added = owner_client()->elections().add(self, key(), interval_ms * ns_per_ms);
  if (!added.ok()) {
    const std::lock_guard guard(mutex_);
    queue_.swap(queue);
  }
  return added;
}

// Without an answer nothing is reported: what the server has is then unknown, and the lease of a
// leader that cannot be reached may still last (hazard 3).
void election_handle::look() noexcept try {
  auto seen = std::make_shared<protocol::lock_info>();
  if (!query(*seen).ok()) return;
  // A query is sent before its answer arrives, and this handle may have begun to lead meanwhile. An
  // election has a gate of its own.
  const auto* const leader = leader_in(*seen);
  if (leader != nullptr && leader->gate_id != 0) {
    seen->is_mine = leader->client == owner_client()->id() && leader->gate_id == gate_id();
  }
  report(std::move(seen));
} catch (const std::bad_alloc&) {
  return;  // the next look reports it
}

void election_handle::report(std::shared_ptr<const protocol::lock_info> seen) {
  static const protocol::lock_party nobody;
  const auto* const found = leader_in(*seen);
  const auto& leader = found == nullptr ? nobody : *found;
  auto owner = leader.owner;
  auto value = leader.value;
  auto node = std::make_unique<event_node>();
  node->lock = name();
  auto& content = node->content;
  content.kind = found == nullptr ? event_kind::no_leader : event_kind::leader;
  content.error.cause =
      found == nullptr ? "nobody leads" : "the election has another leader, or another value";
  std::unique_ptr<event_node> unread;  // destroyed without the mutex
  const std::lock_guard guard(mutex_);
  if (!queue_ || (has_reported_ && owner == leader_ && value == value_)) return;
  // A full queue delays the report: the next look compares with the last event in the queue.
  const auto reserved = queue_->reserve();
  if (reserved.code == status::shut_down) owner_client()->elections().remove(*this);
  if (!reserved.ok()) return;
  content.tag = tag_;
  content.leader = std::move(seen);
  unread = queue_->deliver(std::move(node));
  has_reported_ = true;
  leader_ = std::move(owner);
  value_ = std::move(value);
}

}  // namespace mortise::client
