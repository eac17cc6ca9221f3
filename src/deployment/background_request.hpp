// What one server of a quorum is told that nobody waits for: a release that it is owed, or the vote
// that it has lost.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/time.hpp"
#include "deployment/deployment.hpp"
#include "lock/step.hpp"

namespace mortise::deployment {

class background_request;

// On whichever thread reads, without a lock held.
class background_request_listener {
 public:
  virtual ~background_request_listener() = default;
  virtual void on_background_result(background_request& which, const lock::step_result& said,
                                    time_ns now) noexcept = 0;
};

// Its listener guards it, and uses it again once it was answered.
class background_request final : private lock_requester {
 public:
  background_request(deployment& to, std::size_t server, background_request_listener& hears);
  status send(const lock::step_request& asked, const protocol::table& rules,
              std::shared_ptr<const protocol::key_set> keys, time_ns now);
  // Sends it again to a server that has forgotten the script, once. False when it is over.
  bool send_text(time_ns now) noexcept;

  [[nodiscard]] const lock::step_request& asked() const noexcept { return asked_; }
  [[nodiscard]] std::size_t server() const noexcept { return server_; }

  std::size_t place = 0;     // in its pool
  bool is_of_batch = false;  // the listener's own

 private:
  void on_result(lock_request& /*answered*/, const lock::step_result& said,
                 time_ns now) noexcept override {
    hears_.on_background_result(*this, said, now);
  }

  background_request_listener& hears_;
  const std::size_t server_;
  const std::unique_ptr<lock_request> to_;
  time_ns lapses_at_ = 0;
  lock::step_request asked_;
  std::string token_;  // which the question refers to
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
};

}  // namespace mortise::deployment
