// Protocols that write what other programs write, so that these and Mortise exclude each other on the
// same key. They have no queue; what each can't promise is in capi/doc/protocols.md.
#pragma once

#include "lock/protocol.hpp"

namespace mortise::lock {

// Mutexes: a string with the owner token, as most Redis locks; Redisson's lock; and two forms of a
// string that says when the lock ends.
const protocol& token_protocol();
const protocol& hash_protocol();
const protocol& timestamp_protocol();
const protocol& timestamp_binary_protocol();

// Read-write locks: one key for all readers and one for the writer; and the same as a hash's fields.
const protocol& two_key_protocol();
const protocol& rw_hash_protocol();

// Whether a name would make one of Mortise's own keys the lock, as these protocols take names as
// they are.
bool is_own_key(std::string_view name);

}  // namespace mortise::lock
