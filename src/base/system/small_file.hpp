// Files that options name, such as a password's or a certificate's. Each use reads the file again,
// so that it can be rotated while the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secret.hpp"
#include "base/status.hpp"

namespace mortise {

// Whether everyone may know the content.
enum class file_content : std::uint8_t { open, confidential };

// Reads the whole file that an option names. It rejects a confidential file of this user
// that all users may read or write, as ssh does. It accepts such a file of root or of another user:
// secrets of containers are mounted like that, and only their owner could change it. It accepts
// only a regular file, so it never waits for the writer of a FIFO or a device. It does wait for the
// file system. Errors give the option, the path, the reason and the remedy, but none of the
// contents.
outcome read_small_file(std::string_view option, const std::string& path, std::size_t most_bytes,
                        file_content kind, secret& content);

}  // namespace mortise
