// All protocols, by the kind of lock that they serve and their name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "lock/protocol.hpp"

namespace mortise::lock {

enum class lock_kind : std::uint8_t { mutex, rw, semaphore };

// The scripts that a server should know from the start. Others are sent when first used, which takes
// a round trip more and lets what was asked after it overtake it.
std::vector<const redis::script*> everyday_scripts();

// nullptr when the kind has no such protocol.
const protocol* find_protocol(lock_kind kind, std::string_view name);
// The outcome to tell then.
outcome no_such_protocol(lock_kind kind, std::string_view name);

}  // namespace mortise::lock
