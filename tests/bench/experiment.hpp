// The experiments, each of which measures some rows of the table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "table.hpp"

namespace mortise::bench {

struct experiment {
  std::string name;
  std::vector<row> rows;
  std::function<void(const settings& chosen, table& results)> run;
};

const experiment& uncontended();
const experiment& retention();
const experiment& readers();
const experiment& threads();
const experiment& async();
const experiment& server_cost();
const experiment& compare_and_delete();
const experiment& handoff();
const experiment& handoff_cost();
const experiment& local_gate();
const experiment& local_gate_waits();
const experiment& fence();
const experiment& death();
const experiment& dead_waiter();
const experiment& failover();
const experiment& sentinel();
const experiment& cluster();
const experiment& handshake();
const experiment& holds();
const experiment& memory();
const experiment& kinds();
const experiment& health();
const experiment& shard();
const experiment& redlock();
const experiment& redlock_faults();
const experiment& redlock_contention();
const experiment& acks();
const experiment& cxx();
const experiment& statistics_cost();
const experiment& command();
// One for each language that has a binding.
const std::vector<experiment>& languages();

}  // namespace mortise::bench
