#include "statistics/connection_statistics.hpp"

namespace mortise::statistics {

namespace {

// `gone`: closed by the server or the network. `silent`: no reply. `replaced`: its name, or the
// server itself, names another server. `refused`: the server reports that it does not serve.
constexpr std::array reasons{"gone", "silent", "replaced", "refused"};

std::size_t place_of(const outcome& why) noexcept {
  constexpr auto refused = reasons.size() - 1;
  if (why.cause == nullptr) return why.code == status::refused ? refused : 0;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (std::string_view(why.cause) == reasons[i]) return i;
  }
  return refused;  // with its own message, such as that it is a replica now
}

}  // namespace

const char* connection_statistics::came_up() noexcept {
  is_up_.store(true, std::memory_order_relaxed);
  if (!has_ended_) return nullptr;
  reconnects_[ended_by_].add();
  return reasons[ended_by_];
}

void connection_statistics::went_down(const outcome& why) noexcept {
  is_up_.store(false, std::memory_order_relaxed);
  has_ended_ = true;
  ended_by_ = place_of(why);
}

void connection_statistics::reset() noexcept {
  round_trips_.reset();
  has_ended_ = false;
  for (auto& one : reconnects_) one.reset();
}

void connection_statistics::add_to(snapshot& target, std::string_view server) const {
  const labels base{{"server", std::string(server)}};
  target.add("mortise_round_trip_seconds", base, round_trips_);
  const bool is_up = is_up_.load(std::memory_order_relaxed);
  for (const bool state : {true, false}) {
    auto with_state = base;
    with_state.emplace_back("state", state ? "up" : "away");
    target.add("mortise_connections", with_state, state == is_up ? 1 : 0);
  }
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    auto with_reason = base;
    with_reason.emplace_back("reason", reasons[i]);
    target.add("mortise_reconnects_total", with_reason, static_cast<double>(reconnects_[i].read()));
  }
}

}  // namespace mortise::statistics
