#include "lock/gate/pending_releases.hpp"

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

answer pending_releases::add(pending_release release, time_ns now) {
  release.claim->release(release.done, now);
  pending_.push_back(std::move(release));
  end_sent_unlock(pending_.back());
  return drop_released();
}

// Ends an unlock that does not wait for the reply. An unsent release is still awaited.
void pending_releases::end_sent_unlock(pending_release& release) {
  if (release.done == nullptr || release.done->awaits_answer ||
      !release.claim->release_phase()->is_in_flight())
    return;
  release.is_sent_reported = true;
  end_unlock(release, {});
}

answer pending_releases::on_answer(std::uint64_t claim_id, std::uint32_t serial,
                                   const step_result& result, time_ns now) {
  for (auto& release : pending_) {
    if (release.claim->id() != claim_id) continue;
    // A refused pending release retries by itself, but its unlock gets the result.
    if (release.claim->on_answer(serial, result, now) == claim_event::refused)
      report_result(release);
    return drop_released();
  }
  return answer::unknown;
}

answer pending_releases::on_timer(time_ns now) {
  for (auto& release : pending_) release.claim->on_timer(now);
  return drop_released();
}

void pending_releases::on_up(time_ns now) {
  for (auto& release : pending_) release.claim->on_up(now);
}

time_ns pending_releases::next_timer() const noexcept {
  auto next = time_never;
  for (const auto& release : pending_) next = std::min(next, release.claim->next_timer());
  return next;
}

pending_release* pending_releases::of(const operation& unlock) noexcept {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const auto& item) { return item.done == &unlock; });
  return found == pending_.end() ? nullptr : &*found;
}

bool pending_releases::are_awaited() const noexcept {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const auto& item) { return !item.is_sent_reported; });
}

bool pending_releases::are_before(std::uint64_t claim_id) const noexcept {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const auto& item) { return item.claim->id() < claim_id; });
}

void pending_releases::end_unlock(pending_release& release, const outcome& error) {
  if (release.owner != nullptr) std::exchange(release.owner, nullptr)->enter(owner_state::idle);
  if (release.done != nullptr) operations_.end(*std::exchange(release.done, nullptr), error);
}

void pending_releases::forget(const lock::owner& owner) {
  for (auto& release : pending_) {
    if (release.owner == &owner) end_unlock(release, outcome::of(status::closed));
  }
}

void pending_releases::close(time_ns now) {
  for (auto& release : pending_) {
    end_unlock(release, client_freed());
    release.claim->release_phase()->at_once(now);
  }
}

answer pending_releases::report_result(pending_release& release) {
  const auto* const phase = release.claim->release_phase();
  const auto result = phase == nullptr ? answer::unknown : phase->result();
  outcome error;
  switch (result) {
    case answer::released:
    case answer::handed_over:
    case answer::cancelled:
      break;
    case answer::not_owner:
      error = outcome::lost(reason::server_lost);
      break;
    default:
      error = release.claim->requests().details();
      if (error.ok()) error = outcome::of(status::unknown, "the server did not answer");
      error.is_ambiguous = error.code == status::unknown;
      break;
  }
  if (std::exchange(release.is_sent_reported, false) && !error.ok())
    listener_.on_not_released(error);
  // Before the call ends, whose thread may look at the statistics. A refused release goes on.
  if (release.counts != nullptr && release.claim->phase() == claim_phase::over)
    release.counts->released(release_of(result));
  end_unlock(release, error);
  return result;
}

// A result comes with a reply, and so for one pending release at a time.
answer pending_releases::drop_released() {
  auto result = answer::unknown;
  for (std::size_t i = 0; i < pending_.size();) {
    if (pending_[i].claim->phase() != claim_phase::over) {
      ++i;
      continue;
    }
    result = report_result(pending_[i]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return result;
}

}  // namespace mortise::lock
