// What a client tells of itself at the server, "pid host" at mortise:client:<id>, so that people
// who query a lock see where its holders run.
#pragma once

#include <string>
#include <string_view>

#include "protocol/command.hpp"
#include "protocol/query.hpp"

namespace mortise::protocol {

// For a minute; once for each place.
command write_record(std::string_view client_id);
command delete_record(std::string_view client_id);
// Adds to each entry of a lock at this place where it runs, as far as its client tells.
command read_records(lock_info& info, std::string_view place);

}  // namespace mortise::protocol
