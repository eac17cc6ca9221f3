// The Sentinels of one master, as what finds its address: all are asked at once, and those who know
// of the latest failover are right. What they tell by themselves is only a hint.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/reactor.hpp"
#include "net/resolver.hpp"
#include "redis/connection.hpp"
#include "sentinel/sentinel.hpp"

namespace mortise::sentinel {

class sentinels final : public net::resolver, private sentinel_listener {
 public:
  struct member {
    std::string place;  // "host:port"
    redis::connection_config config;
  };
  sentinels(net::reactor& loop, std::vector<member> members, std::string master, std::string name);
  // Closed by then.
  ~sentinels() override;

  // Connects to all in the background; `on_hint` says that the master may be another now, on any
  // thread.
  outcome begin(std::function<void()> on_hint);
  // Nobody is connected to or asked any more, and no hint comes. While the reactor runs, which may
  // end then, and not on its thread. May be called again.
  void close() noexcept;

  // What they last said of the master's replicas, and when they were asked.
  struct replica_report {
    replica_count count;
    time_ns asked_at = 0;
  };
  // Nothing where none has said so, or this server was not the master.
  [[nodiscard]] std::optional<replica_report> replicas_of(const net::address& server) const;

  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  net::resolution resolve(time_ns deadline) override;
  [[nodiscard]] std::string text() const override { return name_; }

 private:
  class look;

  void on_word() noexcept override;
  void on_news(std::string_view text) noexcept override;
  std::vector<word> ask_all(time_ns deadline);
  [[nodiscard]] net::resolution resolve_places(const std::vector<word>& words, time_ns deadline);

  const std::string master_;
  const std::string name_;
  std::function<void()> on_hint_;        // since begin()
  std::atomic<std::uint32_t> words_{0};  // how many have come
  struct {
    mutable std::mutex mutex;
    std::vector<net::address> master;
    std::optional<replica_report> replicas;
  } last_;            // what was found
  std::mutex mutex_;  // of the list, which is empty once it is closed
  std::vector<std::unique_ptr<sentinel>> all_;
};

}  // namespace mortise::sentinel
