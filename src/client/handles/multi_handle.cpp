#include "client/handles/multi_handle.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/text/printable.hpp"
#include "client/client.hpp"
#include "client/handles/lock_handle.hpp"
#include "client/handles/multi_call.hpp"

namespace mortise::client {

multi_handle::multi_handle(std::shared_ptr<client> client) : client_(std::move(client)) {}

multi_handle::~multi_handle() { release(); }

outcome multi_handle::add(std::shared_ptr<lock_handle> handle, const lock::amount& amount,
                          const char* name) {
  const std::lock_guard guard(mutex_);
  const auto refuse = [&](const std::string& problem) {
    return outcome::of(status::invalid_argument, std::string(name) + ": " + problem);
  };
  if (open_ || is_held_) {
    return outcome::of(status::busy, "cannot add a member: this multi is held or being acquired");
  }
  if (handle->owner_client() != client_) {
    return refuse("belongs to another client; give a handle of this multi's client");
  }
  if (members_.size() == most_members) {
    return outcome::of(status::limit, "a multi has at most " + std::to_string(most_members) +
                                          " members; lock something coarser");
  }
  const auto place = std::lower_bound(
      members_.begin(), members_.end(), handle->key(),
      [](const member& item, const std::string& key) { return item.handle->key() < key; });
  if (place != members_.end() && place->handle->key() == handle->key()) {
    return refuse(printable(handle->name()) + " is a member already; give each name once");
  }
  members_.insert(place, {std::move(handle), amount});
  return {};
}

// ---- calls ----------------------------------------------------------------------------------

// ok if this is the number of the current hold, or 0, which is any hold.
outcome multi_handle::check_number(std::int64_t hold_number) const {
  const bool is_over = hold_number != hold_number_ || (open_ && open_->is_acquire());
  if (hold_number == 0 || !is_over) return {};
  return outcome::of(status::lost, "this hold has ended; its multi was acquired again");
}

// Starts this call on the multi, or returns why it cannot start.
outcome multi_handle::begin(const std::shared_ptr<multi_call>& call, std::int64_t hold_number) {
  // Now, because the I/O thread may send the requests of the later members.
  auto helped = call->is_acquire() ? client_->begin_helper() : outcome();
  if (!helped.ok()) return helped;
  const std::lock_guard guard(mutex_);
  if (client_->is_closed()) return client_freed();
  if (is_released_) return outcome::of(status::closed);  // freed while the helper started
  if (auto checked = check_number(hold_number); !checked.ok()) return checked;
  if (open_)
    return outcome::of(status::busy, "another call on this multi is in progress; wait for it");
  if (!call->is_acquire()) {
    // The call's members were read before. Another thread may have unlocked and acquired since.
    if (!is_held_ || call->hold_number != hold_number_) {
      return outcome::of(status::not_owner, "this multi holds nothing");
    }
    if (call->what() == multi_call::purpose::extend) {
      extensions_.push_back(call);
    } else {
      open_ = call;
    }
    return {};
  }
  auto checked = check_acquire(*call);
  if (checked.ok()) open_ = call;
  return checked;
}

outcome multi_handle::check_acquire(const multi_call& call) const {
  if (is_interrupted_) return outcome::of(status::cancelled, "this multi is interrupted");
  if (is_held_) {
    return outcome::of(status::already_held, "this multi is held; unlock it first");
  }
  if (members_.empty()) {
    return outcome::of(status::invalid_argument, "multi: has no members; add some first");
  }
  if (members_.size() != call.members().size()) {
    return outcome::of(status::busy, "a member was added meanwhile; acquire this multi again");
  }
  return {};
}

std::shared_ptr<multi_call> multi_handle::new_acquire(time_ns deadline, bool is_try) {
  const std::lock_guard guard(mutex_);
  return std::make_shared<multi_call>(
      client_, shared_from_this(), members_,
      is_try ? multi_call::purpose::try_acquire : multi_call::purpose::acquire, deadline);
}

std::shared_ptr<multi_call> multi_handle::new_unlock() {
  const std::lock_guard guard(mutex_);
  auto call =
      std::make_shared<multi_call>(client_, shared_from_this(), members_,
                                   multi_call::purpose::unlock, client_->command_deadline());
  call->hold_number = hold_number_;
  return call;
}

std::shared_ptr<multi_call> multi_handle::new_extend(std::int64_t lease_ms) {
  const std::lock_guard guard(mutex_);
  auto call = std::make_shared<multi_call>(client_, shared_from_this(), members_,
                                           multi_call::purpose::extend, client_->command_deadline(),
                                           lease_ms);
  call->hold_number = hold_number_;
  return call;
}

outcome multi_handle::run(const std::shared_ptr<multi_call>& call, std::int64_t hold_number) {
  if (auto begun = begin(call, hold_number); !begun.ok()) return begun;
  const auto watched_from =
      call->fails_in_deadlock() ? boot_now() + deadlock_search::patience_ns : time_never;
  call->start(task_);
  // Every step has the deadline, so the call ends.
  if (!client_->servers().await_any(call->caller, watched_from)) {
    const deadlock_search::watch watched(client_->deadlocks(), true);
    client_->servers().await_any(call->caller, time_never);
  }
  return call->result();
}

outcome multi_handle::submit(const std::shared_ptr<multi_call>& call,
                             const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                             std::int64_t hold_number) {
  auto event = std::make_unique<event_node>();
  event->content.kind = call->end_kind();
  event->content.tag = tag;
  event->handle = shared_from_this();
  if (auto admitted = queue->admit(*event); !admitted.ok()) return admitted;
  outcome begun;
  try {
    begun = begin(call, hold_number);
  } catch (const std::bad_alloc&) {
    begun = outcome::of(status::no_memory);  // not begun: the event is dismissed
  }
  if (!begun.ok()) {
    queue->dismiss(*event);
    return begun;
  }
  call->event = std::move(event);
  call->queue = queue;
  call->start(task_);
  // A shutdown in between has not cancelled the call.
  if (call->is_acquire() && queue->is_shut_down()) cancel();
  return {};
}

outcome multi_handle::try_acquire() { return run(new_acquire(client_->command_deadline(), true)); }

outcome multi_handle::acquire(std::int64_t timeout_ms) {
  if (timeout_ms == 0) return try_acquire();
  return run(new_acquire(client::deadline_after(timeout_ms), false));
}

outcome multi_handle::unlock(std::int64_t hold_number) { return run(new_unlock(), hold_number); }

outcome multi_handle::extend(std::int64_t lease_ms) { return run(new_extend(lease_ms)); }

// If a member is lost, no other member is renewed for longer, so other clients need not wait
// longer.
outcome multi_handle::note_progress() {
  const std::lock_guard guard(mutex_);
  if (client_->is_closed()) return client_freed();
  if (!is_held_) return outcome::of(status::not_owner, "this multi holds nothing");
  for (const auto& item : members_) {
    auto held = item.check_held();
    if (!held.ok() && held.code != status::busy) return held;  // an upgrade keeps the hold
  }
  for (const auto& item : members_) {
    auto noted = item.handle->note_progress(item.hold_number);
    if (noted.ok()) continue;
    noted.name(item.handle->name());
    return noted;
  }
  return {};
}

outcome multi_handle::try_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag) {
  return submit(new_acquire(client_->command_deadline(), true), queue, tag);
}

outcome multi_handle::acquire_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                    std::int64_t timeout_ms) {
  if (timeout_ms == 0) return try_async(queue, tag);
  return submit(new_acquire(client::deadline_after(timeout_ms), false), queue, tag);
}

outcome multi_handle::unlock_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                   std::int64_t hold_number) {
  return submit(new_unlock(), queue, tag, hold_number);
}

outcome multi_handle::extend_async(const std::shared_ptr<event_queue>& queue, std::int64_t tag,
                                   std::int64_t lease_ms) {
  return submit(new_extend(lease_ms), queue, tag);
}

std::shared_ptr<multi_call> multi_handle::open_call() const {
  const std::lock_guard guard(mutex_);
  return open_;
}

outcome multi_handle::cancel() {
  const auto call = open_call();
  if (call && call->give_up(outcome::of(status::cancelled))) return {};
  if (client_->is_closed()) return client_freed();
  return outcome::of(status::not_waiting, "no call of this multi is waiting");
}

outcome multi_handle::interrupt(bool is_on) {
  std::shared_ptr<multi_call> waiting;
  {
    const std::lock_guard guard(mutex_);
    if (client_->is_closed()) return client_freed();
    is_interrupted_ = is_on;
    if (is_on) waiting = open_;
  }
  if (waiting) waiting->give_up(outcome::of(status::cancelled));
  return {};
}

outcome multi_handle::set_task(std::int64_t task) {
  if (client_->is_closed()) return client_freed();
  task_ = task;
  return {};
}

outcome multi_handle::watch(const std::shared_ptr<event_queue>& queue, std::int64_t tag) {
  const std::lock_guard guard(mutex_);
  if (client_->is_closed()) return client_freed();
  if (queue && members_.empty()) {
    return outcome::of(status::invalid_argument, "multi: has no members; add some first");
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto watched = members_[i].handle->watch(queue, tag);
    if (watched.ok()) continue;
    // All or none: a caller with a partial watch would expect notices of every member.
    while (i-- > 0) static_cast<void>(members_[i].handle->watch(nullptr, tag));
    return watched;
  }
  return {};
}

void multi_handle::finished(const multi_call& call) noexcept {
  note_end(call);
  {
    const std::lock_guard guard(mutex_);
    if (!is_released_) return;
  }
  give_back_all();  // it was freed when the acquire could no longer be given up
}

void multi_handle::note_end(const multi_call& call) noexcept {
  const std::lock_guard guard(mutex_);
  const bool begins_hold = call.is_acquire() && call.result().ok();
  if (begins_hold) ++hold_number_;
  if (call.event && (begins_hold || !call.is_acquire())) {
    call.event->content.hold_number = hold_number_;
  }
  if (call.what() == multi_call::purpose::extend) {
    std::erase_if(extensions_, [&](const auto& open) { return open.get() == &call; });
    return;
  }
  open_.reset();
  is_held_ = begins_hold;
  if (!is_held_) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].hold_number = call.members()[i].hold_number;
  }
}

void multi_handle::close() noexcept {
  if (const auto call = open_call()) call->close();
  std::vector<std::shared_ptr<multi_call>> extensions;
  {
    const std::lock_guard guard(mutex_);
    extensions.swap(extensions_);
  }
  for (const auto& call : extensions) call->close();
}

void multi_handle::release() noexcept {
  {
    // Extensions end when the members are released.
    const std::lock_guard guard(mutex_);
    is_released_ = true;
    for (const auto& call : extensions_) call->give_up(outcome::of(status::closed));
  }
  if (const auto call = open_call()) {
    call->abandon();
    return;  // finished() releases what it has acquired
  }
  give_back_all();
}

void multi_handle::give_back_all() noexcept {
  std::vector<member> held;
  {
    const std::lock_guard guard(mutex_);
    if (std::exchange(is_held_, false)) held.swap(members_);
  }
  while (!held.empty()) {
    held.back().handle->give_back(held.back().amount.mode, held.back().hold_number);
    held.pop_back();
  }
}

// ---- queries --------------------------------------------------------------------------------

// A lost member may have been acquired again by its own handle.
bool multi_handle::member::is_of_hold() const { return handle->hold_number() == hold_number; }

outcome multi_handle::member::check_held() const {
  auto held = handle->check_held();
  if (held.ok() && !is_of_hold()) {
    held =
        outcome::of(status::not_owner, "its hold of this multi ended; its handle has a newer hold");
  }
  held.name(handle->name());
  return held;
}

bool multi_handle::member::is_held() const { return handle->is_held() && is_of_hold(); }

bool multi_handle::is_held() const {
  const std::lock_guard guard(mutex_);
  return is_held_ && std::all_of(members_.begin(), members_.end(),
                                 [](const member& item) { return item.is_held(); });
}

std::int64_t multi_handle::valid_ms() const {
  if (!is_held()) return 0;
  const std::lock_guard guard(mutex_);
  auto least = members_.empty() ? 0 : members_.front().handle->valid_ms();
  for (const auto& item : members_) least = std::min(least, item.handle->valid_ms());
  return least;
}

time_ns multi_handle::deadline_ns() const {
  const std::lock_guard guard(mutex_);
  if (!is_held_ || members_.empty()) return 0;
  auto least = time_never;
  for (const auto& item : members_) {
    least = std::min(least, item.is_of_hold() ? item.handle->deadline_ns() : 0);
  }
  return least;
}

void multi_handle::name(outcome& error) const noexcept {
  const std::lock_guard guard(mutex_);
  name(error, members_);
}

void multi_handle::name(outcome& error, const std::vector<member>& members) noexcept try {
  constexpr std::size_t most_shown = 3;
  if (error.ok() || members.empty()) return;
  std::string shown = "multi of ";
  for (std::size_t i = 0; i < std::min(members.size(), most_shown); ++i) {
    if (i > 0) shown += ", ";
    shown += printable(members[i].handle->name());
  }
  if (members.size() > most_shown) {
    shown += " and " + std::to_string(members.size() - most_shown) + " more";
  }
  error.describe(shown);
} catch (const std::bad_alloc&) {
  return;  // without the names
}

std::int64_t multi_handle::hold_number() const {
  const std::lock_guard guard(mutex_);
  return hold_number_;
}

std::int64_t multi_handle::member_count() const {
  const std::lock_guard guard(mutex_);
  return static_cast<std::int64_t>(members_.size());
}

}  // namespace mortise::client
