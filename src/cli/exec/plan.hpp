// What `mortise exec` was told to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace mortise::cli::exec {

enum class mode { mutex, reader, writer, permit };

struct plan {
  std::string url;  // MORTISE_URL if empty
  std::vector<std::string> names;
  std::vector<std::string> command;  // with the program, which is looked for in PATH

  mode how = mode::mutex;
  int64_t permits = 0;   // of each name, with mode::permit
  int64_t wait_ms = -1;  // 0: not at all; -1: for as long as it takes
  int conflict_code = exit_not_acquired;
  std::string label;

  int64_t lease_ms = 0;   // 0: as the URL or the library has it
  int64_t grace_ms = -1;  // -1: as the lease allows
  int64_t at_least_ms = 0;
  int64_t at_most_ms = 0;   // 0: no limit
  int64_t once_per_ms = 0;  // 0: each time

  std::string on_lost;
  std::string token_file;
  bool is_verbose = false;
};

// Reads what follows `mortise exec`. Throws a failure for what is wrong; prints the help and
// returns false if that was asked for.
bool read_plan(int argc, const char* const* argv, plan& to);

}  // namespace mortise::cli::exec
