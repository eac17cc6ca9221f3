#include "base/status.hpp"

namespace mortise {

const char* status_text(status code) noexcept {
  switch (code) {
    case status::ok:
      return "ok";
    case status::not_acquired:
      return "not acquired";
    case status::timed_out:
      return "timed out";
    case status::cancelled:
      return "cancelled";
    case status::lost:
      return "lost";
    case status::not_owner:
      return "not the owner";
    case status::shut_down:
      return "shut down";
    case status::invalid_argument:
      return "invalid argument";
    case status::unreachable:
      return "unreachable";
    case status::unknown:
      return "outcome unknown";
    case status::refused:
      return "refused by the server";
    case status::already_held:
      return "already held";
    case status::busy:
      return "busy";
    case status::limit:
      return "limit reached";
    case status::closed:
      return "closed";
    case status::forked:
      return "forked";
    case status::unsupported:
      return "unsupported";
    case status::no_memory:
      return "out of memory";
    case status::internal:
      return "internal error";
  }
  return "unknown status";
}

}  // namespace mortise
