#include "simulation/lock/arrivals_watch.hpp"

#include <algorithm>

#include "protocol/table.hpp"

namespace mortise::simulation {

namespace {

constexpr std::int64_t changed_ms = 5000;
constexpr std::int64_t cut_off_ms = 2000;

}  // namespace

std::int64_t arrivals_watch::left_ms() const {
  const auto left = until_ms_ - redis_.now_ms();
  // Beyond that the clock was set back.
  return left > changed_ms ? 0 : left;
}

void arrivals_watch::look(const arguments& command) {
  const bool is_greeting =
      command.size() == 7 && command[0] == "EVAL" && command[3] == protocol::server_key;
  const auto& fault = redis_.fault;
  if (!is_greeting || !fault.refuse_all.empty() || !fault.refuse_writes.empty()) return;
  const auto* const known = redis_.find(protocol::server_key);
  const bool is_changed = known != nullptr && known->text != redis_.run_id;
  const auto for_now = is_changed ? changed_ms : command[5] == "back" ? cut_off_ms : 0;
  until_ms_ = redis_.now_ms() + std::max({std::int64_t{0}, left_ms(), for_now});
}

bool arrivals_watch::keeps_place(const std::string& client) const {
  if (redis_.hearers("mortise:inbox:" + client) > 0) return true;
  // What was noted may be lost with the data.
  return is_unsettled() && world_.plan.is_exclusive;
}

}  // namespace mortise::simulation
