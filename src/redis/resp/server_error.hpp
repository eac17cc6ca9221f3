// The meaning of an error reply: its code, and whether it concerns the server rather than the
// command. A server with such an error serves no client at the moment. The connection ends, and its
// name is resolved again (hazards 10 and 28).
#pragma once

#include <string_view>

namespace mortise::redis {

// The first word of
//   READONLY You can't write against a read only replica.
// and the same if a script or a transaction met that error:
//   EXECABORT Transaction discarded because of: READONLY You can't …
//   ERR Error running script (call to f_…): @user_script:3: @user_script: 3: -READONLY You can't …
// Servers before 7.0 send the latter form. Later servers put the script after the error.
std::string_view error_code(std::string_view text) noexcept;

// Why a server does not serve. The text follows its address.
struct unfitness {
  std::string_view code;
  const char* summary;  // "a replica now"
  std::string_view message;
  bool is_of_slot = false;  // may be true of this command's slot only
};

// Why a service refuses to run a script at all, and the remedy; nullptr for any other error. The
// service checked the script's text or keys first, so no part of the script ran.
const char* why_script_refused(std::string_view error) noexcept;

// nullptr for an error that concerns the command.
const unfitness* unfitness_of(std::string_view error) noexcept;

}  // namespace mortise::redis
