// A history of lock operations, one JSON object per line. docs/internals/histories.md describes it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mortise::evidence {

struct operation {
  std::int64_t process = 0;
  std::int64_t client = 0;
  std::int64_t owner = 0;
  std::string_view kind;
  std::string_view name;
  std::string_view op;
  std::string_view mode;
  std::string_view status;
  std::int64_t call_ns = 0;
  std::int64_t return_ns = 0;
  std::int64_t token = 0;
  std::int64_t hold = 0;
  std::int64_t lease_end_ns = 0;
  std::int64_t permits = 0;
  std::int64_t capacity = 0;
  bool is_held = false;
  bool is_accepted = false;
  std::int64_t highest = 0;
  std::int64_t multi = 0;
  std::int64_t members = 0;
};

struct operation_history {
  bool is_exclusive = true;
  bool is_cut = false;  // the last line has no end
  std::vector<operation> operations;
  std::vector<operation> faults;  // of servers and networks
  // The texts of the operations, each once.
  std::unordered_set<std::string> texts;
};

// Throws std::runtime_error with the line that is no operation.
operation_history read_operations(std::istream& in);

}  // namespace mortise::evidence
