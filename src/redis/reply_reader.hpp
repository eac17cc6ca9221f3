// What comes in, as the ends of requests: which reply is whose, what is a message, and what breaks
// the stream. Pure: it is handed bytes and the time. One thread at a time, the one that reads,
// except where a function says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "redis/input_buffer.hpp"
#include "redis/request_list.hpp"
#include "redis/resp.hpp"

namespace mortise::redis {

// Whom a reply_reader tells what is no reply to a request.
class reply_listener {
 public:
  virtual ~reply_listener() = default;
  // A reply before admit().
  virtual void on_handshake_reply(const value& reply) noexcept = 0;
  // A published message.
  virtual void on_message(std::string_view channel, std::string_view payload,
                          time_ns now) noexcept = 0;
  // No more messages come to this channel of a slot: it has gone to another server.
  virtual void on_unheard(std::string_view channel) noexcept = 0;
  // An error is about to be told to its request.
  virtual void on_error(const request& asked, std::string_view text) noexcept = 0;
  // A reply came for which no request is known here: those that were submitted meanwhile.
  virtual request_list take_submitted() noexcept = 0;
};

class reply_reader {
 public:
  // `messages`: the second socket that RESP2 needs for subscriptions, where messages are arrays.
  enum class purpose { commands, messages };

  reply_reader(purpose use, reply_listener& listener) : use_(use), listener_(listener) {}

  // Where to receive into, once make_room() has seen to it that there is room. That throws
  // bad_alloc.
  void make_room() { input_.make_room(); }
  [[nodiscard]] char* tail() const noexcept { return input_.tail(); }
  [[nodiscard]] std::size_t room() const noexcept { return input_.room(); }
  // So many bytes were received: ends the requests whose replies are complete. False when the
  // stream is broken from here on; problem() says how.
  bool take(std::size_t count, time_ns now) noexcept;
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
  [[nodiscard]] const outcome& problem() const noexcept { return problem_; }

  // From here on replies are those to requests. The thread that reads.
  void admit() noexcept { is_greeted_ = true; }
  // These will be answered after all that it knows.
  void expect(request_list& submitted) noexcept { open_.take_all(submitted); }
  // Whose reply comes next, of those that it knows.
  [[nodiscard]] const request* oldest() const noexcept { return open_.first(); }
  // How many requests were answered ever. Any thread.
  [[nodiscard]] std::uint64_t answered() const noexcept {
    return answered_.load(std::memory_order_relaxed);
  }

  // Nothing more comes: returns the requests that it knows and that have no answer, and is as new,
  // but for the count, which says `submitted`.
  request_list end(std::uint64_t submitted) noexcept;
  // Gives memory back, unless half a reply is there.
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
  std::atomic<std::uint64_t> answered_{0};
  request_list open_;
  input_buffer input_;
  std::optional<parser> parser_{std::in_place};
  int replies_to_skip_ = 0;
  bool is_greeted_ = false;
  bool is_broken_ = false;
  outcome problem_;
};

}  // namespace mortise::redis
