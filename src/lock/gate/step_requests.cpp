#include "lock/gate/step_requests.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

// The delay before an unsent request is retried, plus full jitter.
constexpr time_ns retry_ns = 50 * ns_per_ms;

// Some results show that a request for the lock left nothing at the server.
bool leaves_a_trace(step sent, const step_result& result) noexcept {
  const bool is_attempt = sent == step::try_take || sent == step::acquire ||
                          sent == step::reacquire || sent == step::retake || sent == step::adopt;
  return is_attempt && (result.what != answer::not_free || result.is_noted) &&
         result.what != answer::not_owner && result.what != answer::refused &&
         result.what != answer::no_script && result.what != answer::unsent;
}

}  // namespace

step_requests::step_requests(std::uint64_t claim_id, std::string token,
                             const lock::amount& requested, const lease_terms& terms, lock_io& io)
    : io_(io), claim_id_(claim_id), token_(std::move(token)), amount_(requested), terms_(terms) {}

// Reserves a place for the reply before anything is sent.
bool step_requests::ask(const step_options& options, time_ns now, time_ns* retry_at) {
  const bool may_queue = options.what == step::acquire || options.what == step::reacquire;
  if (may_queue && !secret_) secret_ = io_.new_grant_secret();
  step_request request;
  request.claim_id = claim_id_;
  request.serial = serial_ + 1;
  request.what = options.what;
  const bool restores = options.what == step::restore;
  request.token = restores ? adopted_ : token_;
  request.secret = secret();
  request.adopted = restores ? token_ : adopted_;
  request.ttl_ms = options.ttl_ms;
  request.reserve = options.reserve;
  request.permits = amount_.permits;
  request.capacity = amount_.capacity;
  request.lifetimes_ms = terms_.lifetimes_ms;
  request.with_text = options.with_text;
  request.value = options.value;
  request.sent_at = now;
  try {
    open_.push_back({request.serial, options.what, now, options.target, options.ttl_ms,
                     options.reserve, terms_.lease_ms});
    if (io_.ask(request, options.requester)) {
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

bool step_requests::take_secret(std::string_view given) noexcept {
  const bool is_taken = secret_ && !is_secret_known_ && given == secret();
  is_secret_known_ = is_secret_known_ || is_taken;
  return is_taken;
}

std::optional<open_request> step_requests::close(std::uint32_t serial,
                                                 const step_result& result) noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const auto& item) { return item.serial == serial; });
  if (found == open_.end()) return std::nullopt;
  const auto request = *found;
  open_.erase(found);
  may_have_trace_ = may_have_trace_ || leaves_a_trace(request.what, result);
  if (result.what == answer::broken) ++broken_;
  return request;
}

time_ns step_requests::retry_time(time_ns now, time_ns at_least) noexcept {
  return now + std::max(retry_ns, at_least) + io_.random_below(retry_ns);
}

std::size_t step_requests::open(step what) const noexcept {
  return static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [&](const auto& item) { return item.what == what; }));
}

time_ns step_requests::latest_target() const noexcept {
  time_ns latest = 0;
  for (const auto& item : open_) latest = std::max(latest, item.target);
  return latest;
}

void step_requests::keep_details(const step_result& result) noexcept {
  details_ = result.details;
  is_refusal_passing_ = result.is_passing;
}

std::int64_t step_requests::ttl_ms(std::int64_t lease_ms) const noexcept {
  return server_ttl_ms(lease_ms, terms_.drift_ppm);
}

}  // namespace mortise::lock
