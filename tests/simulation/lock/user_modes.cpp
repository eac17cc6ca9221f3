// A user of a read-write lock that changes between reading and writing during its hold.
#include "simulation/lock/user.hpp"

namespace mortise::simulation {

void user::change_mode() {
  if (is_busy() || is_raising_ || is_retired_ || !hold_.is_active) return;
  if (is_only(lock::hold_mode::shared)) return raise();
  if (is_only(lock::hold_mode::exclusive)) lower();
}

void user::raise() {
  observe(client_.now());
  const bool was_held = is_holding();
  others_.push_back(std::make_unique<other_operation>(*this, purpose::raise));
  auto& operation = *others_.back();
  const auto timeout = world_.plan.command_timeout_ms * ns_per_ms;
  operation.due =
      client_.now() + (world_.dice.happens(200) ? world_.dice.spread(timeout) : timeout);
  operation.deadline = operation.due;
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.raise(*owner_, operation, at);
    operation.is_accepted = result.ok();
    is_raising_ = result.ok() && !operation.is_finished;
    return result;
  });
  world_.log("%s: raise: %s", describe().c_str(), status_text(answer.code));
  const bool is_expected =
      was_held ? answer.ok() || answer.code == status::unreachable || answer.code == status::limit
               : answer.code == status::lost;
  if (!is_expected) violate(std::string("raise answered ") + status_text(answer.code));
}

void user::on_raised(const outcome& result, std::int64_t token) {
  is_raising_ = false;
  if (!result.ok()) {
    if (result.code == status::timed_out || result.code == status::not_owner) {
      violate(std::string("raise ended: ") + status_text(result.code));
    }
    return count_result(result);
  }
  ++world_.seen[count::upgraded];
  if (!is_holding()) return violate("a hold that is over was raised");
  if (token <= hold_.token) violate("a raised hold has no new token");
  change_hold(lock_.capacity, lock::hold_mode::exclusive);
  hold_.token = token;
}

void user::lower() {
  observe(client_.now());
  const bool was_held = is_holding();
  others_.push_back(std::make_unique<other_operation>(*this, purpose::lower));
  auto& operation = *others_.back();
  operation.due = client_.now() + world_.plan.command_timeout_ms * ns_per_ms;
  operation.deadline = operation.due;
  // From the call on it only reads, whatever comes of it.
  if (was_held) change_hold(1, lock::hold_mode::shared);
  const auto answer = gate_driver_->enter([&](lock::gate& gate, time_ns at) {
    operation.accepted_at = world_.time.now();
    auto result = gate.lower(*owner_, 1, operation, at);
    operation.is_accepted = result.ok();
    return result;
  });
  world_.log("%s: lower: %s", describe().c_str(), status_text(answer.code));
  if (answer.code != (was_held ? status::ok : status::lost)) {
    violate(std::string("lower answered ") + status_text(answer.code));
  }
}

}  // namespace mortise::simulation
