// Deleting a key that holds a value, in one command and without a script. Newer servers can, and
// each family spells it its own way. Which of them a server knows is found out by trying it in the
// handshake: versions do not tell, as Valkey answers 7.2.4 whatever it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redis/command.hpp"

namespace mortise::redis {

enum class compare_and_delete : std::uint8_t {
  none,
  delifeq,  // Valkey: DELIFEQ key value
  delex,    // Redis: DELEX key IFEQ value
};

// Appends the command, in RESP. Its reply is 1 for deleted, and 0 where the key holds another value
// or nothing.
template <class Text>
void write_compare_and_delete(Text& out, compare_and_delete how, std::string_view key,
                              std::string_view value) {
  command_writer writer(out);
  if (how == compare_and_delete::delifeq) writer.command({"DELIFEQ", key, value});
  if (how == compare_and_delete::delex) writer.command({"DELEX", key, "IFEQ", value});
}

}  // namespace mortise::redis
