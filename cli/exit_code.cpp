#include "cli/exit_code.hpp"

#include <utility>

namespace mortise::cli {
namespace {

// A server has many reasons to refuse. The first word of the error text identifies the reason
// (hazard 28).
int code_of_refusal(std::string_view server_text) {
  static constexpr std::pair<const char*, int> codes[] = {
      {"NOPERM", exit_no_permission},
      {"NOAUTH", exit_no_permission},
      {"WRONGPASS", exit_no_permission},
      {"OOM", exit_try_again},
      {"READONLY", exit_unavailable},
      {"role ", exit_unavailable},
      {"MASTERDOWN", exit_unavailable},
      {"LOADING", exit_unavailable},
      {"BUSY ", exit_unavailable},
      {"CLUSTERDOWN", exit_unavailable},
      {"NOREPLICAS", exit_unavailable},
      {"MISCONF", exit_unavailable},
      {"lacks ", exit_unavailable},
      {"ERR unknown command", exit_unavailable},
      {"unsupported command", exit_unavailable}};
  for (const auto& [word, code] : codes) {
    if (server_text.starts_with(word)) return code;
  }
  return exit_data;
}

}  // namespace

int exit_code_of(mortise_status status, std::string_view server_text) {
  switch (status) {
    case MORTISE_OK:
      return exit_ok;
    case MORTISE_NOT_ACQUIRED:
    case MORTISE_TIMED_OUT:
    case MORTISE_DEADLOCK:
      return exit_not_acquired;
    case MORTISE_LOST:
    case MORTISE_NOT_OWNER:
      return exit_lost;
    case MORTISE_INVALID_ARGUMENT:
      return exit_usage;
    case MORTISE_UNREACHABLE:
      return exit_unavailable;
    case MORTISE_UNKNOWN:
      return exit_try_again;
    case MORTISE_REFUSED:
      // By the client itself, for example because a health check found the server bad.
      if (server_text.empty()) return exit_unavailable;
      [[fallthrough]];
    case MORTISE_UNSUPPORTED:
      return code_of_refusal(server_text);
    case MORTISE_LIMIT:
    case MORTISE_NO_MEMORY:
      return exit_system;
    default:
      return exit_software;
  }
}

}  // namespace mortise::cli
