// The server-side steps: every Lua file of this folder, embedded at build time (embed.cmake) as a
// script of the file's name: acquire.lua is `scripts::acquire`.
#pragma once

#include <span>

#include "redis/resp/command.hpp"

namespace mortise::scripts {

// Generated: `extern const redis::script <name>;` for each file.
#include "protocol/scripts/names.inc"

// All of them, by name, to be loaded when a connection opens.
std::span<const redis::script* const> all() noexcept;

}  // namespace mortise::scripts
