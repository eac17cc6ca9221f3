// Protocols that write what other programs write, so that these and Mortise exclude each other on
// the same key. They have no queue; what each can't promise is in docs/protocols.md.
#pragma once

#include "protocol/table.hpp"

namespace mortise::protocol {

// Mutexes: a string with the owner token, as most Redis locks; Redisson's lock; and two forms of a
// string that says when the lock ends.
const table& token();
const table& hash();
const table& timestamp();
const table& timestamp_binary();

// Read-write locks: one key for all readers and one for the writer; and the same as a hash's
// fields.
const table& two_key();
const table& rw_hash();

// Whether a name would make one of Mortise's own keys the lock, as these protocols take names as
// they are.
bool is_own_key(std::string_view name);

}  // namespace mortise::protocol
