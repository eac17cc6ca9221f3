#include "base/status.hpp"

#include <new>

#include "base/text/printable.hpp"

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
    case status::not_waiting:
      return "not waiting";
    case status::deadlock:
      return "deadlock";
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

const char* reason_text(reason why) noexcept {
  switch (why) {
    case reason::none:
      return "";
    case reason::expired:
      return "its lease ended before a renewal was confirmed";
    case reason::replaced:
      return "the server reports another holder";
    case reason::server_lost:
      return "the server no longer has the hold";
    case reason::max_hold:
      return "max_hold has passed, so the hold is no longer renewed";
    case reason::forced:
      return "the hold was ended by force";
    case reason::stalled:
      return "no progress was reported in time, so the hold is no longer renewed";
  }
  return "";
}

void outcome::name(std::string_view of_lock) noexcept try {
  if (of_lock.empty() || is_named) return;
  describe(printable(of_lock));
  if (is_named) lock = std::make_shared<const std::string>(of_lock);
} catch (const std::bad_alloc&) {
  return;
}

void outcome::describe(std::string_view what) noexcept {
  if (is_named || code == status::invalid_argument || words().empty()) return;
  say(what, ": ", words());
  is_named = true;
}

}  // namespace mortise
