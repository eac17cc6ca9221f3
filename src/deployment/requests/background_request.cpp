#include "deployment/requests/background_request.hpp"

#include <algorithm>
#include <utility>

#include "deployment/redlock/votes/vote_record.hpp"

namespace mortise::deployment {

background_request::background_request(deployment& target, std::size_t server,
                                       background_request_listener& hears)
    : hears_(hears), server_(server), to_(target.new_request(*this, {})) {}

status background_request::send(const lock::step_request& request, const protocol::table& rules,
                                std::shared_ptr<const protocol::key_set> keys, time_ns now) {
  token_ = request.token;
  asked_ = request;
  asked_.token = token_;
  asked_.asked_at = 0;  // it may be sent again, much later
  lapses_at_ = now + to_ns(request.ttl_ms);
  rules_ = &rules;
  keys_ = std::move(keys);
  return to_->send(asked_, *rules_, *keys_, nullptr);
}

// The second request does not extend the vote (hazard 17).
bool background_request::send_text(time_ns now) noexcept {
  if (std::exchange(asked_.with_text, true)) return false;
  if (!quorum::is_release(asked_.what)) {
    asked_.ttl_ms = std::min(asked_.ttl_ms, (lapses_at_ - now) / ns_per_ms);
    if (asked_.ttl_ms <= 0) return false;
  }
  return to_->send(asked_, *rules_, *keys_, nullptr) == status::ok;
}

}  // namespace mortise::deployment
