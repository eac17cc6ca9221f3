// The shell script that starts the private server of `local:`, watches it, and ends it when idle.
#pragma once

namespace mortise::local {

// Arguments: folder, server program, command-line client, seconds of idleness. Descriptor 3 is the
// folder's start lock, already taken.
extern const char* const supervisor_script;

}  // namespace mortise::local
