// The text of a server's error: the safe part of it, and the right that a user lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::redis {

struct login;

// The error without secrets. An unknown command that a server repeats may be a password, so it is
// removed. So are the name of the user and the login of the command. Empty when memory has run out.
std::string without_secrets(std::string_view error, const login* sent_login = nullptr) noexcept;

struct missing_right {
  enum class kind : std::uint8_t { command, key, channel };
  kind what = kind::command;
  std::string_view command;  // "zadd" or "client|kill"; empty if not reported
  bool is_in_script = false;
  // The script and its failing line; empty and 0 if the server does not report them.
  std::string_view script_sha1;
  int line = 0;
};

// The right that a user lacks by this error, if any. The texts are parts of the error. Known are
// the errors of Redis 6.2 and 7.0, and those since 7.2, which Valkey shares.
std::optional<missing_right> find_missing_right(std::string_view error) noexcept;

// The missing right, and the remedy. Servers before 7.2 report only the line of a script.
// `script_text` then supplies the command of that line.
std::string say_missing_right(const missing_right& lacking, std::string_view script_text = {});

}  // namespace mortise::redis
