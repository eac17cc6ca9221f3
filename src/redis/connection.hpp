// One multiplexed, auto-pipelining connection to one server, which reconnects by itself and ends
// every request exactly once. Its session has the sockets, and its connector sets the session up. A
// server that does not serve, such as a replica, is left. The name is resolved again to find the
// next one.
//
// Any thread may call commands() and last_problem(). The listener and the requests are called
// without locks of the engine held. See pipeline.hpp for the reader and the sender.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/back_off.hpp"
#include "net/reactor.hpp"
#include "net/threads/caller.hpp"
#include "redis/connection_config.hpp"
#include "redis/connector.hpp"
#include "redis/resp/request.hpp"
#include "redis/session.hpp"
#include "statistics/connection_statistics.hpp"

namespace mortise::redis {

class connection final : private session_listener, private net::timer, private net::task {
 public:
  // The reactor must run until the connection is closed.
  connection(net::reactor& loop, connection_config config, session_listener& listener);
  // Closes the connection. No thread may be inside commands().
  ~connection() override;

  // Connects, and waits for the first on_up or the first definite refusal: wrong password, too old,
  // no right to the socket. An unreachable server, LOADING, BUSY, a replica or a server that
  // refuses writes is tried again until the deadline. A failure closes the connection. Call this or
  // begin() once, before all other functions.
  [[nodiscard]] outcome open(time_ns deadline);
  // Connects in the background without a deadline, as after a broken connection. Fails only without
  // a descriptor, and then keeps trying. Never blocks.
  [[nodiscard]] outcome begin();
  // Ends everything. Open requests get on_broken, then on_down follows if the connection was up.
  // Afterwards no callback comes. With a linger, submitted requests are first sent and answered
  // within that time. Not from the I/O thread, nor from a callback. May be called again.
  void close(time_ns linger_ns = 0) noexcept;

  // Requests, callers that wait, and the end of the present connection. After an end it connects
  // again. Any thread.
  [[nodiscard]] pipeline& commands() noexcept { return session_.commands(); }

  // Also listens to this channel, across reconnects, until unlisten(). on_listening() comes for
  // each call, unless the server refuses. Both block and call back as little as submit(). The
  // channel is not the inbox.
  void listen(std::string_view channel) { session_.listen(channel); }
  void unlisten(std::string_view channel) noexcept { session_.unlisten(channel); }

  // Checks at once whether the name resolves to another server. An attempt restarts. A connection
  // whose address is still listed stays undisturbed. Any thread.
  void look() noexcept;

  // Uses this login from now on. Without a connection that used it, the next attempt begins at
  // once. A connection with an older login ends, unless the server already accepted the new one on
  // it and it needs no second socket. Any thread.
  void follow_identity(login with, bool is_accepted) noexcept;

  // Ends the present connection or attempts, until resume(). Any thread.
  void rest() noexcept;
  void resume() noexcept;

  // The resolver resolves another server, of this name, from now on. Forgets the facts about the
  // old server. Call it during a rest, before resume(). Any thread.
  void change_server(std::string name) noexcept;

  // Why there is no connection: the end of the last one, or the result of the last attempt. ok
  // while it is up.
  [[nodiscard]] outcome last_problem() const noexcept;
  // Removes the text of the present login from a server's message. Any thread.
  void hide_login(outcome& problem) const noexcept { config_.identity->hide_in(problem); }
  // Statistics of the connection. The senders of requests record their response times. Any thread.
  [[nodiscard]] statistics::connection_statistics& statistics() noexcept { return statistics_; }
  [[nodiscard]] const statistics::connection_statistics& statistics() const noexcept {
    return statistics_;
  }
  // Counts how often the connection has come up or was closed, and waits for a higher count. False
  // after the deadline.
  [[nodiscard]] std::uint32_t turns() const noexcept { return turns_.load(); }
  bool await_turn(std::uint32_t seen, time_ns deadline) noexcept;

 private:
  enum class phase {
    idle,     // before begin(), or at rest
    active,   // an attempt or a session
    waiting,  // until the next attempt
    closed,
  };

  // All of these run on the I/O thread.
  void run() noexcept override;  // an order was given
  void on_timer(time_ns now) noexcept override;
  void on_up(const session_facts& facts) noexcept override;
  void on_down(const outcome& why) noexcept override;
  void on_failed(const outcome& why, bool is_definite) noexcept override;
  void on_overdue() noexcept override;
  void begin_attempt() noexcept;
  void forget_server() noexcept;
  void retry_or_give_up(const outcome& why, bool is_definite) noexcept;
  void finish_close() noexcept;
  void report_open(const outcome& result) noexcept;
  void note_up(const session_facts& facts) noexcept;
  void note_trouble(log_subject what) noexcept;
  void set_problem(const outcome& why) noexcept;
  void set_unanswered(std::string_view name) noexcept;
  void take_turn() noexcept;
  [[nodiscard]] bool is_closing() const noexcept { return linger_ns_ >= 0; }

  net::reactor& loop_;
  const connection_config config_;
  session_listener& listener_;
  statistics::connection_statistics statistics_;
  connector connector_;
  session session_;

  // The I/O thread's own.
  phase phase_ = phase::idle;
  bool is_trouble_noted_ = false;  // since it was last up
  net::back_off back_off_;

  mutable std::mutex mutex_;
  outcome problem_;
  outcome open_result_;
  std::optional<std::string> new_name_;    // of another server that is not connected yet
  std::atomic<time_ns> open_deadline_{0};  // 0: no thread is inside open()
  std::atomic<time_ns> linger_ns_{-1};     // of close(); negative before
  std::atomic<std::uint32_t> is_closed_{0};
  std::atomic<bool> is_look_due_{false};
  std::atomic<bool> is_resting_{false};
  std::atomic<std::uint32_t> turns_{0};
};

}  // namespace mortise::redis
