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

class errand;

// On whichever thread reads, without a lock held.
class errand_listener {
 public:
  virtual ~errand_listener() = default;
  virtual void on_errand(errand& which, const lock::step_result& said, time_ns now) noexcept = 0;
};

// Its listener guards it, and uses it again once it was answered.
class errand final : private inquirer {
 public:
  errand(deployment& to, std::size_t server, errand_listener& hears);
  status send(const lock::question& asked, const protocol::table& rules,
              std::shared_ptr<const protocol::key_set> keys, time_ns now);
  // Sends it again to a server that has forgotten the script, once. False when it is over.
  bool send_text(time_ns now) noexcept;

  [[nodiscard]] const lock::question& asked() const noexcept { return asked_; }
  [[nodiscard]] std::size_t server() const noexcept { return server_; }

  std::size_t place = 0;     // in its pool
  bool is_of_batch = false;  // the listener's own

 private:
  void on_result(inquiry& /*answered*/, const lock::step_result& said,
                 time_ns now) noexcept override {
    hears_.on_errand(*this, said, now);
  }

  errand_listener& hears_;
  const std::size_t server_;
  const std::unique_ptr<inquiry> to_;
  time_ns lapses_at_ = 0;
  lock::question asked_;
  std::string token_;  // which the question refers to
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
};

}  // namespace mortise::deployment
