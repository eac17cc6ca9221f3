#include "lock/step_requests.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

// The delay before an unsent request is retried, plus full jitter.
constexpr time_ns retry_ns = 50 * ns_per_ms;

// Four results show that a request for the lock left nothing at the server.
bool leaves_a_trace(step asked, const step_result& said) noexcept {
  const bool is_attempt = asked == step::try_take || asked == step::acquire ||
                          asked == step::reacquire || asked == step::retake;
  return is_attempt && (said.what != answer::not_free || said.is_noted) &&
         said.what != answer::refused && said.what != answer::no_script &&
         said.what != answer::unsent;
}

}  // namespace

step_requests::step_requests(std::uint64_t claim_id, std::string token, const amount& wanted,
                             const lease_terms& terms, lock_io& io)
    : io_(io), claim_id_(claim_id), token_(std::move(token)), wanted_(wanted), terms_(terms) {}

// Reserves a place for the reply before anything is sent.
bool step_requests::ask(const step_options& wanted, time_ns now, time_ns* retry_at) {
  step_request asked;
  asked.claim_id = claim_id_;
  asked.serial = serial_ + 1;
  asked.what = wanted.what;
  asked.token = token_;
  asked.ttl_ms = wanted.ttl_ms;
  asked.reserve = wanted.reserve;
  asked.weight = wanted_.weight;
  asked.limit = wanted_.limit;
  asked.lifetimes_ms = terms_.lifetimes_ms;
  asked.with_text = wanted.with_text;
  asked.asked_at = now;
  try {
    open_.push_back({asked.serial, wanted.what, now, wanted.target, wanted.ttl_ms, wanted.reserve,
                     terms_.lease_ms});
    if (io_.ask(asked, wanted.by)) {
      ++serial_;
      return true;
    }
    open_.pop_back();
  } catch (const std::bad_alloc&) {
    // Nothing was sent.
  }
  if (retry_at != nullptr && io_.problem().ok()) *retry_at = retry_time(now);
  return false;
}

std::optional<open_request> step_requests::close(std::uint32_t serial,
                                                 const step_result& said) noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const auto& item) { return item.serial == serial; });
  if (found == open_.end()) return std::nullopt;
  const auto asked = *found;
  open_.erase(found);
  may_be_there_ = may_be_there_ || leaves_a_trace(asked.what, said);
  if (said.what == answer::broken) ++broken_;
  return asked;
}

time_ns step_requests::retry_time(time_ns now, time_ns at_least) noexcept {
  return now + std::max(retry_ns, at_least) + io_.random_below(retry_ns);
}

std::size_t step_requests::open(step what) const noexcept {
  return static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [&](const auto& item) { return item.what == what; }));
}

void step_requests::keep_details(const step_result& said) noexcept {
  details_ = said.details;
  is_refusal_passing_ = said.is_passing;
}

std::int64_t step_requests::ttl_ms(std::int64_t lease_ms) const noexcept {
  return server_ttl_ms(lease_ms, terms_.drift_ppm);
}

}  // namespace mortise::lock
