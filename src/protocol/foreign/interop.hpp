// Protocols in the formats of other programs, so that these and Mortise exclude each other on the
// same key. They have no queue. docs/protocols.md lists the limits of each.
#pragma once

#include "protocol/table.hpp"

namespace mortise::protocol {

// Mutexes: a string with the owner token, as most Redis locks use; Redisson's lock; and two forms
// of a string with the end of the lock.
const table& token();
const table& hash();
const table& timestamp();
const table& timestamp_binary();

// Read-write locks: one key for all readers and one for the writer; and the same as fields of a
// hash.
const table& two_key();
const table& rw_hash();

}  // namespace mortise::protocol
