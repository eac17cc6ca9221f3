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
  return drop_departed();
}

answer departures::on_answer(std::uint64_t tenure_id, std::uint32_t serial, const verdict& said,
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
