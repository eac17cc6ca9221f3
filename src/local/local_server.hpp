// `local:`, a private server of this user on this host: on a unix socket in a folder that only the
// user can enter, started by whoever needs it first, shared by all of the user's processes, and
// ended by its supervisor (supervisor.hpp) when nobody is connected and no lock is kept.
//
// Processes share it when they agree on the folder. A process without the user's runtime folder
// (some daemons, other containers) uses another one; MORTISE_LOCAL_DIR brings them together. Where
// processes are grouped, as in a systemd service, the server ends with the group that started it.
#pragma once

#include <string>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::local {

struct local_settings {
  std::string folder;
  std::string search_path;  // where programs are looked for, as in $PATH
  int idle_s = 60;

  // From MORTISE_LOCAL_DIR, XDG_RUNTIME_DIR, PATH and MORTISE_LOCAL_IDLE_S, and the usual places.
  static local_settings from_environment();
};

// Returns when the server accepts connections at `socket_path`; starts it if need be. Whoever
// connects within idle_s from then finds it still there. Blocks until the deadline at most, so call
// it on a helper thread. Never touches the folder of another user.
outcome ensure_local_server(const local_settings& settings, time_ns deadline,
                            std::string& socket_path);
outcome ensure_local_server(time_ns deadline, std::string& socket_path);

}  // namespace mortise::local
