// `local:`, a private server of this user on this host, on a unix socket in a folder that only the
// user can enter. The first process that needs the server starts it, and all of the user's
// processes share it. Its supervisor (supervisor.hpp) ends it when no client is connected and no
// lock is kept.
//
// Processes share it when they use the same folder. A process without the user's runtime folder
// (some daemons, other containers) uses another folder; MORTISE_LOCAL_DIR brings them together. If
// processes are grouped, as in a systemd service, the server ends with the group that started it.
#pragma once

#include <string>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::local {

struct local_settings {
  std::string folder;
  std::string search_path;  // search path for programs, as in $PATH
  int idle_s = 60;

  // From MORTISE_LOCAL_DIR, XDG_RUNTIME_DIR, PATH and MORTISE_LOCAL_IDLE_S, and the usual places.
  static local_settings from_environment();
};

// Returns when the server accepts connections at `socket_path`. Starts it if necessary. The server
// keeps running for a client that connects within idle_s from then. Blocks at most until the
// deadline, so call it on a helper thread. Never touches the folder of another user.
outcome ensure_local_server(const local_settings& settings, time_ns deadline,
                            std::string& socket_path);
outcome ensure_local_server(time_ns deadline, std::string& socket_path);

}  // namespace mortise::local
