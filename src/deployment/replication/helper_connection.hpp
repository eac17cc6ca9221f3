// The connection to a server that the helper process uses when this process is dead (option
// `release_on_death`). Until then it is open and idle, so the helper needs no address, no login and
// no handshake. A request of this process is never in the middle of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/replication/followed_server.hpp"
#include "helper/helper_process.hpp"
#include "net/reactor.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class helper_connection final : private redis::session_listener {
 public:
  // nullptr without a helper. `base_config` configures the server's own connection.
  static std::unique_ptr<helper_connection> make(net::reactor& loop,
                                                 const redis::connection_config& base_config,
                                                 helper::helper_process* helper);
  ~helper_connection() override;

  // The server is up, and is this one from now on. The I/O thread.
  void follow(const redis::session_facts& server) noexcept;
  // Waits until it is open. Returns the problem.
  outcome await(time_ns deadline);
  // As in `acknowledgements`.
  void rest() noexcept;
  void change_server(std::string name, std::shared_ptr<const std::string> shared_name) noexcept;
  void close() noexcept;

  [[nodiscard]] std::int32_t number() const noexcept { return number_; }

 private:
  helper_connection(net::reactor& loop, redis::connection_config config,
                    std::shared_ptr<followed_server> where, helper::helper_process& helper);

  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;

  helper::helper_process& helper_;
  const std::shared_ptr<followed_server> where_;
  const std::int32_t number_;
  std::string run_;  // of the server on this connection; the I/O thread's
  std::atomic<bool> is_begun_{false};
  std::atomic<bool> is_resting_{false};
  std::atomic<bool> is_up_{false};
  redis::connection connection_;  // last, because it calls back until its destruction
};

}  // namespace mortise::deployment
