// The trace of a run with a cluster. A slot is one place for its mutexes, also while it moves.
#pragma once

#include <map>
#include <string>

#include "simulation/cluster/cluster_node.hpp"
#include "simulation/harness/mutex_trace.hpp"

namespace mortise::cluster_simulation {

class slot_trace final : public simulation::mutex_trace {
 public:
  // Throws when the file cannot be written.
  slot_trace(const world& around, node_set& all, const std::string& file);

  // A server executes a command for this slot.
  void execute(node& server, int slot, session& from, const arguments& command);

 private:
  node_set& all_;
  std::map<int, simulation::mutex_place> slots_;
};

}  // namespace mortise::cluster_simulation
