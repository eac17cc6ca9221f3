// The record of a client at the server, "pid host" at mortise:client:<id>. Queries of a lock show
// where its holders run.
#pragma once

#include <string>
#include <string_view>

#include "protocol/command.hpp"
#include "protocol/listing/query.hpp"

namespace mortise::protocol {

// Expires after a minute. Written once per place.
command write_record(std::string_view client_id);
command delete_record(std::string_view client_id);
// Adds to each entry of a lock at this place where its client runs, if the client has a record.
command read_records(lock_info& info, std::string_view place);

}  // namespace mortise::protocol
