// The messages that scripts send to a client's inbox channel; see scripts/lib/handover.lua.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lock/gate/gate.hpp"
#include "protocol/client_identity.hpp"

namespace mortise::protocol {

enum class message_kind : std::uint8_t {
  grant,      // "G <last token> <server time in us> <others wait> <owner token> <secret>"
  head,       // "N <ttl in ms> <owner token>": the waiter is now the head of its queue
  contended,  // "W <owner token>": a waiter needs the owner's release
  forced,     // "R <owner token>": the owner's hold was released by force
};

struct message {
  message_kind kind = message_kind::contended;
  std::int64_t last_token = 0;
  std::int64_t server_us = 0;
  bool others_wait = false;
  std::int64_t ttl_ms = 0;
  std::string_view owner;     // the owner token
  std::string_view secret;    // of a grant
  std::uint64_t gate_id = 0;  // the client's gate that the message belongs to
};

// nullopt for an unknown form. A message is only a hint, so unknown messages are ignored.
std::optional<message> read_message(std::string_view text);
// Passes the message to the gate. Returns whether it is a grant that the servers have sent: all
// other messages may come from any publisher, and so change no more than when the client asks.
bool tell(lock::gate& gate, const message& received, time_ns now);

// The inbox channel of a client.
std::string inbox_channel(const client_identity& client);

}  // namespace mortise::protocol
