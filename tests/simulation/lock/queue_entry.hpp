// An entry of a queue: its owner token, which follows a number of permits in a `shared` queue. The
// secret of the grant is behind it.
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

inline std::string without_secret(const std::string& entry) {
  return entry.substr(0, entry.find(' ', entry.rfind(':')));
}

inline std::deque<std::string> without_secrets(std::deque<std::string> queue) {
  for (auto& entry : queue) entry = without_secret(entry);
  return queue;
}

inline std::string owner_of(const std::string& entry) {
  const auto plain = without_secret(entry);
  return plain.starts_with("m1:") ? plain : plain.substr(plain.find(' ') + 1);
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
