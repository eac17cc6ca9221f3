// Turns received bytes into the ends of requests: matches replies to requests, separates messages,
// and detects a broken stream. Pure: bytes and the time are arguments. Only the reading thread
// calls it, unless a function says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "redis/resp/input_buffer.hpp"
#include "redis/resp/request_list.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::redis {

// Receives the messages of subscribed channels. Called on the reading thread.
class message_listener {
 public:
  virtual ~message_listener() = default;
  // A message to the inbox or another channel.
  virtual void on_push(std::string_view /*channel*/, std::string_view /*payload*/,
                       time_ns /*now*/) noexcept {}
  // Messages to this channel of a cluster's slot end, because the slot moved to another server.
  virtual void on_channel_moved(std::string_view /*channel*/) noexcept {}
};

// Receives what concerns the whole stream.
class reply_listener {
 public:
  virtual ~reply_listener() = default;
  // A reply before admit().
  virtual void on_handshake_reply(const value& reply) noexcept = 0;
  // An error that its request gets next.
  virtual void on_error(const request& item, std::string_view text) noexcept = 0;
  // Returns the requests submitted meanwhile. A reply came without a known request.
  virtual request_list take_submitted() noexcept = 0;
};

class reply_reader {
 public:
  // `messages`: the second socket that RESP2 needs for subscriptions, where messages are arrays.
  enum class purpose { commands, messages };

  // `messages` is null for a stream that is never admitted.
  reply_reader(purpose use, reply_listener& listener, message_listener* messages,
               parser_limits limits = {})
      : use_(use), listener_(listener), messages_(messages), limits_(limits) {}

  // The place for received bytes. Call make_room() first, which throws bad_alloc.
  void make_room() { input_.make_room(); }
  [[nodiscard]] char* tail() const noexcept { return input_.tail(); }
  [[nodiscard]] std::size_t room() const noexcept { return input_.room(); }
  // Takes `count` received bytes, and ends the requests whose replies are complete. False when the
  // stream is broken from here on; problem() has the reason.
  bool take(std::size_t count, time_ns now) noexcept;
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
  [[nodiscard]] const outcome& problem() const noexcept { return problem_; }

  // From here on replies belong to requests. Called on the reading thread.
  void admit() noexcept { is_admitted_ = true; }
  // Adds requests, to be answered after all known ones.
  void expect(request_list& submitted) noexcept { open_.take_all(submitted); }
  // The known request whose reply comes next.
  [[nodiscard]] const request* oldest() const noexcept { return open_.first(); }
  // How many requests were answered in all. Any thread.
  [[nodiscard]] std::uint64_t answered() const noexcept {
    return answered_.load(std::memory_order_relaxed);
  }

  // Ends the stream. Returns the known requests without a reply, and resets all but the count,
  // which becomes `submitted`.
  request_list end(std::uint64_t submitted) noexcept;
  // Frees the memory, unless half a reply is in it.
  void release() noexcept;

 private:
  void dispatch(const value& reply, time_ns now) noexcept;
  void answer(const value& reply, time_ns now) noexcept;
  void confirm(const value& reply, time_ns now) noexcept;
  [[nodiscard]] outcome violation() const noexcept;
  void break_off(outcome why) noexcept;
  request* find_oldest() noexcept;

  const purpose use_;
  reply_listener& listener_;
  message_listener* const messages_;
  const parser_limits limits_;
  std::atomic<std::uint64_t> answered_{0};
  request_list open_;
  input_buffer input_;
  std::optional<parser> parser_{std::in_place, limits_};
  int replies_to_skip_ = 0;
  bool is_admitted_ = false;
  bool is_broken_ = false;
  outcome problem_;
};

}  // namespace mortise::redis
