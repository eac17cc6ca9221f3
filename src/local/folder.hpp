// The folder of `local:`. A process that can enter it can take and break locks. So the folder is
// used only if it is the user's own and closed to all other users.
#pragma once

#include <string>

#include "base/status.hpp"

namespace mortise::local {

// The user's runtime folder if there is one, otherwise /tmp. Always a separate folder inside it.
std::string usual_folder();

// Makes the folder if it is missing, verifies it, and opens it as `descriptor`, which the caller
// closes. Anything but a private folder of this user is refused by name.
outcome open_private_folder(const std::string& path, int& descriptor);

}  // namespace mortise::local
