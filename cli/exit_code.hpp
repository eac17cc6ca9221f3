// The exit codes of the command. 64 to 78 are those of sysexits.h, 124 to 127 those of timeout(1)
// and shells. docs/command.md lists all of them.
#pragma once

#include <mortise/mortise.h>

#include <string_view>

namespace mortise::cli {

enum exit_code : int {
  exit_ok = 0,
  exit_not_acquired = 1,
  exit_usage = 64,
  exit_data = 65,
  exit_unavailable = 69,
  exit_software = 70,
  exit_system = 71,
  exit_cannot_create = 73,
  exit_input_output = 74,
  exit_try_again = 75,
  exit_no_permission = 77,
  // The hold was lost, or was about to be lost, while the command ran.
  exit_lost = 79,
  // The command ran until the limit of --at-most.
  exit_at_most = 124,
  exit_not_executable = 126,
  exit_not_found = 127,
  // Plus the number of the signal that ended the command.
  exit_signal = 128
};

constexpr int largest_exit_code = 255;

// The exit code for a call's status. `server_text` is the server's error text, or empty.
int exit_code_of(mortise_status status, std::string_view server_text);

}  // namespace mortise::cli
