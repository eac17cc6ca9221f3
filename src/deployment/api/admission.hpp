// Whether a connected server accepts requests: the option `health_check`. With `strict` no request
// is sent before a good health check. A bad server is checked again from time to time. With `warn`
// the findings are only kept for callers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "deployment/requests/health_request.hpp"
#include "net/reactor.hpp"
#include "net/threads/caller.hpp"
#include "protocol/health/health.hpp"

namespace mortise::deployment {

class admission final : private health_request_listener, private net::task, private net::timer {
 public:
  // On the I/O thread.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_admitted() noexcept = 0;
  };

  admission(net::reactor& loop, redis::connection& server, std::string where, const settings& terms,
            std::int64_t database, listener& events);
  ~admission() override;

  // The connection has opened, or has broken. The I/O thread.
  void on_up() noexcept;
  void on_down() noexcept;
  // Switches to another server, which is not connected yet.
  void change_server(std::string where) noexcept;
  // Health checks read the keys of this place of the server from now on (protocol::place_of).
  void look_at(std::string place) noexcept;
  // The connection, or the one that opens now, has lifted the fence counter of a place. The request
  // was sent at `sent_ns` or later.
  void on_fence_lifted(std::string place, time_ns sent_ns) noexcept;
  // No callback follows. The connection is closed.
  void close() noexcept;

  // Whether requests may be sent to the server.
  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  // Why requests may not be sent. ok if they may.
  [[nodiscard]] outcome problem() const noexcept;
  // Waits for the health check of the first connection, if the option enables it. Returns the
  // problem.
  outcome await(time_ns deadline);

  // Checks the server now.
  outcome check_health(protocol::health& target, time_ns deadline);
  // The result of the last health check. nullptr before the first.
  [[nodiscard]] std::shared_ptr<const protocol::health> last() const noexcept;

 private:
  enum class rule { off, warn, strict };

  void begin() noexcept;
  [[nodiscard]] protocol::probe_keys keys() const;
  void on_health(std::uint64_t session, const outcome& result,
                 const protocol::server_facts* facts) noexcept override;
  void run() noexcept override;
  void on_timer(time_ns now) noexcept override;
  std::shared_ptr<const protocol::health> judge(const protocol::server_facts& facts);
  void end_await() noexcept;

  net::reactor& loop_;
  redis::connection& server_;
  const rule rule_;
  const std::int64_t database_;
  const std::string prefix_;  // of the keys
  listener& listener_;
  std::atomic<bool> is_open_;

  mutable std::mutex mutex_;
  std::string where_;
  std::uint64_t session_ = 0;  // number of connections that have opened
  bool is_up_ = false;
  bool is_checked_ = false;  // this session passed; run() reports it
  protocol::checking_client client_;
  protocol::probe_keys keys_;
  outcome problem_;
  std::shared_ptr<const protocol::health> last_;
  net::caller* first_ = nullptr;  // the caller that waits for the first health check
  bool is_first_over_ = false;
};

}  // namespace mortise::deployment
