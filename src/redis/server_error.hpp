// What an error reply says: its code, and whether it is about the server rather than the command. A
// server that says so serves nobody just now: the connection is left, and its name asked for
// another (hazards 10 and 28).
#pragma once

#include <string_view>

namespace mortise::redis {

// The first word of
//   READONLY You can't write against a read only replica.
// and the same where a script or a transaction met that error:
//   EXECABORT Transaction discarded because of: READONLY You can't …
//   ERR Error running script (call to f_…): @user_script:3: @user_script: 3: -READONLY You can't …
// The latter is how servers before 7.0 tell it; later ones put the script behind.
std::string_view error_code(std::string_view text) noexcept;

// Why a server does not serve. The words follow its address.
struct unfitness {
  std::string_view code;
  const char* in_short;  // "a replica now"
  std::string_view told;
  bool is_of_slot = false;  // and may be true of this command's slot only
};

// Why a service refuses to run a script at all, and what to do; nullptr for any other error. It has
// looked at the script's text or keys beforehand, so nothing of it was carried out.
const char* why_script_refused(std::string_view error) noexcept;

// nullptr for an error that is about the command.
const unfitness* unfitness_of(std::string_view error) noexcept;

}  // namespace mortise::redis
