// From what a URL names to the addresses to try.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/address.hpp"

namespace mortise::net {

struct resolution {
  outcome result;                  // not ok: why there are no addresses
  std::vector<address> addresses;  // in the order in which to try them; not empty when ok
  std::string host = {};           // whose they are, where that is found out only now
  std::string hint = {};           // what to say when none of them can be connected to
};

class resolver {
 public:
  virtual ~resolver() = default;
  // True when resolve() never blocks. Otherwise it is only ever called on a helper thread, one call
  // at a time.
  [[nodiscard]] virtual bool is_immediate() const noexcept = 0;
  // May block, also beyond the deadline: nobody waits for it any longer then.
  virtual resolution resolve(time_ns deadline) = 0;
  // What it resolves, for messages: "db.example:6379", "unix:///run/redis.sock".
  [[nodiscard]] virtual std::string text() const = 0;
};

// A number such as 127.0.0.1 or ::1 resolves at once, a name by the system's resolver.
std::shared_ptr<resolver> resolver_for_host(std::string host, int port);
std::shared_ptr<resolver> resolver_for_path(std::string path);

}  // namespace mortise::net
