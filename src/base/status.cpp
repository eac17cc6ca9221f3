#include "base/status.hpp"

#include <new>

namespace mortise {

std::string joined(std::initializer_list<std::string_view> parts) noexcept try {
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const auto part : parts) text.append(part);
  return text;
} catch (const std::bad_alloc&) {
  return {};
}

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
