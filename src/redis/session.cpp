#include "redis/session.hpp"

#include <new>
#include <utility>

#include "redis/resp/command.hpp"

namespace mortise::redis {

namespace {

// How soon a request is sent again that found too many others.
constexpr time_ns retry_ns = 20 * ns_per_ms;

}  // namespace

// Owns itself until its reply. Channels come and go with the waiters, so they are no part of the
// handshake.
class session::subscription final : public request {
 public:
  subscription(session_listener& listener, std::string channel, bool begins)
      : listener_(listener), channel_(std::move(channel)), begins_(begins) {
    is_subscription = true;
  }
  void on_reply(const value& reply, time_ns /*now*/) noexcept override {
    const std::unique_ptr<subscription> self(this);
    // A waiter that may not subscribe learns the outcome later from its next request (hazard 24).
    if (begins_ && !reply.is_error()) listener_.on_listening(channel_);
  }
  // Sent again by the next connection.
  void on_broken(bool /*was_sent*/) noexcept override {
    const std::unique_ptr<subscription> self(this);
  }

 private:
  session_listener& listener_;
  const std::string channel_;
  const bool begins_;
};

session::session(net::reactor& loop, const connection_config& config, pipeline_listener& owner,
                 session_listener& listener)
    : loop_(loop),
      config_(config),
      owner_(owner),
      listener_(listener),
      commands_(loop, config, owner, &listener, pipeline::purpose::commands) {}

session::~session() { loop_.cancel(missing_timer_); }

pipeline& session::messages() {
  if (!messages_) {
    messages_ =
        std::make_unique<pipeline>(loop_, config_, owner_, &listener_, pipeline::purpose::messages);
  }
  return *messages_;
}

bool session::admit() noexcept {
  if (messages_ && messages_->is_attached() && !messages_->admit()) return false;
  return commands_.admit();
}

void session::break_off(const outcome& why) noexcept {
  commands_.break_off(why);
  if (messages_) messages_->break_off(why);
}

bool session::is_attached() noexcept {
  return commands_.is_attached() || (messages_ && messages_->is_attached());
}

void session::listen(std::string_view channel) {
  {
    const std::lock_guard guard(mutex_);
    channels_.emplace(channel, false);
  }
  // Without a connection, or during its handshake, subscribe_all() sends it.
  if (send("SUBSCRIBE", channel) != status::limit) return;
  const std::lock_guard guard(mutex_);
  const auto known = channels_.find(channel);
  if (known == channels_.end()) return;
  known->second = true;
  loop_.schedule(missing_timer_, boot_now() + retry_ns);
}

void session::unlisten(std::string_view channel) noexcept {
  {
    const std::lock_guard guard(mutex_);
    const auto known = channels_.find(channel);
    if (known == channels_.end()) return;
    channels_.erase(known);
  }
  send("UNSUBSCRIBE", channel);
}

void session::subscribe_all(int protocol) noexcept {
  subscribed_.store(protocol == 3 ? &commands_ : messages_.get());
  {
    const std::lock_guard guard(mutex_);
    for (auto& [channel, is_missing] : channels_) is_missing = true;
  }
  subscribe_missing(boot_now());
}

// Where there is no room for a request, its waiter would miss its messages (hazard 24).
void session::subscribe_missing(time_ns now) noexcept {
  const std::lock_guard guard(mutex_);
  bool has_room = true;
  for (auto& [channel, is_missing] : channels_) {
    if (!is_missing || !has_room) continue;
    is_missing = send("SUBSCRIBE", channel) == status::limit;
    has_room = !is_missing;
  }
  if (!has_room) loop_.schedule(missing_timer_, now + retry_ns);
}

status session::send(std::string_view command, std::string_view channel) noexcept {
  auto* const socket = subscribed_.load();
  if (socket == nullptr) return status::unreachable;
  const bool begins = command == "SUBSCRIBE";
  auto result = status::no_memory;
  try {
    auto item = std::make_unique<subscription>(listener_, std::string(channel), begins);
    std::string bytes;
    command_writer(bytes).command({command, channel});
    result = socket->submit(*item, bytes, flush::by_io_thread);
    if (result == status::ok) static_cast<void>(item.release());
  } catch (const std::bad_alloc&) {
    // `result` keeps this status.
  }
  // The waiter would miss its messages. The next connection subscribes to all channels again.
  if (begins && result == status::no_memory) {
    socket->break_off(outcome::of(status::no_memory, "cannot subscribe: out of memory"));
  }
  return result;
}

}  // namespace mortise::redis
