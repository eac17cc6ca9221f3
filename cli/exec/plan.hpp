// The arguments of `mortise exec`.
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
  std::string hold;                  // the id of a hold to continue; empty to acquire the names
  std::vector<std::string> command;  // the program, found in PATH, and its arguments

  mode access = mode::mutex;
  int64_t permits = 0;   // per name, with mode::permit
  int64_t wait_ms = -1;  // 0: no wait; -1: no limit
  int conflict_code = exit_not_acquired;
  std::string label;

  int64_t lease_ms = 0;   // 0: the default of the URL or the library
  int64_t grace_ms = -1;  // -1: derived from the lease
  int64_t at_least_ms = 0;
  int64_t at_most_ms = 0;            // 0: no limit
  int64_t progress_ms = 0;           // 0: no report is needed
  int64_t once_per_ms = 0;           // 0: every time
  bool counts_success_only = false;  // of once_per_ms

  std::string on_lost;
  std::string on_contended;
  std::string token_file;
  bool passes_url = false;  // a URL with a password, to the command
  bool is_verbose = false;
};

// Parses the arguments after `mortise exec`. Throws a failure for a wrong argument. Prints the help
// and returns false after --help.
bool read_plan(int argc, const char* const* argv, plan& result);

}  // namespace mortise::cli::exec
