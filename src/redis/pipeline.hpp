// One socket full of requests: many threads append, one thread at a time sends, one at a time
// reads.
//
// Sending: a thread that appends, and finds no other sender, sends until nothing is left. Requests
// that arrive meanwhile go out in one write.
// Reading ("leading"): a caller blocked in await() reads while a request in its name is open.
// Otherwise the I/O thread reads. A caller that has its answer passes the lead to another blocked
// caller with an open request, or back to the I/O thread. If nothing is open then, the lead rests
// for a moment: the next call likely comes soon, and changes of the lead cost system calls. A
// caller that waits for anything, as a waiter in a queue does, leads while any request is open. The
// lead rests after the caller got something. Requests that its thread submits then are sent when
// the thread returns.
// net::leader_followers makes all of these decisions. The lead changes under the mutex. Reading
// (reply_reader) and every call to a request or the listener run without the mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/bound_call.hpp"
#include "net/reactor.hpp"
#include "net/threads/caller.hpp"
#include "net/threads/leader_followers.hpp"
#include "net/threads/spin.hpp"
#include "net/transport.hpp"
#include "redis/connection_config.hpp"
#include "redis/resp/reply_reader.hpp"
#include "redis/resp/request_list.hpp"
#include "redis/resp/resp.hpp"
#include "redis/sender.hpp"
#include "redis/silence_watch.hpp"

namespace mortise::redis {

class pipeline_listener {
 public:
  virtual ~pipeline_listener() = default;
  // A reply before admit(). Called on the I/O thread.
  virtual void on_handshake_reply(const value& reply) noexcept = 0;
  // Replies are overdue for a third of the limit or half a second, whichever is shorter. Called on
  // the I/O thread.
  virtual void on_overdue() noexcept {}
  // The socket is closed, and every open request was notified. If the server itself reported that
  // it does not serve, `why` is a refusal. Called on the I/O thread.
  virtual void on_torn(const outcome& why) noexcept = 0;
};

class pipeline final : private net::event_handler, private net::timer, private reply_listener {
 public:
  using purpose = reply_reader::purpose;

  // Keeps references. `messages` is null for a connection that is never admitted.
  pipeline(net::reactor& loop, const connection_config& config, pipeline_listener& listener,
           message_listener* messages, purpose use);
  // No transport may be attached.
  ~pipeline() override;

  // Makes the descriptor of a leading caller, unless it exists: status::ok, or status::limit. Any
  // thread, before admit().
  outcome prepare() noexcept;

  // Sends one request; `bytes` are copied. Any thread.
  //   ok           exactly one of on_reply and on_broken will be called
  //   unreachable  no connection now; nothing was kept
  //   limit        too many open requests or too many unsent bytes; nothing was kept
  //   no_memory    nothing was kept
  // Never blocks, never calls back.
  status submit(request& item, std::string_view bytes, flush mode) noexcept;
  // Lends the calling thread until caller.finish() or the deadline. True for finish(). While a
  // request with this caller is open, the thread may read for everybody and run the callbacks of
  // others. A caller belongs to one connection. Not from the I/O thread.
  bool await(net::caller& caller, time_ns deadline) noexcept;
  // Changes the number of waiters for messages. While there is any, messages are read immediately.
  void expect_messages(int change) noexcept;

  // Begins to read the connected transport. Only greet() may send. Called on the I/O thread.
  void attach(std::unique_ptr<net::transport> connected) noexcept;
  void greet(wiped_bytes bytes) noexcept;
  // From here on every thread may submit. False when the connection broke meanwhile.
  bool admit() noexcept;
  // Accepts no more requests. Once all bytes are sent, the stream to the server ends. The server
  // closes the connection after its last reply, which then breaks it.
  void finish_sending() noexcept;

  // Any thread. Ends in on_torn, from the I/O thread. Does nothing if nothing is attached, or if
  // the connection is broken already.
  void break_off(outcome why) noexcept;
  [[nodiscard]] bool is_attached() noexcept;
  // Of the attached transport; -1 for none. The I/O thread.
  [[nodiscard]] int descriptor() const noexcept {
    return transport_ ? transport_->descriptor() : -1;
  }
  // Whether any byte has arrived since `when`, read or not. Any thread.
  [[nodiscard]] bool has_input_since(time_ns when) noexcept;
  // Whether any request is open or any byte is still to be sent.
  [[nodiscard]] bool is_busy() noexcept;

 private:
  using lock_type = std::unique_lock<std::mutex>;

  [[nodiscard]] bool is_alive() const noexcept { return transport_ && !is_broken_; }

  // Sending; pipeline.cpp.
  status accept(request& item, std::string_view bytes) noexcept;
  void send_output(lock_type& lock) noexcept;
  void run_flush() noexcept;
  void start_watching(time_ns until_first_look_ns) noexcept;
  void on_timer(time_ns now) noexcept override;
  bool give_back_memory() noexcept;

  // Breaking; pipeline.cpp.
  void break_locked(outcome why) noexcept;
  void post_teardown_when_free() noexcept;
  void tear_down() noexcept;
  void update_interest() noexcept;
  void unwatch() noexcept;

  // Reading; pipeline_reading.cpp.
  void on_ready(std::uint32_t events) noexcept override;
  [[nodiscard]] net::leader_followers::situation situation(
      bool is_by_reader = false) const noexcept;
  void lead(lock_type& lock, net::caller& caller, time_ns deadline) noexcept;
  void pass_lead(lock_type& lock, const net::caller* before) noexcept;
  // Each of these two reports whether the call is over: answered or timed out. Only then
  // take_lead() returns without the lock.
  bool take_lead(lock_type& lock, net::caller& caller, time_ns deadline) noexcept;
  static bool sleep(lock_type& lock, net::caller& caller, time_ns deadline) noexcept;
  void leave(lock_type& lock, net::caller& caller) noexcept;
  void look_at_rest(time_ns now) noexcept;
  bool spin(time_ns request_ns, time_ns deadline) noexcept;
  bool wait_for_input(time_ns deadline, bool may_nap) noexcept;
  // For the reader only, without the mutex.
  bool read(bool may_nap = false) noexcept;
  enum class reading : std::uint8_t { at_once, nap, held };
  net::io_result receive(reading mode) noexcept;
  void on_handshake_reply(const value& reply) noexcept override {
    listener_.on_handshake_reply(reply);
  }
  void on_error(const request& item, std::string_view text) noexcept override;
  request_list take_submitted() noexcept override;

  net::reactor& loop_;
  pipeline_listener& listener_;
  const purpose use_;
  const connection_config& config_;
  net::bound_task<pipeline, &pipeline::run_flush> flush_task_{*this};
  net::bound_task<pipeline, &pipeline::tear_down> teardown_task_{*this};
  net::bound_timer<pipeline, &pipeline::look_at_rest> rest_timer_{*this};
  int kick_fd_ = -1;  // wakes a leading caller

  std::mutex mutex_;
  std::unique_ptr<net::transport> transport_;
  bool is_admitted_ = false;
  bool is_broken_ = false;
  outcome why_;

  sender sender_;
  bool is_flush_posted_ = false;

  net::leader_followers lead_;
  std::uint32_t interest_ = 0;  // what epoll waits for
  bool is_watched_ = false;     // by epoll

  std::uint64_t submitted_ = 0;
  request_list submitted_list_;  // not yet passed to replies_

  silence_watch silence_;
  std::atomic<time_ns> received_ns_{0};

  // The reader's own.
  reply_reader replies_;
  net::io_state read_wait_ = net::io_state::want_read;
  net::spin spin_;
};

}  // namespace mortise::redis
