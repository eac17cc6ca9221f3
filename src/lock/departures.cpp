#include "lock/departures.hpp"

#include <algorithm>
#include <utility>

namespace mortise::lock {

namespace {

statistics::release release_of(answer result) noexcept {
  switch (result) {
    case answer::released:
    case answer::cancelled:
      return statistics::release::released;
    case answer::handed_over:
      return statistics::release::handed_over;
    case answer::not_owner:
      return statistics::release::lost;
    default:
      return statistics::release::failed;
  }
}

}  // namespace

answer departures::add(departure leaving, time_ns now) {
  leaving.claim->leave(leaving.done, now);
  departures_.push_back(std::move(leaving));
  tell_sent(departures_.back());
  return drop_departed();
}

// An unlock that does not wait for the answer. What could not be sent is waited for all the same.
void departures::tell_sent(departure& gone) {
  if (gone.done == nullptr || gone.done->awaits_answer || !gone.claim->is_leave_on_its_way())
    return;
  gone.was_told_sent = true;
  tell(gone, {});
}

answer departures::on_answer(std::uint64_t tenure_id, std::uint32_t serial, const step_result& said,
                             time_ns now) {
  for (auto& gone : departures_) {
    if (gone.claim->id() != tenure_id) continue;
    // A refused departure goes on by itself, but whoever waits for it is told.
    if (gone.claim->on_answer(serial, said, now) == news::refused) tell_result(gone);
    return drop_departed();
  }
  return answer::unknown;
}

answer departures::on_timer(time_ns now) {
  for (auto& gone : departures_) gone.claim->on_timer(now);
  return drop_departed();
}

void departures::on_up(time_ns now) {
  for (auto& gone : departures_) gone.claim->on_up(now);
}

time_ns departures::next_timer() const noexcept {
  auto next = time_never;
  for (const auto& gone : departures_) next = std::min(next, gone.claim->next_timer());
  return next;
}

departure* departures::of(const operation& unlock) noexcept {
  const auto found = std::find_if(departures_.begin(), departures_.end(),
                                  [&](const auto& item) { return item.done == &unlock; });
  return found == departures_.end() ? nullptr : &*found;
}

bool departures::are_awaited() const noexcept {
  return std::any_of(departures_.begin(), departures_.end(),
                     [](const auto& item) { return !item.was_told_sent; });
}

void departures::tell(departure& gone, const outcome& how) {
  if (gone.owner != nullptr) std::exchange(gone.owner, nullptr)->state = owner_state::idle;
  if (gone.done != nullptr) operations_.end(*std::exchange(gone.done, nullptr), how);
}

void departures::forget(const lock::owner& owner) {
  for (auto& gone : departures_) {
    if (gone.owner == &owner) tell(gone, outcome::of(status::closed));
  }
}

void departures::close(time_ns now) {
  for (auto& gone : departures_) {
    tell(gone, client_freed());
    gone.claim->leave_at_once(now);
  }
}

answer departures::tell_result(departure& gone) {
  const auto result = gone.claim->leave_result();
  outcome how;
  switch (result) {
    case answer::released:
    case answer::handed_over:
    case answer::cancelled:
      break;
    case answer::not_owner:
      how = outcome::lost(reason::server_lost);
      break;
    default:
      how = gone.claim->details();
      if (how.ok()) how = outcome::of(status::unknown, "the server did not answer");
      how.is_ambiguous = how.code == status::unknown;
      break;
  }
  if (std::exchange(gone.was_told_sent, false) && !how.ok()) listener_.on_not_released(how);
  tell(gone, how);
  return result;
}

// Word of the lock comes with an answer, and so of one departure at a time.
answer departures::drop_departed() {
  auto result = answer::unknown;
  for (std::size_t i = 0; i < departures_.size();) {
    if (departures_[i].claim->phase() != tenure_phase::over) {
      ++i;
      continue;
    }
    result = tell_result(departures_[i]);
    if (auto* const in = departures_[i].counts) in->released(release_of(result));
    departures_.erase(departures_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return result;
}

}  // namespace mortise::lock
