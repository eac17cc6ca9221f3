// A client: its I/O thread, its servers and its gates. Handles keep the client alive, but end with
// close().
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
#include "client/events/event_log.hpp"
#include "client/events/lock_history.hpp"
#include "client/events/lock_watch.hpp"
#include "client/events/observer.hpp"
#include "client/events/stats_watch.hpp"
#include "client/gate_driver.hpp"
#include "client/presence/deadlock_search.hpp"
#include "client/presence/listing_responder.hpp"
#include "client/presence/listings.hpp"
#include "client/registry.hpp"
#include "client/subscriptions.hpp"
#include "deployment/api/open.hpp"
#include "net/reactor.hpp"
#include "protocol/listing/key_scan.hpp"
#include "protocol/protocols.hpp"
#include "statistics/series_set.hpp"

namespace mortise::protocol {
struct lock_info;
}

namespace mortise::client {

class election_handle;
class lock_handle;
class multi_handle;
class presence;

class client final : public std::enable_shared_from_this<client>, private deployment::listener {
 public:
  explicit client(settings defaults);
  ~client() override;

  // Connects to the servers of the URL, or starts to connect. The URL's query overrides the
  // defaults.
  outcome open(std::string_view url);
  // The same for servers without a URL.
  outcome open(const deployment::maker& make);
  // Ends every wait and releases every hold. Nothing happens afterwards. Any thread, once.
  void close() noexcept;
  // close() in two steps. begin_close() sends the releases without waiting, and returns true to its
  // first caller only. That caller calls end_close(), unless it has dropped the client.
  [[nodiscard]] bool begin_close() noexcept;
  void end_close(time_ns longest_ns) noexcept;
  // How long a closing client tries to pass its releases to the kernel.
  static constexpr time_ns linger_ns = 100 * ns_per_ms;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(); }

  // ok if this client's servers allow a lease of this length.
  [[nodiscard]] outcome check_lease(std::int64_t lease_ms) const;
  // `capacity` is that of a semaphore.
  outcome new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                     std::int64_t capacity, std::shared_ptr<lock_handle>& target);
  outcome new_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                     std::int64_t capacity, std::shared_ptr<election_handle>& target);
  std::shared_ptr<multi_handle> new_multi();
  outcome ping();
  outcome check_health(protocol::health& target);
  // The result of the last health check. Leaves `target` unchanged if there was none.
  outcome read_last_health(protocol::health& target) const;
  // All counts since the client was created.
  outcome read_statistics(statistics::snapshot& target) const;
  // Holds and waiters of all live clients that reply before the deadline.
  outcome list_locks(protocol::listing& target, time_ns deadline);
  // The latest lock events of a name, of all live clients that reply before the deadline.
  outcome list_history(protocol::listing& target, std::string_view name, std::int64_t window_ms,
                       time_ns deadline);
  // Marks the holders of this lock whose clients report the claim as retained.
  void find_retained(protocol::lock_info& info, std::string_view name, time_ns deadline);
  // Locks found by a scan of the servers' keys.
  outcome scan_keys(protocol::listing& target, protocol::key_scan_terms terms, time_ns deadline);
  // Reports log records, or periodic statistics events, to the queue. Without a queue the watch
  // ends.
  outcome watch_log(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level);
  outcome watch_stats(std::shared_ptr<event_queue> queue, std::int64_t tag,
                      std::int64_t interval_ms);
  // The same for the begin and the end of each wait and each hold.
  outcome watch_locks(std::shared_ptr<event_queue> queue, std::int64_t tag);
  outcome set_credentials(std::string_view user, std::string_view password);
  // The outcome of a direct request: client_freed() if the client was freed before the reply.
  [[nodiscard]] outcome answered(outcome result) const;

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  // See settings::key_prefix.
  [[nodiscard]] const std::string& key_prefix() const noexcept { return key_prefix_; }
  [[nodiscard]] const settings& defaults() const noexcept { return defaults_; }
  [[nodiscard]] net::reactor& reactor() noexcept { return reactor_; }
  [[nodiscard]] deployment::deployment& servers() noexcept { return *servers_; }
  [[nodiscard]] registry<gate_driver>& gates() noexcept { return gates_; }
  [[nodiscard]] statistics::series_set& counts() noexcept { return counts_; }
  [[nodiscard]] event_log& log() noexcept { return log_; }
  [[nodiscard]] lock_history& history() noexcept { return history_; }
  [[nodiscard]] lock_watch& locks() noexcept { return lock_watch_; }
  // The observed elections.
  [[nodiscard]] observer& elections() noexcept { return elections_; }
  // The search for deadlocks with waits of this client.
  [[nodiscard]] deadlock_search& deadlocks() noexcept { return *deadlocks_; }
  // The helper process of `release_on_death`; nullptr without it.
  [[nodiscard]] helper::helper_process* helper() noexcept override { return helper_.get(); }
  // Starts it for an acquire, unless it runs.
  outcome begin_helper() { return helper_ ? helper_->begin(boot_now()) : outcome(); }

  // Starts or ends a gate's subscription to its lock's channel. Called under the gate's mutex.
  void listen(const deployment::named_key& lock, std::string_view channel, std::uint64_t gate_id);
  void unlisten(const deployment::named_key& lock, std::string_view channel,
                std::uint64_t gate_id) noexcept;

  // The deadline of a call without a timeout.
  [[nodiscard]] time_ns command_deadline() const noexcept {
    return boot_now() + defaults_.command_timeout_ms * ns_per_ms;
  }
  // -1 waits without limit.
  static time_ns deadline_after(std::int64_t timeout_ms, time_ns now = boot_now()) noexcept {
    return timeout_ms < 0 ? time_never : now + timeout_ms * ns_per_ms;
  }

 private:
  template <class Handle>
  outcome make_handle(lock::lock_kind kind, std::string_view name, const settings& terms,
                      std::int64_t capacity, std::shared_ptr<Handle>& target);
  void close_multis() noexcept;
  void load_scripts(const protocol::table& rules);
  [[nodiscard]] outcome check_foreign_name(std::string_view name,
                                           const protocol::table& rules) const;

  // deployment::listener
  void on_up(const deployment::name_set& names, time_ns now) noexcept override;
  void on_unacknowledged(const deployment::name_set& names, time_ns now) noexcept override;
  void on_message(std::string_view text, time_ns now) noexcept override;
  void on_channel_message(std::string_view channel) noexcept override;
  void on_listening(std::string_view channel) noexcept override;
  void on_note(log_subject what, const outcome& error) noexcept override { log_.note(what, error); }
  // Notifies the gate that its lock may be free.
  void check_gate(std::uint64_t gate_id) noexcept;

  const std::string id_;
  settings defaults_;
  std::string key_prefix_;
  statistics::series_set counts_;
  event_log log_;
  lock_history history_;
  lock_watch lock_watch_;
  // Destroyed from the last to the first: gate drivers use the servers, and servers use the
  // reactor.
  std::unique_ptr<helper::helper_process> helper_;
  net::reactor reactor_;
  stats_watch stats_watch_;
  std::unique_ptr<deployment::deployment> servers_;
  std::unique_ptr<presence> presence_;
  subscriptions subscriptions_;
  registry<gate_driver> gates_;
  listing_responder responder_;
  listings listings_;
  observer elections_;
  const std::shared_ptr<deadlock_search> deadlocks_;
  std::mutex mutex_;  // protects the next two members
  std::vector<std::weak_ptr<multi_handle>> multis_;
  std::set<const protocol::table*> known_protocols_;  // their scripts were sent to the servers
  std::atomic<bool> is_closed_{false};
  bool has_ended_ = false;  // by end_close(), before the last reference is dropped
};

}  // namespace mortise::client
