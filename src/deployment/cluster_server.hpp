// One server of a cluster, connected to once it is needed. Its connection hears no inbox before a
// slot has arrived there.
#pragma once

#include <string>
#include <string_view>

#include "cluster/topology.hpp"
#include "deployment/admission.hpp"
#include "deployment/deployment.hpp"
#include "deployment/step_request.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

class cluster_server final : private redis::session_listener, private admission::listener {
 public:
  class listener {
   public:
    virtual ~listener() = default;
    // The I/O thread: it can be asked; it cannot be, nor could it be just now; it owes answers.
    virtual void on_server_up(cluster_server& which) noexcept = 0;
    virtual void on_server_down(cluster_server& which, const outcome& why) noexcept = 0;
    virtual void on_server_overdue(cluster_server& which) noexcept = 0;
    // Whichever thread reads.
    virtual void on_server_push(std::string_view channel, std::string_view payload,
                                time_ns now) noexcept = 0;
    virtual void on_server_unheard(cluster_server& which, std::string_view channel) noexcept = 0;
    virtual void on_server_listening(std::string_view channel) noexcept = 0;
  };

  cluster_server(net::reactor& loop, int number, cluster::endpoint where,
                 redis::connection_config config, const settings& terms, listener& hears);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] const cluster::endpoint& where() const noexcept { return where_; }
  // May be called again. Another outcome than ok: it never comes up.
  outcome begin();
  void close(time_ns linger_ns) noexcept;
  // ok while it can be asked.
  [[nodiscard]] outcome problem() const;

  [[nodiscard]] redis::connection& link() noexcept { return server_; }
  [[nodiscard]] known_commands& known() noexcept { return known_; }
  [[nodiscard]] admission& entry() noexcept { return entry_; }
  // Logs in anew, now or, where it was never connected to, then.
  outcome set_credentials(const redis::login& offered, time_ns deadline);

 private:
  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool /*is_definite*/) noexcept override {
    hears_.on_server_down(*this, why);
  }
  void on_overdue() noexcept override { hears_.on_server_overdue(*this); }
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override {
    hears_.on_server_push(channel, payload, now);
  }
  void on_unheard(std::string_view channel) noexcept override {
    hears_.on_server_unheard(*this, channel);
  }
  void on_listening(std::string_view channel) noexcept override {
    hears_.on_server_listening(channel);
  }
  void on_admitted() noexcept override { hears_.on_server_up(*this); }

  const int number_;
  const cluster::endpoint where_;
  listener& hears_;
  const std::shared_ptr<redis::credentials> identity_;
  admission entry_;  // which the connection tells of its end
  known_commands known_{redis::compare_and_delete::none};
  std::atomic<bool> is_begun_{false};
  redis::connection server_;
};

}  // namespace mortise::deployment
