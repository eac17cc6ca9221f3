// One of the library's scripts at a server, without a client.
#pragma once

#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/server.hpp"

namespace mortise::testing {

// With the first `key_count` of these keys.
inline std::string call_script(test_server& server, const redis::script& script,
                               const std::vector<std::string>& keys, std::size_t key_count,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"EVAL", std::string(script.text), std::to_string(key_count)};
  words.insert(words.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(key_count));
  words.insert(words.end(), arguments.begin(), arguments.end());
  return server.command(words);
}

}  // namespace mortise::testing
