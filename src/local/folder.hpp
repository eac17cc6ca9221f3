// The folder of `local:`. Whoever can enter it can take and break locks, so it is used only when it
// is the user's own and closed to everybody else.
#pragma once

#include <string>

#include "base/status.hpp"

namespace mortise::local {

// The user's runtime folder where there is one, else /tmp; always a folder of our own inside it.
std::string usual_folder();

// Makes the folder if it is missing, verifies it, and opens it as `descriptor`, to be closed by the
// caller. Anything but a private folder of this user is refused by name.
outcome open_private_folder(const std::string& path, int& descriptor);

}  // namespace mortise::local
