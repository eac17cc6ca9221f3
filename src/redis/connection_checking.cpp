// Finds what a service lacks if it ends each connection before its first reply.
#include <algorithm>
#include <new>
#include <utility>

#include "redis/connection.hpp"

namespace mortise::redis {

namespace {

// One such end may come from a server that starts or stops.
constexpr int unheard_ends_before_check = 2;

}  // namespace

// Reports whether a check has begun, which ends in on_service_checked(). A client that was
// connected before may hold locks, and keeps trying.
bool connection::check_service() noexcept try {
  auto& ends = attempt_.check.unheard_ends;
  ends = std::exchange(attempt_.was_unheard, false) ? ends + 1 : 0;
  if (ends < unheard_ends_before_check || up_.was_ever || config_.is_of_sentinel) return false;
  if (!attempt_.check.service) {
    service_check_listener& me = *this;
    attempt_.check.service =
        std::make_unique<service_check>(loop_, config_.where, config_.make_transport, me);
  }
  auto deadline = boot_now() + config_.command_timeout_ms * ns_per_ms;
  {
    const std::lock_guard guard(mutex_);
    if (opening_.is_on) deadline = std::min(deadline, opening_.deadline);
  }
  phase_ = phase::checking;
  attempt_.check.service->begin(endpoint_.address(), deadline);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void connection::on_service_checked(const service_gaps& lacking) noexcept {
  if (phase_ != phase::checking) return settle();
  try {
    note_gaps(lacking);
  } catch (const std::bad_alloc&) {
    attempt_.end = outcome::of(status::no_memory);
  }
  conclude();
}

// The gaps do not change by the next attempt.
void connection::note_gaps(const service_gaps& lacking) {
  if (!lacking.excludes_locks()) return;
  attempt_.end = outcome::of(status::refused, endpoint_.text(),
                             ": the service answers PING, but closes the connection at ",
                             lacking.text(), ", as twemproxy does; ", lacking.remedy());
  attempt_.end.server_text = "lacks " + lacking.text();
  attempt_.is_end_definite = true;
}

}  // namespace mortise::redis
