#include "cli/exit_code.hpp"

namespace mortise::cli {

int exit_code_of(mortise_status status) {
  switch (status) {
    case MORTISE_OK:
      return exit_ok;
    case MORTISE_NOT_ACQUIRED:
    case MORTISE_TIMED_OUT:
      return exit_not_acquired;
    case MORTISE_LOST:
      return exit_lost;
    case MORTISE_INVALID_ARGUMENT:
      return exit_usage;
    case MORTISE_UNREACHABLE:
      return exit_unavailable;
    case MORTISE_UNKNOWN:
      return exit_try_again;
    case MORTISE_REFUSED:
    case MORTISE_UNSUPPORTED:
      return exit_data;
    case MORTISE_LIMIT:
    case MORTISE_NO_MEMORY:
      return exit_system;
    default:
      return exit_software;
  }
}

}  // namespace mortise::cli
