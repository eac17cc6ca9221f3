// An entry of a queue: its owner token, which follows a permits in a `shared` queue.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>

#include "protocol/native/owner_token.hpp"

namespace mortise::simulation {

inline std::int64_t permits_of(const std::string& entry) {
  return std::strtoll(entry.c_str(), nullptr, 10);
}

inline std::string owner_of(const std::string& entry) {
  return entry.starts_with("m1:") ? entry : entry.substr(entry.find(' ') + 1);
}

inline std::string client_of(const std::string& entry) {
  const auto owner = owner_of(entry);
  return std::string(protocol::split_owner_token(owner).client);
}

inline std::deque<std::string> clients_of(const std::deque<std::string>& queue) {
  std::deque<std::string> clients;
  for (const auto& entry : queue) clients.push_back(client_of(entry));
  return clients;
}

}  // namespace mortise::simulation
