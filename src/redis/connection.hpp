// One multiplexed, auto-pipelining connection to one server. Commands and messages share a socket.
// RESP2 needs a second socket for messages. The connection does the handshake, reconnects by
// itself, and ends every request exactly once. A server that does not serve, such as a replica, is
// left. The name is resolved again to find the next one.
//
// Any thread may call submit, await, last_problem. The listener and the requests are called without
// locks of the engine held. See pipeline.hpp for the reader and the sender.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/back_off.hpp"
#include "net/dial/dialer.hpp"
#include "net/reactor.hpp"
#include "net/threads/caller.hpp"
#include "redis/endpoint_tracker.hpp"
#include "redis/handshake.hpp"
#include "redis/pipeline.hpp"
#include "redis/resp/request.hpp"
#include "redis/service/service_check.hpp"
#include "redis/session.hpp"
#include "statistics/connection_statistics.hpp"

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
  virtual void on_note(log_subject /*what*/, const outcome& /*how*/) noexcept {}
};

class connection final : private pipeline_listener,
                         private net::dial_listener,
                         private endpoint_listener,
                         private service_check_listener,
                         private net::timer,
                         private net::task {
 public:
  // The reactor must run until the connection is closed.
  connection(net::reactor& loop, connection_config config, session_listener& listener);
  // Closes the connection. No thread may be inside submit or await.
  ~connection() override;

  // Connects, and waits for the first on_up or the first definite refusal: wrong password, too old,
  // no right to the socket. An unreachable server, LOADING, BUSY or a replica is tried again until
  // the deadline. A failure closes the connection. Call this or begin() once, before all other
  // functions.
  [[nodiscard]] outcome open(time_ns deadline);
  // Connects in the background without a deadline, as after a broken connection. Fails only without
  // a descriptor, and then rests for good. Never blocks.
  [[nodiscard]] outcome begin();
  // Ends everything. Open requests get on_broken, then on_down follows if the connection was up.
  // Afterwards no callback comes. With a linger, submitted requests are first sent and answered
  // within that time. Not from the I/O thread, nor from a callback. May be called again.
  void close(time_ns linger_ns = 0) noexcept;

  // Sends one request; `bytes` are copied.
  //   ok           exactly one of on_reply and on_broken will be called
  //   unreachable  no connection now (last_problem() gives the reason); nothing was kept
  //   limit        too many open requests or too many unsent bytes; nothing was kept
  //   no_memory    nothing was kept
  // Never blocks, never calls back.
  status submit(request& item, std::string_view bytes, flush mode) noexcept {
    return commands_.submit(item, bytes, mode);
  }
  // Lends the calling thread until caller.finish() or the deadline. True for finish(). While a
  // request with this caller is open, the thread may read for everybody and run the callbacks of
  // others. A caller belongs to one connection. Not from the I/O thread.
  bool await(net::caller& caller, time_ns deadline) noexcept {
    return commands_.await(caller, deadline);
  }
  // Changes the number of waiters for messages. While there is any, messages are read immediately.
  void expect_messages(int change) noexcept { commands_.expect_messages(change); }

  // Also listens to this channel, across reconnects, until unlisten(). on_listening() comes for
  // each call, unless the server refuses. Both block and call back as little as submit(). The
  // channel is not the inbox.
  void listen(std::string_view channel);
  void unlisten(std::string_view channel) noexcept;

  // Checks at once whether the name resolves to another server. An attempt restarts. A connection
  // whose address is still listed stays undisturbed. Any thread.
  void look() noexcept;

  // Uses this login from now on. Without a connection that used it, the next attempt begins at
  // once. A connection with an older login ends, unless the server already accepted the new one on
  // it and it needs no second socket. Any thread.
  void follow_identity(login with, bool is_accepted) noexcept;

  // Ends the present connection, and connects again. Any thread.
  void leave(outcome why) noexcept { commands_.break_off(std::move(why)); }

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
    idle,
    dialing,
    handshake,
    dialing_inbox,
    handshake_inbox,
    up,
    checking,   // finds what a service lacks
    ending,     // broken; waits until both sockets are torn down
    waiting,    // until the next attempt
    lingering,  // closing, with the last requests in flight
    closed,
  };

  // All of these run on the I/O thread.
  void run() noexcept override;  // an order was given
  void on_timer(time_ns now) noexcept override;
  void on_dialed(std::unique_ptr<net::transport> connected,
                 const net::address& where) noexcept override;
  void on_dial_failed(const outcome& why, bool is_definite) noexcept override;
  void on_handshake_reply(const value& reply) noexcept override;
  void on_overdue() noexcept override;
  void on_moved(outcome why) noexcept override;
  void on_torn(const outcome& why) noexcept override;
  void on_healthy(time_ns since) noexcept override;
  void on_check_over() noexcept override;
  template <class Step>
  void attempt(Step&& step) noexcept;
  void begin_attempt() noexcept;
  void dial() noexcept;
  void renew_login() noexcept;
  void rest_now() noexcept;
  void set_unanswered(std::string_view name) noexcept;
  void forget_server() noexcept;
  void look_now() noexcept;
  void look_up(const char* why) noexcept;
  void plan_lookup() noexcept;
  void begin_handshake();
  [[nodiscard]] pipeline& socket() noexcept;
  void greet(handshake::form form);
  void take_reply(const value& reply);
  void finish_handshake();
  void go_up() noexcept;
  void fail(outcome why, bool is_definite) noexcept;
  void end_sockets() noexcept;
  [[nodiscard]] bool has_sockets() noexcept;
  void settle() noexcept;
  void conclude() noexcept;
  bool take_another_way() noexcept;
  void retry_or_give_up(bool is_opening) noexcept;
  void begin_close() noexcept;
  void finish_close() noexcept;
  void report_open(const outcome& result) noexcept;
  void set_problem(const outcome& why) noexcept;
  void take_turn() noexcept;
  void note_up() noexcept;
  void note_trouble(log_subject what) noexcept;
  // connection_checking.cpp
  bool check_service() noexcept;
  void on_service_checked(const service_gaps& lacking) noexcept override;
  void note_gaps(const service_gaps& lacking);
  // channels.cpp
  class subscription;
  void say_channel(std::string_view command, std::string_view channel) noexcept;
  status try_to_say(pipeline& way, std::string_view command, std::string_view channel) noexcept;
  void listen_again() noexcept;

  net::reactor& loop_;
  const connection_config config_;
  session_listener& listener_;
  pipeline commands_;
  std::unique_ptr<pipeline> messages_;  // RESP2 only
  net::dialer dialer_;
  endpoint_tracker endpoint_;
  statistics::connection_statistics statistics_;

  // The I/O thread's own.
  phase phase_ = phase::idle;
  std::optional<handshake> handshake_;
  session_facts facts_;
  handshake::predecessor before_;
  struct {
    login as;                                    // of this attempt; empty when it is over
    std::atomic<std::uint64_t> sent_version{0};  // of the last login that was sent to the server
  } login_;
  int protocol_ = 3;
  struct {
    bool was_last = false;  // until its end is reported
    bool was_ever = false;
    bool is_trouble_noted = false;  // since then
  } up_;
  net::back_off back_off_;
  struct {
    time_ns deadline = 0;
    bool is_last = false;  // of open(), with the deadline of this attempt
    outcome end;           // reason of the end; ok while it lasts
    bool is_end_definite = false;
    bool is_falling_back = false;
    bool was_at_first_socket = false;  // at its end: another address may succeed
    bool was_unheard = false;          // and the server had sent nothing
    outcome before;                    // result of the earlier addresses, if not ok
    struct {
      std::unique_ptr<service_check> service;  // none until the first
      int unheard_ends = 0;                    // number of such attempts in a row
    } check;
  } attempt_;

  // Shared by open or close, and the I/O thread.
  mutable std::mutex mutex_;
  outcome problem_;
  struct {
    bool is_on = false;
    time_ns deadline = 0;
    outcome result;
    std::atomic<std::uint32_t> is_done{0};  // 1 once the result is set
  } opening_;
  struct {
    bool is_on = false;
    time_ns linger_ns = 0;
    std::atomic<std::uint32_t> is_done{0};  // 1 once all is finished
  } closing_;
  struct {
    std::atomic<bool> is_look{false};
    std::atomic<bool> is_rest{false};
    std::optional<std::string> name;  // of another server that is not connected yet
  } wanted_;
  std::atomic<std::uint32_t> turns_{0};
  std::set<std::string, std::less<>> channels_;  // subscribed, besides the inbox
  std::atomic<pipeline*> hearing_{nullptr};      // the subscribed socket; nullptr until it was up
};

}  // namespace mortise::redis
