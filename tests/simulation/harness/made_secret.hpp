// The secret of a grant in a simulation, which asks the kernel for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lock/lock_io.hpp"

namespace mortise::simulation {

inline lock::grant_secret made_secret(const std::string& client_id, std::uint64_t attempt) {
  lock::grant_secret secret;
  const auto text = std::to_string(attempt) + "-" + client_id;
  for (std::size_t i = 0; i < secret.size(); ++i) secret.at(i) = text[i % text.size()];
  return secret;
}

}  // namespace mortise::simulation
