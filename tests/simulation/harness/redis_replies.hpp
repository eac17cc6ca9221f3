// Replies and words that several commands of the simulated server share.
#pragma once

#include <strings.h>

#include <string>

#include "simulation/harness/simulated_redis.hpp"

namespace mortise::simulation {

inline const reply wrong_type =
    reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
inline const reply syntax_error = reply::error("ERR syntax error");

inline bool is_word(const std::string& text, const char* word) {
  return strcasecmp(text.c_str(), word) == 0;
}

}  // namespace mortise::simulation
