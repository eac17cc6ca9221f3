// Resolves the place in a URL to the addresses to try.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address_map.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/address.hpp"

namespace mortise::net {

struct resolution {
  outcome result;                  // not ok: the reason
  std::vector<address> addresses;  // in the order of the attempts; not empty when ok
  std::string host = {};           // their host, if it was unknown before
  std::string hint = {};           // for the message when no address is found or reachable
};

class resolver {
 public:
  virtual ~resolver() = default;
  // True when resolve() never blocks. Otherwise only a helper thread calls it, one call at a time.
  [[nodiscard]] virtual bool is_immediate() const noexcept = 0;
  // May block, even beyond the deadline. Then no thread waits for the result.
  virtual resolution resolve(time_ns deadline) = 0;
  // The name to resolve, for messages: "db.example:6379", "unix:///run/redis.sock".
  [[nodiscard]] virtual std::string text() const = 0;
};

// A number such as 127.0.0.1 or ::1 resolves immediately, a name by the system's resolver.
std::shared_ptr<resolver> resolver_for_host(std::string host, int port);
// The same for a server that announces this address. If the map has the address, the other one is
// resolved, under the announced name.
std::shared_ptr<resolver> resolver_for_server(const std::string& host, int port,
                                              const address_map& map);
std::shared_ptr<resolver> resolver_for_path(std::string path);

}  // namespace mortise::net
