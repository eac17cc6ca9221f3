// The record of a client at the server, "pid host" at mortise:client:<id>. Queries of a lock show
// where its holders run.
#pragma once

#include <string>
#include <string_view>

#include "protocol/command.hpp"
#include "protocol/listing/query.hpp"

namespace mortise::protocol {

// Expires after a minute. Written once per place.
command write_record(const client_identity& client);
command delete_record(const client_identity& client);
// Adds to each entry of a lock at this place where its client runs, if the client has a record. All
// these clients have the same prefix.
command read_records(lock_info& info, std::string_view prefix, std::string_view place);

}  // namespace mortise::protocol
