// Deletes a key that holds a value, in one command and without a script. Newer servers have such a
// command, and each family spells it differently. The handshake tries both spellings: versions
// prove nothing, because every Valkey reports 7.2.4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redis/resp/command.hpp"

namespace mortise::redis {

enum class compare_and_delete : std::uint8_t {
  none,
  delifeq,  // Valkey: DELIFEQ key value
  delex,    // Redis: DELEX key IFEQ value
};

// Appends the command, in RESP. The reply is 1 for deleted, and 0 if the key is missing or holds
// another value.
template <class Text>
void write_compare_and_delete(Text& out, compare_and_delete variant, std::string_view key,
                              std::string_view value) {
  command_writer writer(out);
  if (variant == compare_and_delete::delifeq) writer.command({"DELIFEQ", key, value});
  if (variant == compare_and_delete::delex) writer.command({"DELEX", key, "IFEQ", value});
}

}  // namespace mortise::redis
