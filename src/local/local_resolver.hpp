// The resolver for `local:`. Resolving starts the server if it does not run.
#pragma once

#include <memory>

#include "net/dial/resolver.hpp"

namespace mortise::local {

// Reads the environment now, once.
std::shared_ptr<net::resolver> resolver_for_local();

}  // namespace mortise::local
