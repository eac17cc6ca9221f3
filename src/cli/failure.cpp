#include "cli/failure.hpp"

#include <unistd.h>

#include <string_view>

#include "cli/exit_code.hpp"

namespace mortise::cli {

namespace {

// The server refuses for more than one reason; whose rights do not suffice is told by its words.
int code_of(const mortise_error* error) {
  const std::string_view words = mortise_error_server_text(error);
  for (const auto* const start : {"NOPERM", "NOAUTH", "WRONGPASS"}) {
    if (words.starts_with(start)) return exit_no_permission;
  }
  return exit_code_of(mortise_error_code(error));
}

}  // namespace

failure::failure(const mortise_error* error)
    : failure(code_of(error), mortise_error_message(error)) {}

void complain(const char* command, const std::string& text) {
  const auto line =
      std::string("mortise") + (*command == '\0' ? "" : " ") + command + ": " + text + "\n";
  // There is nobody to tell if stderr is closed or full.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace mortise::cli
