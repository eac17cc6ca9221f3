// What an error reply says about the command: not carried out, or unknown (hazard 28).
#pragma once

#include <string_view>

#include "lock/protocol.hpp"

namespace mortise::lock {

// The default, for an error that is not in the table, is `unknown`.
verdict read_error(std::string_view text);

// Whether an acquire that was refused with this should be tried on until its deadline, because the
// server is expected to change its mind by itself.
bool is_passing(std::string_view server_text);

}  // namespace mortise::lock
