// The program of the helper process, as the bytes of an executable. It is machine code of this
// library that needs no library: no data, no libc, only system calls.
#pragma once

#include <string>

namespace mortise::helper {

// An ELF file; empty on a processor without such code.
std::string program_image();

}  // namespace mortise::helper
