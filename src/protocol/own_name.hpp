// The names of Mortise's own keys and channels. All begin with `mortise:` or `{mortise:`. In a
// namespace, the prefix of the namespace precedes them.
#pragma once

#include <string>
#include <string_view>

#include "protocol/table.hpp"

namespace mortise::protocol {

// The name without the prefix of its namespace. Empty for a name of other programs.
std::string_view own_name(std::string_view name) noexcept;

// The keys of the lock, and the channel that notifies all its waiters of a release (empty for
// none). The prefix precedes only Mortise's own names. Names in the formats of other programs do
// not change.
key_set keys_of(const table& rules, std::string_view prefix, std::string_view name);
std::string channel_of(const table& rules, std::string_view prefix, const key_set& keys);

// The suffix of a lock's additional keys at its servers: empty, or in a cluster the hash tag of the
// lock's slot.
std::string_view place_of(const key_set& keys) noexcept;

}  // namespace mortise::protocol
