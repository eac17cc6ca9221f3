// What an entry of a queue says: its owner token, which follows a weight in a `shared` queue.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "protocol/owner_token.hpp"

namespace mortise::simulation {

inline std::int64_t weight_of(const std::string& entry) {
  return std::strtoll(entry.c_str(), nullptr, 10);
}

inline std::string owner_of(const std::string& entry) {
  return entry.starts_with("m1:") ? entry : entry.substr(entry.find(' ') + 1);
}

inline std::string client_of(const std::string& entry) {
  const auto owner = owner_of(entry);
  return std::string(protocol::split_owner_token(owner).client);
}

}  // namespace mortise::simulation
