// Files that options name, such as a password's or a certificate's. Each use reads the file again,
// so that it can be rotated while the program runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise {

// Reads the whole file that an option names. It accepts only a regular file, so it never waits for
// the writer of a FIFO or a device. It does wait for the file system. Errors give the option, the
// path, the reason and the remedy, but none of the contents.
outcome read_small_file(std::string_view option, const std::string& path, std::size_t most_bytes,
                        secret& content);

}  // namespace mortise
