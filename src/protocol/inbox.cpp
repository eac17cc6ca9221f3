#include "protocol/inbox.hpp"

#include <charconv>

#include "lock/lease.hpp"
#include "protocol/owner_token.hpp"

namespace mortise::protocol {

namespace {

// Removes a number and the space behind it from the front.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(read.ptr - text.data());
  if (read.ec != std::errc{} || length >= text.size() || text[length] != ' ') return false;
  text.remove_prefix(length + 1);
  return true;
}

}  // namespace

std::optional<message> read_message(std::string_view text) {
  if (text.size() < 2 || text[1] != ' ') return std::nullopt;
  const char letter = text.front();
  text.remove_prefix(2);
  message told;
  std::int64_t others_wait = 0;
  bool is_whole = true;
  switch (letter) {
    case 'G':
      told.kind = message_kind::grant;
      is_whole = take_number(text, told.last_token) && take_number(text, told.server_us) &&
                 take_number(text, others_wait);
      is_whole = is_whole && told.server_us >= 0 && told.last_token >= lock::least_token &&
                 told.last_token < lock::token_limit;
      told.others_wait = others_wait == 1;
      break;
    case 'N':
      told.kind = message_kind::head;
      is_whole = take_number(text, told.ttl_ms);
      break;
    case 'W':
      told.kind = message_kind::wanted;
      break;
    case 'R':
      told.kind = message_kind::forced;
      break;
    default:
      return std::nullopt;
  }
  // A `W` names the owner as in the lock's value, which may carry the mark.
  const auto parts = split_owner_token(text);
  told.owner = parts.token;
  told.gate_id = parts.gate_id();
  if (!is_whole || told.gate_id == 0) return std::nullopt;
  return told;
}

void tell(lock::gate& gate, const message& told, time_ns now) {
  switch (told.kind) {
    case message_kind::grant:
      return gate.on_grant(told.owner, told.last_token, told.server_us, told.others_wait, now);
    case message_kind::head:
      return gate.on_head(told.owner, told.ttl_ms, now);
    case message_kind::wanted:
      return gate.on_wanted(told.owner, now);
    case message_kind::forced:
      return gate.on_forced(told.owner, now);
  }
}

std::string inbox_channel(std::string_view client_id) {
  return std::string("mortise:inbox:").append(client_id);
}

}  // namespace mortise::protocol
