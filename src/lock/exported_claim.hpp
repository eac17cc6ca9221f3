// A hold that its client has given up without a release, for another client to continue.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"
#include "lock/amount.hpp"

namespace mortise::lock {

struct exported_claim {
  std::string id_token;     // the owner token from the export until the adoption
  std::string owner_token;  // that of the exporter, which the other one replaces at the server
  lock::amount amount;
  std::int64_t token = 0;  // the fencing token
  std::int64_t lease_ms = 0;
};

}  // namespace mortise::lock
