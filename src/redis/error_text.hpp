// A server's error in words: what of it may be told, and which right a user lacks by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::redis {

struct login;

// The error without what must not get into a message: what a server repeats of a command that it
// does not know, which may be a password, the name of the user, and what it repeats of the login
// that the command said. Where memory has run out it is empty.
std::string without_secrets(std::string_view error, const login* said = nullptr) noexcept;

struct missing_right {
  enum class kind : std::uint8_t { command, key, channel };
  kind what = kind::command;
  std::string_view command;  // "zadd" or "client|kill"; empty where the server does not say
  bool is_in_script = false;
  // Of a script: which, and the line that met it; empty and 0 where the server does not say.
  std::string_view script_sha1;
  int line = 0;
};

// What a user of the server may not do, where that is what the error says. Its texts are parts of
// the error's. They are those of Redis 6.2 and 7.0, and those since 7.2, which Valkey has as well.
std::optional<missing_right> find_missing_right(std::string_view error) noexcept;

// What the user lacks, and the remedy. Servers before 7.2 say no more of a script than the line
// that met it; `script_text`, whose lines it counts, then has the command.
std::string say_missing_right(const missing_right& lacking, std::string_view script_text = {});

}  // namespace mortise::redis
