// Grants and renewals that wait until enough replicas have them: the options `acks` and
// `durability` (hazards 7 to 10).
//
// WAIT blocks later commands, so it has its own connection to the same run of the same server. If
// one connection ends, the other is closed as well. A request from before the check of the data
// does not count, because the data may have been replaced since.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/replication/followed_server.hpp"
#include "deployment/replication/rounds/acknowledgement_rounds.hpp"
#include "net/bound_call.hpp"
#include "net/reactor.hpp"
#include "protocol/native/acknowledgement.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class acknowledgements final : private redis::session_listener,
                               private redis::request,
                               private net::timer {
 public:
  // Any thread, without an engine lock held. The first function is called on the I/O thread.
  class listener {
   public:
    virtual ~listener() = default;
    // Replies of the server can be acknowledged from now on.
    virtual void on_acknowledging() noexcept = 0;
    // Acknowledgements are impossible, so the server must be connected again. All waiting items
    // were notified.
    virtual void on_unacknowledging(const outcome& why) noexcept = 0;
    // Fewer replicas than needed have the data.
    virtual void on_shortfall() noexcept = 0;
  };
  // The replicas in the Sentinels' list. Nothing before their first report, or if their master is
  // another server. A server of a cluster reports its replicas itself.
  using count_listed = std::function<std::optional<listed_replicas>(const net::address& server)>;

  [[nodiscard]] static bool is_needed(const settings& terms) noexcept {
    return terms.acks != 0 || terms.durability == "fsync";
  }
  // nullptr if the settings need no acknowledgements. `base_config` configures the server's own
  // connection.
  static std::unique_ptr<acknowledgements> make(net::reactor& loop,
                                                const redis::connection_config& base_config,
                                                const settings& terms, std::string_view client_id,
                                                count_listed listed, listener& events);
  ~acknowledgements() override;

  // note_session(): the server is this one from now on. Returns whether its run differs from the
  // last one. on_server_up(): requests can be sent, and on_acknowledging() follows.
  // on_server_down(): requests cannot be sent, and all waiting items are notified. The I/O thread.
  bool note_session(const redis::session_facts& server) noexcept;
  void on_server_up() noexcept;
  void on_server_down() noexcept;
  // Connects, after note_session(). Any thread. Repeated calls are allowed.
  void begin() noexcept;
  // Closes the connection until the next begin(). Any thread.
  void rest() noexcept;
  // Switches to another server with this name, after rest() and on_server_down(). Any thread.
  void change_server(std::string name, std::shared_ptr<const std::string> shared_name) noexcept;
  // No callback follows. Not from the I/O thread.
  void close() noexcept;

  [[nodiscard]] bool is_ready() const noexcept { return ready_since_.load() != 0; }
  // Why it is not ready. ok if it is.
  [[nodiscard]] outcome problem() const noexcept;
  // Waits until it is ready, or until the problem needs a remedy. Returns the problem.
  outcome await_ready(time_ns deadline);
  // Notifies the item when it is ready. Otherwise like await().
  void await_ready(unacknowledged& item, time_ns now) noexcept;

  // `asked_at` is the time when the request was sent. Any thread, without an engine lock held. The
  // item may be notified before the return.
  void await(unacknowledged& item, std::string_view place, time_ns asked_at, time_ns now,
             std::int64_t lease_ms) noexcept;

 private:
  // The requests after each connect.
  struct readiness_check final : redis::request {
    explicit readiness_check(acknowledgements& owner) : parent(owner) {}
    void on_reply(const redis::value& reply, time_ns now) noexcept override {
      parent.on_readiness_reply(reply, now);
    }
    void on_broken(bool was_sent) noexcept override;
    acknowledgements& parent;
    int part = 0;
    bool is_open = false;
    std::optional<protocol::replication> state;
    std::string error;
  };
  using notifications = acknowledgement_rounds::notifications;

  acknowledgements(net::reactor& loop, redis::connection_config config,
                   std::shared_ptr<followed_server> where, const settings& terms,
                   std::string_view client_id, count_listed listed, listener& events);

  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool is_definite) noexcept override;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void on_timer(time_ns now) noexcept override;

  void on_readiness_reply(const redis::value& reply, time_ns now) noexcept;
  void check_readiness() noexcept;
  void check_later() noexcept;
  void on_check_timer(time_ns now) noexcept;
  [[nodiscard]] bool is_of_server() const noexcept;
  void refuse(outcome why) noexcept;
  void drop(notifications& pending) noexcept;

  void poll_next(time_ns now, notifications& pending) noexcept;
  void notify(notifications& pending, time_ns now) noexcept;
  void plan(time_ns at) noexcept;
  [[nodiscard]] acknowledgement_rounds::context context(time_ns now) const noexcept;

  net::reactor& loop_;
  const time_ns patience_ns_;
  const count_listed listed_;
  listener& listener_;
  const std::shared_ptr<followed_server> where_;
  std::atomic<time_ns> ready_since_{0};    // when the data became the present ones; 0: unknown
  std::atomic<std::uint32_t> changes_{0};  // counts changes of ready_since_ and problem_
  net::bound_timer<acknowledgements, &acknowledgements::on_check_timer> check_timer_{*this};
  readiness_check readiness_check_{*this};  // of the I/O thread, like connection_run_
  std::string connection_run_;  // the run of the server on this connection; empty while it is down

  std::atomic<bool> is_begun_{false};
  std::atomic<bool> is_resting_{false};

  mutable std::mutex mutex_;  // guards the members below
  bool is_closed_ = false;
  bool is_server_up_ = false;
  std::string server_run_;
  outcome problem_;
  acknowledgement_list early_;  // until the server is ready
  time_ns armed_for_ = time_never;
  acknowledgement_rounds rounds_;

  redis::connection connection_;  // last, because it calls back until its destruction
};

}  // namespace mortise::deployment
