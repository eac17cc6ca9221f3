#include "simulation/lock/simulated_server.hpp"

#include <algorithm>
#include <utility>

#include "simulation/lock/lock_trace.hpp"

namespace mortise::simulation {

namespace {

constexpr time_ns epoch_ns = 1'790'000'000 * ns_per_s;

}  // namespace

// ---- connection -----------------------------------------------------------------------------

connection::connection(world& around, simulated_server& server)
    : world_(around), server_(server), session_(server.redis.connect()) {
  session_.send = [this](std::string bytes) { put(to_client_, std::move(bytes), false, 0, false); };
  session_.on_killed = [this] { put(to_client_, {}, true, 0, false); };
}

void connection::put(direction& way, std::string bytes, bool is_end, time_ns extra,
                     bool to_server) {
  if (!way.is_open) return;
  if (is_end) way.is_open = false;
  const auto typical = world_.plan.latency_ns;
  const auto latency = typical / 2 + world_.dice.below(typical + 1) + extra;
  way.last_chunk_at = std::max(way.last_chunk_at, world_.time.now() + latency);
  way.under_way.push_back({way.last_chunk_at, std::move(bytes), is_end});
  world_.time.at(way.last_chunk_at, [this, to_server] {
    if (to_server) return server_.receive(*this);
    if (on_input) on_input();
  });
}

void connection::send(std::string bytes) { put(to_server_, std::move(bytes), false, 0, true); }

void connection::close() {
  put(to_server_, {}, true, 0, true);
  on_input = nullptr;
}

bool connection::receive(std::string& bytes, bool& ended) {
  ended = false;
  if (to_client_.under_way.empty()) return false;
  auto& first = to_client_.under_way.front();
  if (first.delivery_time > world_.time.now()) return false;
  ended = first.is_end;
  bytes = std::move(first.bytes);
  to_client_.under_way.pop_front();
  return true;
}

void connection::lose_suffix(direction& way) {
  if (!way.is_open) return;
  const auto kept = world_.dice.below(static_cast<std::int64_t>(way.under_way.size()) + 1);
  way.under_way.erase(way.under_way.begin() + kept, way.under_way.end());
}

void connection::cut() {
  lose_suffix(to_server_);
  lose_suffix(to_client_);
  put(to_server_, {}, true, world_.dice.spread(5 * ns_per_s), true);
  put(to_client_, {}, true, world_.dice.spread(ns_per_s), false);
}

void connection::stall(time_ns until) {
  for (auto* way : {&to_server_, &to_client_}) {
    way->last_chunk_at = std::max(way->last_chunk_at, until);
  }
}

void connection::end_at_server() {
  if (!session_.is_open) return;
  server_.redis.disconnect(session_);
  lose_suffix(to_client_);
  put(to_client_, {}, true, world_.dice.spread(ns_per_s), false);
}

void connection::execute_next() {
  if (to_server_.under_way.empty()) return;
  if (to_server_.under_way.front().delivery_time > world_.time.now()) return;
  const auto next = std::move(to_server_.under_way.front());
  to_server_.under_way.pop_front();
  if (!session_.is_open) return;
  if (next.is_end) {
    server_.redis.disconnect(session_);
    return;
  }
  if (!on_input) ++world_.seen[count::ghost_commands];
  run_commands(next.bytes);
}

// Bytes that were sent at once may arrive in pieces, between which others are served.
void connection::run_commands(std::string_view bytes) {
  while (!bytes.empty() && session_.is_open) {
    if (parser_.parse(bytes) != redis::parse_result::complete) {
      return world_.violate("a client sent what is not a command");
    }
    arguments command;
    for (std::size_t i = 0; i < parser_.reply().size(); ++i) {
      command.emplace_back(parser_.reply().at(i).text());
    }
    bytes.remove_prefix(parser_.consumed());
    if (command.empty()) return world_.violate("a client sent an empty command");
    if (world_.trace != nullptr) {
      world_.trace->execute(session_, command);
    } else {
      server_.watch.execute(session_, command);
    }
    if (!bytes.empty() && world_.dice.happens(50)) {
      to_server_.under_way.push_front({world_.time.now(), std::string(bytes), false});
      return server_.receive(*this);
    }
  }
}

// ---- server ---------------------------------------------------------------------------------

simulated_server::simulated_server(world& around)
    : clock(epoch_ns + around.dice.below(ns_per_s),
            around.dice.between(-around.plan.drift_ppm, around.plan.drift_ppm)),
      redis([this] { return clock.read(world_.time.now()) / ns_per_us; }),
      watch(around, redis),
      world_(around) {}

connection* simulated_server::connect() {
  if (world_.time.now() < open_at_) return nullptr;
  return connections_.emplace_back(std::make_unique<connection>(world_, *this)).get();
}

void simulated_server::pause(time_ns until) { free_at_ = std::max(free_at_, until); }

void simulated_server::shut(time_ns until) {
  open_at_ = std::max(open_at_, until);
  for (const auto& open : connections_) open->cut();
}

void simulated_server::change(simulated_redis::data with, time_ns until) {
  open_at_ = std::max(open_at_, until);
  end_connections();
  if (with != redis.all_data()) watch.forget();
  redis.restart(std::move(with));
}

void simulated_server::end_connections() {
  for (const auto& open : connections_) open->end_at_server();
}

time_ns simulated_server::truth_of_ms(std::int64_t server_ms) const {
  return clock.truth_of(server_ms * ns_per_ms);
}

void simulated_server::receive(connection& from) {
  backlog_.push_back(&from);
  if (is_working_) return;
  is_working_ = true;
  world_.time.at(free_at_, [this] { work(); });
}

void simulated_server::work() {
  if (world_.time.now() < free_at_) {
    world_.time.at(free_at_, [this] { work(); });
    return;
  }
  auto* const from = backlog_.front();
  backlog_.pop_front();
  from->execute_next();
  free_at_ = world_.time.now() + world_.dice.between(1, 20) * ns_per_us;
  is_working_ = !backlog_.empty();
  if (is_working_) world_.time.at(free_at_, [this] { work(); });
}

}  // namespace mortise::simulation
