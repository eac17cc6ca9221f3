// All protocols, by the kind of lock that they serve and their name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "lock/protocol.hpp"

namespace mortise::lock {

enum class lock_kind : std::uint8_t { mutex, rw, semaphore };

// The scripts of a protocol's steps, each once.
std::vector<const redis::script*> scripts_of(const protocol& rules);

// nullptr when the kind has no such protocol.
const protocol* find_protocol(lock_kind kind, std::string_view name);
// The outcome to tell then.
outcome no_such_protocol(lock_kind kind, std::string_view name);

}  // namespace mortise::lock
