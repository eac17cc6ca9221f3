// One server of a cluster, connected on demand. Its connection receives no inbox before a slot has
// attached.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "deployment/api/admission.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/api/server_config.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "deployment/cluster/server_place.hpp"
#include "deployment/replication/acknowledgements.hpp"
#include "deployment/replication/helper_connection.hpp"
#include "deployment/requests/server_request.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class cluster_server final : private redis::session_listener,
                             private admission::listener,
                             private acknowledgements::listener {
 public:
  class listener {
   public:
    virtual ~listener() = default;
    // The I/O thread: the server accepts requests; it is down or a connect failed; its replies are
    // overdue.
    virtual void on_server_up(cluster_server& server) noexcept = 0;
    // Before on_server_up(): acknowledgements of an earlier run of the server no longer count.
    virtual void on_server_replaced(cluster_server& server) noexcept = 0;
    virtual void on_server_down(cluster_server& server, const outcome& why) noexcept = 0;
    virtual void on_server_overdue(cluster_server& server) noexcept = 0;
    virtual void on_server_note(log_subject what, const outcome& details) noexcept = 0;
    // The thread that reads.
    virtual void on_server_push(std::string_view channel, std::string_view payload,
                                time_ns now) noexcept = 0;
    virtual void on_server_unsubscribed(cluster_server& server,
                                        std::string_view channel) noexcept = 0;
    virtual void on_server_listening(std::string_view channel) noexcept = 0;
  };

  // `config.where` is the place.
  cluster_server(net::reactor& loop, int number, std::shared_ptr<server_place> place,
                 redis::connection_config config, const settings& terms, std::string_view client_id,
                 helper::helper_process* helper, listener& events);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] cluster::endpoint where() const { return place_->at(); }
  // Becomes the server at another address, about which nothing is known. Only while it rests and no
  // reply is outstanding. If this throws, nothing has changed.
  void change(const cluster::endpoint& where);
  // Connects, also after rest(). Any outcome except ok: the first attempt has failed.
  outcome begin();
  // Disconnects until the next begin().
  void rest() noexcept;
  void close(time_ns linger_ns) noexcept;
  // ok while the server accepts requests.
  [[nodiscard]] outcome problem() const;

  [[nodiscard]] redis::connection& connection() noexcept { return server_; }
  [[nodiscard]] const statistics::connection_statistics& statistics() const noexcept {
    return server_.statistics();
  }
  [[nodiscard]] known_commands& commands() noexcept { return commands_; }
  [[nodiscard]] admission& entry() noexcept { return entry_; }
  // Whether it is connected.
  [[nodiscard]] bool is_up() const { return is_begun_ && server_.last_problem().ok(); }
  // Logs in again, if the server accepts the login.
  outcome change_credentials(const redis::login& offered, time_ns deadline) {
    return change_login(server_, *identity_, offered, deadline);
  }
  // The login of the next connection.
  void keep_credentials(const redis::login& offered);
  // Whether the server has forgotten the attachment script, which the handshake loads (hazard 27).
  [[nodiscard]] bool lacks_seed() const noexcept { return lacks_seed_; }
  void note_lack_of_seed() noexcept { lacks_seed_ = true; }
  // Whether the config epochs may be requested. Not if this session's user lacks the right.
  [[nodiscard]] bool reports_epochs() const noexcept { return reports_epochs_; }
  void note_lack_of_epochs() noexcept { reports_epochs_ = false; }
  // The acknowledgements of its replicas. nullptr if the settings need none.
  [[nodiscard]] acknowledgements* acks() const noexcept { return acks_.get(); }
  // The connection of the helper process; nullptr without it.
  [[nodiscard]] const helper_connection* helper() const noexcept { return helper_.get(); }

 private:
  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool /*is_definite*/) noexcept override {
    listener_.on_server_down(*this, why);
  }
  void on_overdue() noexcept override { listener_.on_server_overdue(*this); }
  void on_note(log_subject what, const outcome& details) noexcept override {
    listener_.on_server_note(what, details);
  }
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override {
    listener_.on_server_push(channel, payload, now);
  }
  void on_channel_moved(std::string_view channel) noexcept override {
    listener_.on_server_unsubscribed(*this, channel);
  }
  void on_listening(std::string_view channel) noexcept override {
    listener_.on_server_listening(channel);
  }
  void on_admitted() noexcept override;
  void on_acknowledging() noexcept override {}
  void on_unacknowledging(const outcome& why) noexcept override {
    server_.commands().break_off(why);
  }
  void on_shortfall() noexcept override {}  // the server's own count is the latest

  const int number_;
  const std::shared_ptr<server_place> place_;
  listener& listener_;
  const std::shared_ptr<redis::credentials> identity_;
  admission entry_;  // before server_, which reports its end to it
  known_commands commands_{redis::compare_and_delete::none};
  std::atomic<bool> lacks_seed_{false};
  std::atomic<bool> reports_epochs_{true};
  std::atomic<bool> is_begun_{false};
  std::atomic<bool> is_resting_{true};
  const std::unique_ptr<acknowledgements> acks_;  // before server_, which reports its end to it
  const std::unique_ptr<helper_connection> helper_;
  redis::connection server_;
};

}  // namespace mortise::deployment
