// The experiments, each of which measures some rows of the table.
#pragma once

#include <string_view>
#include <vector>

#include "harness.hpp"
#include "table.hpp"

namespace mortise::bench {

struct experiment {
  std::string_view name;
  std::vector<row> rows;
  void (*run)(const settings& chosen, table& results);
};

const experiment& uncontended();
const experiment& threads();
const experiment& async();
const experiment& server_cost();
const experiment& handoff();
const experiment& handoff_cost();
const experiment& local_gate();
const experiment& death();
const experiment& dead_waiter();
const experiment& memory();
const experiment& java();
const experiment& kinds();

}  // namespace mortise::bench
