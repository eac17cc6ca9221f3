#include "client/handles/multi_call.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "client/client.hpp"
#include "client/handles/lock_handle.hpp"

namespace mortise::client {

multi_call::multi_call(std::shared_ptr<client> client, std::shared_ptr<multi_handle> owner,
                       std::vector<multi_handle::member> members, purpose what, time_ns deadline,
                       std::int64_t lease_ms)
    : client_(std::move(client)),
      owner_(std::move(owner)),
      members_(std::move(members)),
      what_(what),
      deadline_(deadline),
      lease_ms_(lease_ms),
      member_steps_(members_.size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    member_steps_[i].call = this;
    member_steps_[i].member = i;
  }
}

multi_call::~multi_call() { client_->reactor().cancel(*this); }

event_kind multi_call::end_kind() const noexcept {
  if (what_ == purpose::unlock) return event_kind::unlocked;
  return what_ == purpose::extend ? event_kind::extended : event_kind::acquired;
}

bool multi_call::fails_in_deadlock() const noexcept {
  return what_ == purpose::acquire &&
         std::any_of(members_.begin(), members_.end(),
                     [](const auto& item) { return item.handle->fails_in_deadlock(); });
}

void multi_call::start(std::int64_t task_number) {
  {
    const std::lock_guard guard(mutex_);
    self_ = shared_from_this();
    const bool comes_back = !event || !event->is_watched_for;
    acquiring_.comes_back = comes_back;
    acquiring_.thread = caller_identity(task_number, !event);
    const bool is_watched = event && task_number != 0 && fails_in_deadlock();
    if (is_watched) watched_.emplace(client_->deadlocks(), false);
    for (auto& step : member_steps_) step.comes_back = comes_back;
  }
  advance();
}

void multi_call::advance() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (is_over_) return;
    try {
      if (run_steps(what_)) return;
    } catch (...) {
      result_.code = status::no_memory;
    }
    if (is_acquire()) end_acquire();
    is_over_ = true;
  }
  finish();
}

bool multi_call::run_steps(purpose what) {
  switch (what) {
    case purpose::unlock:
      return unlock_all();
    case purpose::extend:
      return extend_all();
    case purpose::acquire:
    case purpose::try_acquire:
      break;
  }
  return acquire_rest();
}

// ---- acquire --------------------------------------------------------------------------------

bool multi_call::acquire_rest() {
  while (end_step()) {
    if (!result_.ok()) return false;
    if (acquired_ == members_.size()) return top_up();
    if (!start_next()) return false;
  }
  return true;
}

// Records the result of the last step. False while a step is open.
bool multi_call::end_step() {
  outcome ended;
  {
    const std::lock_guard steps(steps_mutex_);
    if (open_steps_ > 0) return false;
    ended = std::exchange(step_result_, {});
  }
  // end_acquire() checks the members, whatever their extensions returned.
  if (is_topped_up_) ended = {};
  if (is_started_ && ended.ok()) ++acquired_;
  is_started_ = false;
  if (!end_reason_.ok()) {
    ended = acquired_ < members_.size() ? about(end_reason_, acquired_) : end_reason_;
  }
  result_ = std::move(ended);
  return true;
}

// True if the next member's step was started. The step may have ended already.
bool multi_call::start_next() {
  const auto& next = members_[acquired_];
  acquiring_.call = this;
  acquiring_.is_try = what_ == purpose::try_acquire;
  acquiring_.is_of_multi = true;
  acquiring_.amount = next.amount;
  acquiring_.deadline = deadline_;
  {
    const std::lock_guard steps(steps_mutex_);
    open_steps_ = 1;
  }
  is_started_ = true;
  const auto started = next.handle->start(acquiring_);
  if (started.ok()) return true;
  open_steps_ = 0;
  is_started_ = false;
  result_ = about(started, acquired_);
  return false;
}

// Leases without renewal have shrunk while the other members were acquired. Extends them all at
// once. True if it waits for the replies.
bool multi_call::top_up() {
  if (std::exchange(is_topped_up_, true)) return false;
  {
    const std::lock_guard steps(steps_mutex_);
    open_steps_ = 1;  // until all are sent
  }
  for (auto& step : member_steps_) {
    {
      const std::lock_guard steps(steps_mutex_);
      ++open_steps_;
    }
    step.deadline = std::min(deadline_, client_->command_deadline());
    if (start_top_up(step)) continue;
    const std::lock_guard steps(steps_mutex_);
    --open_steps_;
  }
  const std::lock_guard steps(steps_mutex_);
  return --open_steps_ > 0;
}

// Without memory the member keeps its lease.
bool multi_call::start_top_up(member_step& step) noexcept try {
  return members_[step.member].handle->start_top_up(step);
} catch (const std::bad_alloc&) {
  return false;
}

// All or none: a failure releases every acquired member. The work under the hold begins now.
void multi_call::end_acquire() noexcept {
  if (result_.ok()) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].is_held()) continue;
      result_ =
          about(outcome::of(status::lost, "its lease ended while the others were acquired"), i);
      break;
    }
  }
  if (result_.ok()) {
    for (const auto& item : members_) item.handle->start_progress();
    return;
  }
  while (acquired_ > 0) {
    const auto& item = members_[--acquired_];
    item.handle->give_back(item.amount.mode, item.hold_number);
  }
}

bool multi_call::give_up(const outcome& result) {
  const std::lock_guard guard(mutex_);
  if (is_over_ || what_ == purpose::unlock) return false;
  end_reason_ = result;
  if (is_acquire() && acquired_ < members_.size()) members_[acquired_].handle->cancel();
  return true;
}

// ---- unlock ---------------------------------------------------------------------------------

// In reverse order and all at once, so no step waits for the reply to another.
template <class Start>
void multi_call::start_all(Start&& start) {
  is_started_ = true;
  {
    const std::lock_guard steps(steps_mutex_);
    open_steps_ = members_.size();
  }
  for (std::size_t i = members_.size(); i-- > 0;) {
    auto& step = member_steps_[i];
    step.deadline = deadline_;
    if (const auto started = start(step); !started.ok()) step_ended(started, i);
  }
}

bool multi_call::unlock_all() {
  if (!is_started_) {
    start_all([this](member_step& step) { return start_unlock(step); });
    if (!end_reason_.ok()) abandon_unlocks();
  }
  const std::lock_guard steps(steps_mutex_);
  if (open_steps_ > 0) return true;
  const bool is_abandoned = !end_reason_.ok() && step_result_.code == status::closed;
  result_ = is_abandoned ? end_reason_ : step_result_;
  return false;
}

void multi_call::abandon() noexcept {
  if (give_up(outcome::of(status::closed))) return;
  const std::lock_guard guard(mutex_);
  if (is_over_) return;
  end_reason_ = outcome::of(status::closed);
  if (is_started_) abandon_unlocks();
}

void multi_call::abandon_unlocks() noexcept {
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].handle->abandon(member_steps_[i]);
}

// Without memory for an unlock with a result, the member is released without a result.
outcome multi_call::start_unlock(member_step& step) noexcept {
  const auto& item = members_[step.member];
  try {
    return item.handle->start_unlock(step, item.amount.mode, item.hold_number);
  } catch (const std::bad_alloc&) {
    item.handle->give_back(item.amount.mode, item.hold_number);
    return outcome::of(status::no_memory);
  }
}

// ---- extend ---------------------------------------------------------------------------------

// If a member is lost, no other member is extended, so other clients need not wait longer (hazard
// 17). Otherwise each member that permits it is extended. No member ends sooner than before.
bool multi_call::extend_all() {
  if (!is_started_) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      result_ = members_[i].check_held();
      if (!result_.ok()) return false;
    }
    start_all([this](member_step& step) { return start_extend(step); });
  }
  const std::lock_guard steps(steps_mutex_);
  if (open_steps_ > 0) return true;
  result_ = end_reason_.ok() ? step_result_ : end_reason_;
  return false;
}

outcome multi_call::start_extend(member_step& step) noexcept {
  try {
    return members_[step.member].handle->start_extend(step, lease_ms_);
  } catch (const std::bad_alloc&) {
    return outcome::of(status::no_memory);
  }
}

// ---- all ------------------------------------------------------------------------------------

// Under the gate's mutex: the handle's user may lose this hold and acquire the next one at once,
// and the multi must not take that for its own (hazard 16).
void multi_call::acquire_step::finish(const outcome& result, std::int64_t /*token*/) noexcept {
  call->members_[call->acquired_].hold_number = owner->hold_number;
  call->step_ended(result, call->acquired_);
}

void multi_call::member_step::finish(const outcome& result, std::int64_t /*token*/) noexcept {
  call->step_ended(result, member);
}

// Called inside a gate, so the I/O thread runs the next step. It is posted under the mutex, because
// another thread that finds no step open may end and free the call.
void multi_call::step_ended(const outcome& result, std::size_t member) noexcept {
  const std::lock_guard steps(steps_mutex_);
  const bool is_worse =
      step_result_.ok() || (result.code == status::lost && step_result_.code != status::lost);
  if (!result.ok() && is_worse) step_result_ = about(result, member);
  if (--open_steps_ == 0) client_->reactor().post(*this);
}

// Adds the name of the member.
outcome multi_call::about(const outcome& result, std::size_t member) const noexcept {
  auto named = result;
  named.name(members_[member].handle->name());
  return named;
}

void multi_call::close() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (is_over_ || !self_) return;
    result_ = client_freed();
    is_over_ = true;
  }
  finish();
}

void multi_call::finish() noexcept {
  const auto keep = std::move(self_);
  watched_.reset();
  multi_handle::name(result_, members_);
  owner_->finished(*this);
  if (!event) return caller.finish();
  event->content.error = result_;
  const auto unread = queue->deliver(std::move(event));
}

}  // namespace mortise::client
