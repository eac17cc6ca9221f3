// The files that options name: a password's, a certificate's. They are read again at each use, as
// whoever rotates them replaces them while the program runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise {

// Reads the file that an option names, whole. It never waits for somebody to write: only a regular
// file will do, and neither a FIFO nor a device is read. What a file system takes is waited for.
// What fails says the option, the path, what is wrong and the remedy, and nothing of what was read.
outcome read_small_file(std::string_view option, const std::string& path, std::size_t most_bytes,
                        secret& into);

}  // namespace mortise
