#include "deployment/requests/background_request.hpp"

#include <algorithm>
#include <utility>

#include "deployment/redlock/votes/vote_record.hpp"

namespace mortise::deployment {

background_request::background_request(deployment& target, std::size_t server,
                                       background_request_listener& listener)
    : listener_(listener), server_(server), request_(target.new_request(*this)) {}

status background_request::send(const lock::step_request& request, const protocol::table& rules,
                                std::shared_ptr<const protocol::key_set> keys, time_ns now) {
  token_ = request.token;
  step_ = request;
  step_.token = token_;
  step_.sent_at = 0;  // it may be sent again, much later
  deadline_ = now + to_ns(request.ttl_ms);
  rules_ = &rules;
  keys_ = std::move(keys);
  return request_->send(step_, *rules_, *keys_, nullptr);
}

// The second request does not extend the vote (hazard 17).
bool background_request::send_text(time_ns now) noexcept {
  if (std::exchange(step_.with_text, true)) return false;
  if (!quorum::is_release(step_.what)) {
    step_.ttl_ms = std::min(step_.ttl_ms, (deadline_ - now) / ns_per_ms);
    if (step_.ttl_ms <= 0) return false;
  }
  return request_->send(step_, *rules_, *keys_, nullptr) == status::ok;
}

}  // namespace mortise::deployment
