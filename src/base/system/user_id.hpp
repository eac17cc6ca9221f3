// Users of this system.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.hpp"

namespace mortise {

// The number of a user, given by name or as a number. It may block as long as the system's name
// service. Errors begin with the option.
outcome find_user(const char* option, const std::string& name, uid_t& target);

}  // namespace mortise
