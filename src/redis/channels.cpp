// The channels that a connection listens to besides its inbox. There are few at a time, and they
// come and go with the waiters. So they are no part of the handshake.
#include <memory>
#include <new>
#include <utility>

#include "redis/connection.hpp"
#include "redis/resp/command.hpp"

namespace mortise::redis {

// Owns itself until its reply.
class connection::subscription final : public request {
 public:
  subscription(connection& owner, std::string channel, bool is_wanted)
      : owner_(owner), channel_(std::move(channel)), is_wanted_(is_wanted) {
    is_subscription = true;
  }
  void on_reply(const value& reply, time_ns /*now*/) noexcept override {
    const std::unique_ptr<subscription> self(this);
    // A waiter that may not subscribe learns the outcome later from its next request (hazard 24).
    if (is_wanted_ && !reply.is_error()) owner_.listener_.on_listening(channel_);
  }
  // Sent again by the next connection.
  void on_broken(bool /*was_sent*/) noexcept override {
    const std::unique_ptr<subscription> self(this);
  }

 private:
  connection& owner_;
  const std::string channel_;
  const bool is_wanted_;
};

void connection::listen(std::string_view channel) {
  {
    const std::lock_guard guard(mutex_);
    channels_.emplace(channel);
  }
  // Without a connection, or during its handshake, listen_again() sends it.
  say_channel("SUBSCRIBE", channel);
}

void connection::unlisten(std::string_view channel) noexcept {
  {
    const std::lock_guard guard(mutex_);
    const auto known = channels_.find(channel);
    if (known == channels_.end()) return;
    channels_.erase(known);
  }
  say_channel("UNSUBSCRIBE", channel);
}

void connection::say_channel(std::string_view command, std::string_view channel) noexcept {
  auto* const way = hearing_.load();  // RESP2 has a separate socket for messages
  if (way == nullptr) return;
  const bool is_wanted = command.front() == 'S';
  const auto result = try_to_say(*way, command, channel);
  // The waiter would miss its messages. The next connection subscribes to all channels again.
  if (is_wanted && result == status::no_memory) {
    way->break_off(outcome::of(status::no_memory, "cannot subscribe: out of memory"));
  }
}

status connection::try_to_say(pipeline& way, std::string_view command,
                              std::string_view channel) noexcept try {
  const bool is_wanted = command.front() == 'S';
  auto item = std::make_unique<subscription>(*this, std::string(channel), is_wanted);
  std::string bytes;
  command_writer(bytes).command({command, channel});
  const auto result = way.submit(*item, bytes, flush::by_io_thread);
  if (result == status::ok) static_cast<void>(item.release());
  return result;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

void connection::listen_again() noexcept {
  const std::lock_guard guard(mutex_);
  for (const auto& channel : channels_) say_channel("SUBSCRIBE", channel);
}

}  // namespace mortise::redis
