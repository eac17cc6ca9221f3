// One multiplexed, auto-pipelining connection to one server: commands and messages on the same
// socket (RESP3; a second socket for messages where the server has only RESP2). It greets,
// reconnects by itself, and gives every request exactly one end. A server that does not serve, such
// as a replica, is left for whichever the name leads to next.
//
// Any thread may call submit, await, last_problem; the listener and the requests are called without
// locks of the engine held. See pipeline.hpp for who reads and who sends.
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
#include "net/back_off.hpp"
#include "net/caller.hpp"
#include "net/dialer.hpp"
#include "net/reactor.hpp"
#include "redis/endpoint_tracker.hpp"
#include "redis/handshake.hpp"
#include "redis/pipeline.hpp"
#include "redis/request.hpp"
#include "redis/service_check.hpp"
#include "redis/session.hpp"
#include "statistics/connection_statistics.hpp"

namespace mortise::redis {

class session_listener {
 public:
  virtual ~session_listener() = default;
  // Greeted. What was sent on earlier connections has a definite outcome by now (hazard 16), and
  // every thread may submit already: whoever was told before that there is no connection hears of
  // this one here (hazard 24). The I/O thread.
  virtual void on_up(const session_facts& facts) noexcept = 0;
  // After on_up only, and after every open request had its on_broken. The I/O thread.
  virtual void on_down(const outcome& why) noexcept = 0;
  // A message to the inbox or another channel, between on_up and on_down. Whichever thread reads.
  virtual void on_push(std::string_view channel, std::string_view payload,
                       time_ns now) noexcept = 0;
  // No more messages come to this channel of a cluster's slot, which has gone to another server.
  // Whichever thread reads.
  virtual void on_unheard(std::string_view /*channel*/) noexcept {}
  // Answers have been overdue for a third of the limit or half a second, or more. The I/O thread.
  virtual void on_overdue() noexcept {}
  // From now on no message to this channel is missed, as long as the connection lives; after
  // listen(), and again after each on_up. Whichever thread reads.
  virtual void on_listening(std::string_view /*channel*/) noexcept {}
  // An attempt to connect came to nothing. The I/O thread.
  virtual void on_failed(const outcome& /*why*/, bool /*is_definite*/) noexcept {}
  // What is worth a line in a log, beside the calls above. The I/O thread.
  virtual void on_note(log_subject /*what*/, const outcome& /*how*/) noexcept {}
};

class connection final : private pipeline_listener,
                         private net::dial_listener,
                         private endpoint_listener,
                         private service_check_listener,
                         private net::timer,
                         private net::task {
 public:
  // The reactor has to be running until the connection is closed.
  connection(net::reactor& loop, connection_config config, session_listener& listener);
  // Closes it. No thread may be inside submit or await any more.
  ~connection() override;

  // Connects, and waits for the first on_up or the first definite refusal: wrong password, too old,
  // no right to the socket. A server that is not there, LOADING, BUSY or a replica is asked again
  // until the deadline. When this fails the connection is closed. This or begin(), once, before all
  // else.
  [[nodiscard]] outcome open(time_ns deadline);
  // Connects in the background, for as long as it takes, as after a connection that broke. It only
  // fails for want of a descriptor, and then rests for good. Never blocks.
  [[nodiscard]] outcome begin();
  // Ends everything: open requests get on_broken, then on_down if it was up; afterwards no callback
  // comes. With a linger, what was submitted is sent and answered first, as far as that takes no
  // longer. Not from the I/O thread, nor from a callback. May be called again.
  void close(time_ns linger_ns = 0) noexcept;

  // Sends one request; `bytes` are copied.
  //   ok           exactly one of on_reply and on_broken will be called
  //   unreachable  there is no connection now (last_problem() says why); nothing was kept
  //   limit        too many open requests or too many unsent bytes; nothing was kept
  //   no_memory    nothing was kept
  // Never blocks, never calls back.
  status submit(request& item, std::string_view bytes, flush how) noexcept {
    return commands_.submit(item, bytes, how);
  }
  // Lends the calling thread until caller.finish() was called or the deadline passed; true when it
  // was called. While a request with this caller is open, the thread may read for everybody and run
  // the callbacks of others. A caller belongs to one connection. Not from the I/O thread.
  bool await(net::caller& caller, time_ns deadline) noexcept {
    return commands_.await(caller, deadline);
  }
  // So many more wait for messages, or fewer: while anybody does, none waits to be read.
  void expect_messages(int change) noexcept { commands_.expect_messages(change); }

  // Also hears this channel, across reconnects, until unlisten(). on_listening() comes for each
  // call, unless the server refuses. They block and call back as little as submit(). A channel
  // other than the inbox.
  void listen(std::string_view channel);
  void unlisten(std::string_view channel) noexcept;

  // Looks at once whether the name leads elsewhere now: an attempt begins anew, a connection that
  // is still where it leads stays undisturbed. Any thread.
  void look() noexcept;

  // Logs in with these from now on. Where no connection has said them, the next attempt comes at
  // once, and one that said older ones ends; unless the server has accepted these on it already,
  // and it needs no second socket. Any thread.
  void follow_identity(login with, bool is_accepted) noexcept;

  // Ends the connection that there is, to begin anew. Any thread.
  void leave(outcome why) noexcept { commands_.break_off(std::move(why)); }

  // Ends the connection that there is, or the attempts at one, until resume(). Any thread.
  void rest() noexcept;
  void resume() noexcept;

  // The resolver leads to another server, of this name, from now on. Forgets what was learned of
  // the server before. While it rests; resume() follows. Any thread.
  void change_server(std::string name) noexcept;

  // Why there is no connection: how the last one ended or what the last attempt came to. ok while
  // it is up.
  [[nodiscard]] outcome last_problem() const noexcept;
  // Takes out of a server's words what they repeat of the present login. Any thread.
  void hide_login(outcome& told) const noexcept { config_.identity->hide_in(told); }
  // What became of it; the senders of requests note how long their answers took. Any thread.
  [[nodiscard]] statistics::connection_statistics& statistics() noexcept { return statistics_; }
  [[nodiscard]] const statistics::connection_statistics& statistics() const noexcept {
    return statistics_;
  }
  // How often it has come up, or was closed; and waits for more than that. False when the deadline
  // passed first.
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
    checking,   // what a service lacks
    ending,     // something broke; waiting until both sockets are torn down
    waiting,    // to try again
    lingering,  // closing, the last requests are on their way
    closed,
  };

  // All of these on the I/O thread.
  void run() noexcept override;  // something was asked for
  void on_timer(time_ns now) noexcept override;
  void on_dialed(std::unique_ptr<net::transport> connected,
                 const net::address& where) noexcept override;
  void on_dial_failed(const outcome& why, bool is_definite) noexcept override;
  void on_handshake_reply(pipeline& which, const value& reply) noexcept override;
  void on_message(std::string_view channel, std::string_view payload,
                  time_ns now) noexcept override;
  void on_unheard(std::string_view channel) noexcept override { listener_.on_unheard(channel); }
  void on_overdue() noexcept override;
  void on_elsewhere(outcome why) noexcept override;
  void on_torn(pipeline& which, const outcome& why) noexcept override;
  void on_healthy(time_ns since) noexcept override;
  void on_check_over() noexcept override;
  template <class Step>
  void attempt(Step&& step) noexcept;
  void begin_attempt() noexcept;
  void dial() noexcept;
  void log_in_anew() noexcept;
  void rest_now() noexcept;
  void set_unanswered(std::string_view name) noexcept;
  void forget_server() noexcept;
  void look_now() noexcept;
  void look_beside(const char* why) noexcept;
  void look_again_later() noexcept;
  void begin_handshake();
  void greet(pipeline& which, handshake::form form);
  void take_reply(pipeline& which, const value& reply);
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
    std::atomic<std::uint64_t> said_version{0};  // of what the server has heard last
  } login_;
  int protocol_ = 3;
  struct {
    bool was_last = false;  // until its end is told
    bool was_ever = false;
    bool is_trouble_noted = false;  // since then
  } up_;
  net::back_off back_off_;
  struct {
    time_ns deadline = 0;
    bool is_last = false;  // of open(), whose deadline is this attempt's
    outcome end;           // why it, or the session, ends; ok while it does not
    bool is_end_definite = false;
    bool is_falling_back = false;
    bool was_at_first_socket = false;  // when it ended: another address may do
    bool was_unheard = false;          // and there without a word of the server's
    outcome before;                    // what came of the addresses before, if not ok
    struct {
      std::unique_ptr<service_check> service;  // none until the first
      int unheard_ends = 0;                    // of how many attempts in a row
    } check;
  } attempt_;

  // Between open or close, and the I/O thread.
  mutable std::mutex mutex_;
  outcome problem_;
  struct {
    bool is_on = false;
    time_ns deadline = 0;
    outcome result;
    std::atomic<std::uint32_t> is_done{0};  // 1 once the result is there
  } opening_;
  struct {
    bool is_on = false;
    time_ns linger_ns = 0;
    std::atomic<std::uint32_t> is_done{0};  // 1 once nothing happens any more
  } closing_;
  struct {
    std::atomic<bool> is_look{false};
    std::atomic<bool> is_rest{false};
    std::optional<std::string> name;  // of another server, not connected to yet
  } wanted_;
  std::atomic<std::uint32_t> turns_{0};
  std::set<std::string, std::less<>> channels_;  // that are listened to, besides the inbox
  std::atomic<pipeline*> hearing_{nullptr};      // where; nullptr until it was up
};

}  // namespace mortise::redis
