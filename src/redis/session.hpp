// The sockets to a server, and the client's channels there. Commands and messages share a socket.
// RESP2 needs a second socket for messages.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/bound_call.hpp"
#include "net/reactor.hpp"
#include "redis/connection_config.hpp"
#include "redis/pipeline.hpp"

namespace mortise::redis {

// Messages come between on_up and on_down.
class session_listener : public message_listener {
 public:
  // The handshake is done. Earlier connections' requests have a definite outcome (hazard 16), and
  // every thread may submit. Each caller that found no connection before is notified here (hazard
  // 24). Called on the I/O thread.
  virtual void on_up(const session_facts& facts) noexcept = 0;
  // Only after on_up, and after every open request got its on_broken. Called on the I/O thread.
  virtual void on_down(const outcome& why) noexcept = 0;
  // Replies are overdue for a third of the limit or half a second, whichever is shorter. Called on
  // the I/O thread.
  virtual void on_overdue() noexcept {}
  // From now on no message to this channel is missed, as long as the connection lives. Comes after
  // listen(), and again after each on_up. Called on the reading thread.
  virtual void on_listening(std::string_view /*channel*/) noexcept {}
  // An attempt to connect failed. Called on the I/O thread.
  virtual void on_failed(const outcome& /*why*/, bool /*is_definite*/) noexcept {}
  // A log record, besides the calls above. Called on the I/O thread.
  virtual void on_note(log_subject /*what*/, const outcome& /*details*/) noexcept {}
};

class session {
 public:
  // Of the listener only the functions about messages and channels are called.
  session(net::reactor& loop, const connection_config& config, pipeline_listener& owner,
          session_listener& listener);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  [[nodiscard]] pipeline& commands() noexcept { return commands_; }

  // Any thread; see connection.
  void listen(std::string_view channel);
  void unlisten(std::string_view channel) noexcept;
  // Whether messages came by the socket of the commands when the session was last up.
  [[nodiscard]] bool has_one_socket() const noexcept { return subscribed_.load() == &commands_; }

  // All of these run on the I/O thread. messages() is RESP2's second socket, and throws bad_alloc.
  pipeline& messages();
  // From here on every thread may submit. False when a socket broke meanwhile.
  bool admit() noexcept;
  // Subscribes to the channels.
  void subscribe_all(int protocol) noexcept;
  void break_off(const outcome& why) noexcept;
  [[nodiscard]] bool is_attached() noexcept;

 private:
  class subscription;
  status send(std::string_view command, std::string_view channel) noexcept;
  void subscribe_missing(time_ns now) noexcept;

  net::reactor& loop_;
  const connection_config& config_;
  pipeline_listener& owner_;
  session_listener& listener_;
  pipeline commands_;
  std::unique_ptr<pipeline> messages_;          // RESP2 only
  std::atomic<pipeline*> subscribed_{nullptr};  // the socket for messages, once it was up
  net::bound_timer<session, &session::subscribe_missing> missing_timer_{*this};
  std::mutex mutex_;
  // Besides the inbox, and whether there was no room for the request to subscribe.
  std::map<std::string, bool, std::less<>> channels_;
};

}  // namespace mortise::redis
