// One Sentinel: the connection to it, what it was asked last, and what it tells by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/reactor.hpp"
#include "redis/connection.hpp"
#include "redis/request.hpp"
#include "sentinel/report.hpp"

namespace mortise::sentinel {

// Where Sentinels tell that a master has been followed by another.
constexpr std::string_view news_channel = "+switch-master";

class sentinel_listener {
 public:
  virtual ~sentinel_listener() = default;
  // One has answered, or an attempt to connect to it has ended, or a connection. Any thread.
  virtual void on_word() noexcept = 0;
  // What is said on the channel of the news. Any thread.
  virtual void on_news(std::string_view text) noexcept = 0;
};

class sentinel final : private redis::session_listener, private redis::request {
 public:
  sentinel(net::reactor& loop, redis::connection_config config, std::string place,
           std::string_view master, sentinel_listener& hears);

  // See connection.
  outcome begin() { return server_.begin(); }
  void close() noexcept { server_.close(); }

  // Asks where the master is, once it is connected to. What it says from now on has this number.
  std::uint64_t ask() noexcept;
  // What there is to this number.
  enum class stage : std::uint8_t { waiting, late, failed, answered };
  [[nodiscard]] stage stage_of(std::uint64_t number) const noexcept;
  // Nobody waits for the present answer any longer, nor for one of later as long as it is silent.
  void give_up(std::uint64_t number) noexcept;
  // What it says, or why it cannot be asked.
  [[nodiscard]] word last_word() const;

 private:
  void on_up(const redis::session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool is_definite) noexcept override;
  void on_push(std::string_view channel, std::string_view payload, time_ns now) noexcept override;
  void on_reply(const redis::value& reply, time_ns now) noexcept override;
  void on_broken(bool was_sent) noexcept override;
  void send() noexcept;

  const std::string place_;
  std::string questions_;
  std::size_t question_count_ = 0;
  sentinel_listener& hears_;

  mutable std::mutex mutex_;  // of what follows
  bool is_up_ = false;
  bool is_asking_ = false;
  bool is_asked_again_ = false;  // since then
  bool is_late_ = false;
  std::uint64_t number_ = 0;    // of the last question that was sent
  std::uint64_t answered_ = 0;  // of the last one that was answered
  report next_;                 // while its answers come
  std::size_t answers_left_ = 0;
  report said_;
  outcome problem_;  // of the last attempt; ok while it is up
  bool has_failed_ = false;
  bool is_definite_ = false;

  redis::connection server_;  // last, as it calls back until it is gone
};

}  // namespace mortise::sentinel
