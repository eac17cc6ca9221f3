// Random numbers from the kernel. Without state that fork() could copy (hazard 21).
#pragma once

#include <cstdint>
#include <string>

namespace mortise {

std::uint64_t random_number() noexcept;
// `length` characters of A-Z a-z 0-9 - _, six random bits each.
std::string random_text(int length);

}  // namespace mortise
