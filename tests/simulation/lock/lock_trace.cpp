#include "simulation/lock/lock_trace.hpp"

#include "simulation/lock/simulated_server.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

lock_trace::lock_trace(const world& around, simulated_server& server, const std::string& file)
    : mutex_trace(around.time, server.clock, file,
                  field("simulation", "lock") +
                      field("seed", static_cast<std::int64_t>(around.plan.seed)) +
                      ", \"exclusive\": " + (around.plan.is_exclusive ? "true" : "false") +
                      field("start_us", server.redis.now_us())),
      server_(server) {
  place_.servers = {&server_.redis};
  server_.redis.on_published = [this](const std::string& text) { note_message(text); };
}

lock_trace::~lock_trace() { server_.redis.on_published = nullptr; }

void lock_trace::execute(session& from, const arguments& command) {
  mutex_trace::execute(place_, from, command, [&] { server_.watch.execute(from, command); });
}

}  // namespace mortise::simulation
