// The messages that scripts send to a client's inbox channel; see scripts/lib/handover.lua.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lock/gate.hpp"

namespace mortise::protocol {

enum class message_kind : std::uint8_t {
  grant,   // "G <last token> <server time in us> <others wait> <owner token>"
  head,    // "N <ttl in ms> <owner token>": the owner's wait has become the head of its queue
  wanted,  // "W <owner token>": somebody waits for the owner's release
  forced,  // "R <owner token>": somebody has ended the owner's hold by force
};

struct message {
  message_kind kind = message_kind::wanted;
  std::int64_t last_token = 0;
  std::int64_t server_us = 0;
  bool others_wait = false;
  std::int64_t ttl_ms = 0;
  std::string_view owner;     // the owner token
  std::uint64_t gate_id = 0;  // which of the client's gates it belongs to
};

// Nothing for a text of another form: a message is only a hint, so what is not understood is left.
std::optional<message> read_message(std::string_view text);
// Tells it the gate that it names.
void tell(lock::gate& gate, const message& told, time_ns now);

// The inbox channel of a client.
std::string inbox_channel(std::string_view client_id);

}  // namespace mortise::protocol
