// All protocols, by the kind of lock that they serve and their name.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

// The scripts of a protocol's steps, each once.
std::vector<const redis::script*> scripts_of(const table& protocol);

// nullptr when the kind has no such protocol.
const table* find(lock::lock_kind kind, std::string_view name);
// The error for that case.
outcome no_such_protocol(lock::lock_kind kind, std::string_view name);

}  // namespace mortise::protocol
