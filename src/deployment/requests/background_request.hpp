// A request to one server of a quorum without a waiting caller: a pending release, or a vote that
// the server has lost.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "lock/step.hpp"

namespace mortise::deployment {

class background_request;

// On the thread that reads, without a lock held.
class background_request_listener {
 public:
  virtual ~background_request_listener() = default;
  virtual void on_background_result(background_request& request, const lock::step_result& result,
                                    time_ns now) noexcept = 0;
};

// Guarded by its listener, which reuses it after the result.
class background_request final : private lock_requester {
 public:
  background_request(deployment& target, std::size_t server, background_request_listener& listener);
  status send(const lock::step_request& request, const protocol::table& rules,
              std::shared_ptr<const protocol::key_set> keys, time_ns now);
  // Sends it once more, to a server that has forgotten the script. Returns false when it is over.
  bool send_text(time_ns now) noexcept;

  [[nodiscard]] const lock::step_request& step() const noexcept { return step_; }
  [[nodiscard]] std::size_t server() const noexcept { return server_; }

  std::size_t place = 0;     // in its pool
  bool is_of_batch = false;  // for the listener

 private:
  void on_result(lock_request& /*answered*/, const lock::step_result& result,
                 time_ns now) noexcept override {
    listener_.on_background_result(*this, result, now);
  }

  background_request_listener& listener_;
  const std::size_t server_;
  const std::unique_ptr<lock_request> request_;
  time_ns deadline_ = 0;
  lock::step_request step_;
  std::string token_;  // for the request, which refers to it
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
};

}  // namespace mortise::deployment
