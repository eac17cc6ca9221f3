// A client: its thread, its servers and its gates. Handles keep it; closing it ends their use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "client/event_log.hpp"
#include "client/gate_driver.hpp"
#include "client/listing_responder.hpp"
#include "client/listings.hpp"
#include "client/registry.hpp"
#include "client/stats_watch.hpp"
#include "client/subscriptions.hpp"
#include "deployment/open.hpp"
#include "net/reactor.hpp"
#include "protocol/key_scan.hpp"
#include "protocol/protocols.hpp"
#include "statistics/series_set.hpp"

namespace mortise::protocol {
struct lock_info;
}

namespace mortise::client {

class lock_handle;
class multi_handle;
class presence;

class client final : public std::enable_shared_from_this<client>, private deployment::listener {
 public:
  explicit client(settings defaults);
  ~client() override;

  // Connects to what the URL names, or begins to; the URL's query overrides the defaults.
  outcome open(std::string_view url);
  // The same with servers that no URL names.
  outcome open(const deployment::maker& make);
  // Ends every wait, gives back every hold, and lets nothing happen any more. Any thread, once.
  void close() noexcept;
  // The same in two steps, of which the first sends what is given back and waits for nothing, and
  // the second is for whom the first has said true: nobody else closes it.
  [[nodiscard]] bool begin_close() noexcept;
  void end_close(time_ns longest_ns) noexcept;
  // How long a closing client tries to hand what it gives back to the kernel.
  static constexpr time_ns linger_ns = 100 * ns_per_ms;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(); }

  // Whether a lease may be so long at this client's servers.
  [[nodiscard]] outcome check_lease(std::int64_t lease_ms) const;
  // `permits` is a semaphore's.
  outcome new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                     std::int64_t permits, std::shared_ptr<lock_handle>& into);
  std::shared_ptr<multi_handle> new_multi();
  outcome ping();
  outcome check_health(protocol::health& into);
  // What was found last; nothing where nothing was looked for yet.
  outcome read_last_health(protocol::health& into) const;
  // What was counted since it was made.
  outcome read_statistics(statistics::snapshot& into) const;
  // What all clients that live have and wait for, as they tell until the deadline.
  outcome list_locks(protocol::listing& into, time_ns deadline);
  // Which holders of this lock retain what they have, as they tell.
  void find_retained(protocol::lock_info& info, std::string_view name, time_ns deadline);
  // What the keys of the servers tell of locks.
  outcome scan_keys(protocol::listing& into, const protocol::key_scan_terms& terms,
                    time_ns deadline);
  // The log's lines, and every so often that statistics are due, as reports to a queue; without one
  // nobody is told any more.
  outcome watch_log(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level);
  outcome watch_stats(std::shared_ptr<event_queue> queue, std::int64_t tag,
                      std::int64_t interval_ms);
  outcome set_credentials(std::string_view user, std::string_view password);
  // What a question came to that is asked for itself: that the client was freed meanwhile, where
  // that is why nobody answered.
  [[nodiscard]] outcome answered(outcome how) const;

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const settings& defaults() const noexcept { return defaults_; }
  [[nodiscard]] net::reactor& reactor() noexcept { return reactor_; }
  [[nodiscard]] deployment::deployment& servers() noexcept { return *servers_; }
  [[nodiscard]] registry<gate_driver>& gates() noexcept { return gates_; }
  [[nodiscard]] statistics::series_set& counts() noexcept { return counts_; }
  [[nodiscard]] event_log& log() noexcept { return log_; }

  // A gate begins to listen to its lock's channel or ends it; under its mutex.
  void listen(const deployment::named_key& lock, std::string_view channel, std::uint64_t gate_id);
  void unlisten(const deployment::named_key& lock, std::string_view channel,
                std::uint64_t gate_id) noexcept;

  // Of a call that takes no timeout.
  [[nodiscard]] time_ns command_deadline() const noexcept {
    return boot_now() + defaults_.command_timeout_ms * ns_per_ms;
  }
  // -1 is for ever.
  static time_ns deadline_after(std::int64_t timeout_ms, time_ns now = boot_now()) noexcept {
    return timeout_ms < 0 ? time_never : now + timeout_ms * ns_per_ms;
  }

 private:
  void close_multis() noexcept;
  void know_scripts(const protocol::table& rules);

  // deployment::listener
  void on_up(const deployment::name_set& names, time_ns now) noexcept override;
  void on_unacknowledged(const deployment::name_set& names, time_ns now) noexcept override;
  void on_message(std::string_view text, time_ns now) noexcept override;
  void on_said(std::string_view channel) noexcept override;
  void on_listening(std::string_view channel) noexcept override;
  void on_note(log_subject what, const outcome& how) noexcept override { log_.note(what, how); }
  // This gate's lock may be free.
  void look_anew(std::uint64_t gate_id) noexcept;

  const std::string id_;
  settings defaults_;
  statistics::series_set counts_;
  event_log log_;
  // In this order, because the gate drivers use the servers, and these the reactor.
  net::reactor reactor_;
  stats_watch stats_watch_;
  std::unique_ptr<deployment::deployment> servers_;
  std::unique_ptr<presence> presence_;
  subscriptions subscriptions_;
  registry<gate_driver> gates_;
  listing_responder responder_;
  listings listings_;
  std::mutex mutex_;  // of the next two
  std::vector<std::weak_ptr<multi_handle>> multis_;
  std::set<const protocol::table*> known_protocols_;  // whose scripts the servers were given
  std::atomic<bool> is_closed_{false};
};

}  // namespace mortise::client
