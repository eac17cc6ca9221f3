// The Sentinels of one master, as the resolver of its address. All are asked at once, and those
// that know the latest failover are right. Their notifications are only hints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/address_map.hpp"
#include "deployment/sentinel/sentinel.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "redis/connection.hpp"

namespace mortise::sentinel {

class sentinels final : public net::resolver, private sentinel_listener {
 public:
  struct member {
    std::string place;  // "host:port"
    redis::connection_config config;
  };
  sentinels(net::reactor& loop, std::vector<member> members, std::string master, std::string name,
            address_map map);
  // Called after close().
  ~sentinels() override;

  // Connects to all in the background. `on_hint` reports that the master may have changed, on any
  // thread.
  outcome begin(std::function<void()> on_hint);
  // Ends all connections and requests. No hint follows. Called while the reactor runs, and not on
  // its thread. The reactor may end at the same time. May be called again.
  void close() noexcept;

  // The last report about the master's replicas, and the time of the request.
  struct replica_report {
    replica_count count;
    time_ns asked_at = 0;
  };
  // nullopt if no Sentinel has reported it, or if this server was not the master.
  [[nodiscard]] std::optional<replica_report> replicas_of(const net::address& server) const;

  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  net::resolution resolve(time_ns deadline) override;
  [[nodiscard]] std::string text() const override { return name_; }

 private:
  class lookup;

  void on_result() noexcept override;
  void on_master_switched(std::string_view text) noexcept override;
  std::vector<sentinel_result> ask_all(time_ns deadline);
  [[nodiscard]] net::resolution resolve_places(const std::vector<sentinel_result>& results,
                                               time_ns deadline);

  const std::string master_;
  const std::string name_;
  const address_map map_;                       // of the servers, not of the Sentinels
  std::function<void()> on_hint_;               // since begin()
  std::atomic<std::uint32_t> result_count_{0};  // number of calls of on_result()
  struct resolution_state {
    mutable std::mutex mutex;
    std::vector<net::address> master;
    std::optional<replica_report> replicas;
  };
  resolution_state last_;  // result of the last resolve()
  std::mutex mutex_;       // protects the list, which is empty after close()
  std::vector<std::unique_ptr<sentinel>> all_;
};

}  // namespace mortise::sentinel
