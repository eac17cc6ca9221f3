#include "protocol/native/inbox.hpp"

#include <charconv>

#include "lock/lease.hpp"
#include "protocol/native/owner_token.hpp"

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
  message result;
  std::int64_t others_wait = 0;
  bool is_whole = true;
  switch (letter) {
    case 'G':
      result.kind = message_kind::grant;
      is_whole = take_number(text, result.last_token) && take_number(text, result.server_us) &&
                 take_number(text, others_wait);
      is_whole = is_whole && result.server_us >= 0 && result.last_token >= lock::least_token &&
                 result.last_token < lock::token_limit;
      result.others_wait = others_wait == 1;
      break;
    case 'N':
      result.kind = message_kind::head;
      is_whole = take_number(text, result.ttl_ms);
      break;
    case 'W':
      result.kind = message_kind::contended;
      break;
    case 'R':
      result.kind = message_kind::forced;
      break;
    default:
      return std::nullopt;
  }
  // A `W` names the owner as in the lock's value, which may carry the mark.
  const auto parts = split_owner_token(text);
  result.owner = parts.token;
  result.secret = parts.secret;
  result.gate_id = parts.gate_id();
  if (!is_whole || result.gate_id == 0) return std::nullopt;
  return result;
}

bool tell(lock::gate& gate, const message& received, time_ns now) {
  switch (received.kind) {
    case message_kind::grant:
      return gate.on_grant({.token = received.owner,
                            .secret = received.secret,
                            .last_token = received.last_token,
                            .server_us = received.server_us,
                            .others_wait = received.others_wait},
                           now);
    case message_kind::head:
      gate.on_head(received.owner, received.ttl_ms, now);
      break;
    case message_kind::contended:
      gate.on_waiter(received.owner, now);
      break;
    case message_kind::forced:
      gate.on_forced(received.owner, now);
      break;
  }
  return false;
}

std::string inbox_channel(const client_identity& client) {
  return client.prefix + "mortise:inbox:" + client.id;
}

}  // namespace mortise::protocol
