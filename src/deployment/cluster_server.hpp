// One server of a cluster, connected to once it is needed. Its connection hears no inbox before a
// slot has attached there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/topology.hpp"
#include "deployment/acknowledgements.hpp"
#include "deployment/admission.hpp"
#include "deployment/deployment.hpp"
#include "deployment/server_config.hpp"
#include "deployment/server_place.hpp"
#include "deployment/server_request.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class cluster_server final : private redis::session_listener,
                             private admission::listener,
                             private acknowledgements::listener {
 public:
  class listener {
   public:
    virtual ~listener() = default;
    // The I/O thread: it can be asked; it cannot be, nor could it be just now; it owes answers.
    virtual void on_server_up(cluster_server& which) noexcept = 0;
    virtual void on_server_down(cluster_server& which, const outcome& why) noexcept = 0;
    virtual void on_server_overdue(cluster_server& which) noexcept = 0;
    virtual void on_server_note(log_subject what, const outcome& how) noexcept = 0;
    // Whichever thread reads.
    virtual void on_server_push(std::string_view channel, std::string_view payload,
                                time_ns now) noexcept = 0;
    virtual void on_server_unheard(cluster_server& which, std::string_view channel) noexcept = 0;
    virtual void on_server_listening(std::string_view channel) noexcept = 0;
  };

  // `config.where` is the place.
  cluster_server(net::reactor& loop, int number, std::shared_ptr<server_place> place,
                 redis::connection_config config, const settings& terms, std::string_view client_id,
                 listener& hears);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] cluster::endpoint where() const { return place_->at(); }
  // Becomes the server at another address, of which nothing is known. While it rests, and owes no
  // answers. If this throws, nothing has changed.
  void change(const cluster::endpoint& where);
  // Connects, and again after rest(). Another outcome than ok: it never comes up.
  outcome begin();
  // It is not connected to until it is needed again.
  void rest() noexcept;
  void close(time_ns linger_ns) noexcept;
  // ok while it can be asked.
  [[nodiscard]] outcome problem() const;

  [[nodiscard]] redis::connection& link() noexcept { return server_; }
  [[nodiscard]] const statistics::connection_statistics& statistics() const noexcept {
    return server_.statistics();
  }
  [[nodiscard]] known_commands& known() noexcept { return known_; }
  [[nodiscard]] admission& entry() noexcept { return entry_; }
  // Whether it is connected to.
  [[nodiscard]] bool is_up() const { return is_begun_ && server_.last_problem().ok(); }
  // Logs in anew, if the server takes them.
  outcome change_credentials(const redis::login& offered, time_ns deadline) {
    return change_login(server_, *identity_, offered, deadline);
  }
  // The next connection logs in with these.
  void keep_credentials(const redis::login& offered);
  // Whether it has forgotten the script of an attachment, which the handshake loads (hazard 27).
  [[nodiscard]] bool lacks_seed() const noexcept { return lacks_seed_; }
  void note_lack_of_seed() noexcept { lacks_seed_ = true; }
  // Whether it may be asked for config epochs; not where this session's user lacks the right.
  [[nodiscard]] bool tells_epochs() const noexcept { return tells_epochs_; }
  void note_lack_of_epochs() noexcept { tells_epochs_ = false; }
  // Who says whether its replicas have something; nullptr where nobody wants to know.
  [[nodiscard]] acknowledgements* acks() const noexcept { return acks_.get(); }

 private:
  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool /*is_definite*/) noexcept override {
    hears_.on_server_down(*this, why);
  }
  void on_overdue() noexcept override { hears_.on_server_overdue(*this); }
  void on_note(log_subject what, const outcome& how) noexcept override {
    hears_.on_server_note(what, how);
  }
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override {
    hears_.on_server_push(channel, payload, now);
  }
  void on_unheard(std::string_view channel) noexcept override {
    hears_.on_server_unheard(*this, channel);
  }
  void on_listening(std::string_view channel) noexcept override {
    hears_.on_server_listening(channel);
  }
  void on_admitted() noexcept override;
  void on_acknowledging() noexcept override {}
  void on_unacknowledging(const outcome& why) noexcept override { server_.leave(why); }
  void on_shortfall() noexcept override {}  // what a server says of its replicas is the latest

  const int number_;
  const std::shared_ptr<server_place> place_;
  listener& hears_;
  const std::shared_ptr<redis::credentials> identity_;
  admission entry_;  // which the connection tells of its end
  known_commands known_{redis::compare_and_delete::none};
  std::atomic<bool> lacks_seed_{false};
  std::atomic<bool> tells_epochs_{true};
  std::atomic<bool> is_begun_{false};
  std::atomic<bool> is_resting_{true};
  const std::unique_ptr<acknowledgements> acks_;  // which the connection tells of its end
  redis::connection server_;
};

}  // namespace mortise::deployment
