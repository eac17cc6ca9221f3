// One health check of one server in flight.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/threads/caller.hpp"
#include "protocol/health/server_probe.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

// Notified of the end, on the thread that reads. `facts` is nullptr on failure.
class health_request_listener {
 public:
  virtual ~health_request_listener() = default;
  virtual void on_health(std::uint64_t session, const outcome& result,
                         const protocol::server_facts* facts) noexcept = 0;
};

// Keeps itself alive while in flight, because the caller may give up first.
class health_request final : public redis::request,
                             public std::enable_shared_from_this<health_request> {
 public:
  health_request(redis::connection& server, std::int64_t database, const protocol::probe_keys& keys)
      : server_(server), probe_(database, keys) {}

  // Sends the requests, with the calling thread lent for the replies.
  outcome ask(time_ns deadline);
  // Sends the requests in the background, in a session with this number. Any outcome except ok:
  // `listener` is not called. Otherwise `listener` must live until its call, or until the
  // connection is closed.
  outcome begin(health_request_listener& listener, std::uint64_t session) noexcept;

  // Valid after ask() has returned ok.
  [[nodiscard]] const protocol::server_facts& facts() const noexcept { return probe_.facts(); }

 private:
  outcome submit_round(redis::flush flush);
  void next_round() noexcept;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void end(outcome result) noexcept;

  redis::connection& server_;
  net::caller caller_;
  std::shared_ptr<health_request> self_;  // while in flight
  health_request_listener* listener_ = nullptr;
  std::uint64_t session_ = 0;
  protocol::server_probe probe_;
  std::string bytes_;
  int replies_left_ = 0;
  std::atomic<bool> is_given_up_{false};
  outcome result_;
};

}  // namespace mortise::deployment
