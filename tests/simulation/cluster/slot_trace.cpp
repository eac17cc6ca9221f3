#include "simulation/cluster/slot_trace.hpp"

namespace mortise::cluster_simulation {

using simulation::field;

// The model replays no trace of servers with different times.
slot_trace::slot_trace(const world& around, node_set& all, const std::string& file)
    : mutex_trace(around.time, all.at(0).clock, file,
                  field("simulation", "cluster") + ", \"exclusive\": " +
                      (around.is_exclusive && around.has_one_clock ? "true" : "false") +
                      field("start_us", all.at(0).redis.now_us())),
      all_(all) {
  for (int i = 0; i < all.size(); ++i) {
    all.at(i).redis.on_published = [this](const std::string& text) { note_message(text); };
  }
}

void slot_trace::execute(node& server, int slot, session& from, const arguments& command) {
  auto& at = slots_[slot];
  at.tag = cluster::tag_of(slot);
  at.fields = field("slot", std::int64_t{slot}) + field("server", std::int64_t{server.number});
  at.servers = {&server.redis};
  const auto add = [&](int number) {
    auto* const other = &all_.at(number).redis;
    if (other != &server.redis) at.servers.push_back(other);
  };
  auto& owner = all_.at(all_.owner_of(slot));
  add(owner.number);
  if (const auto to = owner.migrating.find(slot); to != owner.migrating.end()) add(to->second);
  mutex_trace::execute(at, from, command, [&] { server.redis.execute(from, command); });
}

}  // namespace mortise::cluster_simulation
