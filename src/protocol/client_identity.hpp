// A client at its servers: its ID, and the namespace that its keys and channels are in.
#pragma once

#include <string>

namespace mortise::protocol {

struct client_identity {
  std::string id;           // unique; 16 letters and digits
  std::string prefix = {};  // see settings::key_prefix
};

}  // namespace mortise::protocol
