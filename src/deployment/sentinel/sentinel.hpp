// One Sentinel: its connection, the last request, and its notifications.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "deployment/sentinel/report.hpp"
#include "net/reactor.hpp"
#include "redis/connection.hpp"
#include "redis/resp/request.hpp"

namespace mortise::sentinel {

// The channel on which Sentinels publish that another server has become the master.
constexpr std::string_view switch_channel = "+switch-master";

class sentinel_listener {
 public:
  virtual ~sentinel_listener() = default;
  // A Sentinel has replied, or its connection or an attempt to connect has ended. Any thread.
  virtual void on_result() noexcept = 0;
  // A message on `switch_channel`. Any thread.
  virtual void on_master_switched(std::string_view text) noexcept = 0;
};

class sentinel final : private redis::session_listener, private redis::request {
 public:
  sentinel(net::reactor& loop, redis::connection_config config, std::string place,
           std::string_view master, sentinel_listener& listener);

  // See connection.
  outcome begin() { return server_.begin(); }
  void close() noexcept { server_.close(); }

  // Requests the master's address, once it is connected. Later reports have the returned number.
  std::uint64_t ask() noexcept;
  // The state of the request with this number.
  enum class stage : std::uint8_t { waiting, late, failed, answered };
  [[nodiscard]] stage stage_of(std::uint64_t number) const noexcept;
  // Stops waiting for the present reply, and for later replies as long as the Sentinel is silent.
  void give_up(std::uint64_t number) noexcept;
  // The last report, or why the Sentinel cannot be asked.
  [[nodiscard]] sentinel_result last_result() const;

 private:
  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool is_definite) noexcept override;
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void send() noexcept;

  const std::string place_;
  std::string requests_;
  std::size_t request_count_ = 0;
  sentinel_listener& listener_;

  mutable std::mutex mutex_;  // protects the members below
  bool is_up_ = false;
  bool is_asking_ = false;
  bool is_asked_meanwhile_ = false;  // since that request
  bool is_late_ = false;
  std::uint64_t number_ = 0;    // of the last request that was sent
  std::uint64_t answered_ = 0;  // of the last request that was answered
  report next_report_;          // while its replies come
  std::size_t replies_left_ = 0;
  report report_;
  outcome problem_;  // of the last attempt; ok while it is up
  bool has_failed_ = false;
  bool is_definite_ = false;

  redis::connection server_;  // last, because it calls back until its destruction
};

}  // namespace mortise::sentinel
