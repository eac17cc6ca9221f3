// A request to one server of a quorum without a waiting caller: a pending release, or a vote that
// the server has lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "lock/step.hpp"

namespace mortise::deployment {

class redlock_coordinator;

// Guarded by the coordinator, which reuses it after the result.
class background_request final : private lock_requester {
 public:
  background_request(deployment& target, std::size_t server, redlock_coordinator& coordinator)
      : coordinator_(coordinator), server_(server), sender_(target.new_request(*this, {})) {}

  status send(const lock::step_request& request, const protocol::table& rules,
              std::shared_ptr<const protocol::key_set> keys, time_ns now) noexcept try {
    token_ = request.token;
    request_ = request;
    request_.token = token_;
    request_.sent_at = 0;  // it may be sent again, much later
    lapses_at_ = now + to_ns(request.ttl_ms);
    rules_ = &rules;
    keys_ = std::move(keys);
    return sender_->send(request_, *rules_, *keys_, nullptr);
  } catch (const std::bad_alloc&) {
    return status::no_memory;
  }
  // Sends it once more, to a server that has forgotten the script. Returns false when it is over.
  // A second request for a vote does not extend the vote (hazard 17).
  bool send_text(std::int64_t ttl_ms, time_ns now) noexcept {
    if (std::exchange(request_.with_text, true)) return false;
    request_.ttl_ms = ttl_ms;
    if (quorum::is_take(request_.what)) {
      request_.ttl_ms = std::min(request_.ttl_ms, (lapses_at_ - now) / ns_per_ms);
      if (request_.ttl_ms <= 0) return false;
    }
    return sender_->send(request_, *rules_, *keys_, nullptr) == status::ok;
  }

  [[nodiscard]] const lock::step_request& request() const noexcept { return request_; }
  [[nodiscard]] std::size_t server() const noexcept { return server_; }

  std::size_t place = 0;     // in its pool
  bool is_of_batch = false;  // for the coordinator

 private:
  void on_result(lock_request& /*request*/, const lock::step_result& result,
                 time_ns now) noexcept override;

  redlock_coordinator& coordinator_;
  const std::size_t server_;
  const std::unique_ptr<lock_request> sender_;
  time_ns lapses_at_ = 0;
  lock::step_request request_;
  std::string token_;  // for the request, which refers to it
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
};

}  // namespace mortise::deployment
