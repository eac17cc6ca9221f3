#include "cli/failure.hpp"

#include <unistd.h>

#include "cli/exit_code.hpp"

namespace mortise::cli {

namespace {

// A failure has an exit code even if the error is empty by mistake.
int code_of(const mortise_error* error) {
  const int code = exit_code_of(mortise_error_status(error), mortise_error_server_text(error));
  return code == exit_ok ? int{exit_software} : code;
}

}  // namespace

failure::failure(const mortise_error* error)
    : failure(code_of(error), mortise_error_message(error)) {}

void complain(const char* command, const std::string& text) {
  const auto line =
      std::string("mortise") + (*command == '\0' ? "" : " ") + command + ": " + text + "\n";
  // Ignores errors: if stderr is closed or full, no other output is left.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace mortise::cli
