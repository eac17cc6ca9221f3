// One socket full of requests: many threads append to it, one at a time sends, one at a time reads.
//
// Who sends: whoever appends and finds nobody sending sends until nothing is left, so requests of
// others that arrive meanwhile go out in one write.
// Who reads ("leads"): a caller blocked in await() while a request in its name is open; else the
// I/O thread. A caller that has its answer passes the lead to another blocked caller whose request
// is open, or back to the I/O thread. When it leaves nothing open, the lead rests for a moment:
// likely the next call comes soon, and taking the lead back and forth costs system calls. A caller
// that waits for anything, as one does at a queue, leads while any request is open; the lead rests
// when it has got something, and what its thread submits then is sent when it is back for more. All
// of that is net::leader_followers's to decide. Changes of the lead are made under the mutex; the
// reading itself (reply_reader) and every call to a request or the listener is made without it.
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
#include "net/caller.hpp"
#include "net/leader_followers.hpp"
#include "net/reactor.hpp"
#include "net/spin.hpp"
#include "net/transport.hpp"
#include "redis/reply_reader.hpp"
#include "redis/request_list.hpp"
#include "redis/resp.hpp"
#include "redis/sender.hpp"
#include "redis/silence_watch.hpp"

namespace mortise::redis {

class pipeline;

class pipeline_listener {
 public:
  virtual ~pipeline_listener() = default;
  // A reply before admit(). The I/O thread.
  virtual void on_handshake_reply(pipeline& which, const value& reply) noexcept = 0;
  // A published message. Whichever thread reads.
  virtual void on_message(std::string_view channel, std::string_view payload,
                          time_ns now) noexcept = 0;
  // No more messages come to this channel of a slot: it has gone to another server. Whichever
  // thread reads.
  virtual void on_unheard(std::string_view channel) noexcept = 0;
  // Answers have been overdue for a third of the limit or half a second, or more. The I/O thread.
  virtual void on_overdue() noexcept = 0;
  // The socket is closed and every open request has been told. Where the server itself said that it
  // does not serve, `why` is a refusal. The I/O thread.
  virtual void on_torn(pipeline& which, const outcome& why) noexcept = 0;
};

struct pipeline_limits {
  std::size_t output_bytes = 4U << 20U;
  std::uint64_t open_requests = 65536;
  // A request that is open for longer, with not a byte received since, breaks the connection.
  time_ns silence_ns = 3 * ns_per_s;
  // How long a caller that leads alone spins before it sleeps; less than 0: as long as it pays.
  time_ns busy_poll_ns = 0;
  // A server of a cluster that does not serve one slot may serve others.
  bool is_of_cluster = false;
};

class pipeline final : private net::event_handler, private net::timer, private reply_listener {
 public:
  using purpose = reply_reader::purpose;

  pipeline(net::reactor& loop, pipeline_listener& listener, purpose use,
           const pipeline_limits& limits);
  // Nothing may be attached any more.
  ~pipeline() override;

  // status::ok when there is what a leading caller needs; else status::limit.
  [[nodiscard]] outcome check() const;

  // See connection.
  status submit(request& item, std::string_view bytes, flush how) noexcept;
  bool await(net::caller& caller, time_ns deadline) noexcept;
  void expect_messages(int change) noexcept;

  // The I/O thread: begins to read what is connected. Only greet() may send.
  void attach(std::unique_ptr<net::transport> connected) noexcept;
  void greet(wiped_bytes bytes) noexcept;
  // From here on every thread may submit. False when it has broken meanwhile.
  bool admit() noexcept;
  // No more requests; once all bytes are sent, the server is told that there will be no more, and
  // its closing of the connection, after its last reply, is what breaks it.
  void finish_sending() noexcept;

  // Any thread: ends in on_torn, from the I/O thread. Does nothing when nothing is attached or it
  // is broken already.
  void break_off(outcome why) noexcept;
  [[nodiscard]] bool is_attached() noexcept;
  // Whether anything has come since then, read or not. Any thread.
  [[nodiscard]] bool has_heard_since(time_ns when) noexcept;
  // Whether any request is open or any byte waits to be sent.
  [[nodiscard]] bool is_busy() noexcept;

 private:
  using lock_type = std::unique_lock<std::mutex>;

  struct bound_task final : net::task {
    bound_task(pipeline& owner, void (pipeline::*what)() noexcept) : owner_(owner), what_(what) {}
    void run() noexcept override { (owner_.*what_)(); }
    pipeline& owner_;
    void (pipeline::*what_)() noexcept;
  };

  struct rest_timer final : net::timer {
    explicit rest_timer(pipeline& owner) : owner_(owner) {}
    void on_timer(time_ns now) noexcept override { owner_.look_at_rest(now); }
    pipeline& owner_;
  };

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
  // These two tell whether the call is over: answered, or its time. Only take_lead() is then left
  // without the lock.
  bool take_lead(lock_type& lock, net::caller& caller, time_ns deadline) noexcept;
  static bool sleep(lock_type& lock, net::caller& caller, time_ns deadline) noexcept;
  void leave(lock_type& lock, net::caller& caller) noexcept;
  void look_at_rest(time_ns now) noexcept;
  bool spin(time_ns asked_ns, time_ns deadline) noexcept;
  bool wait_for_input(time_ns deadline, bool may_nap) noexcept;
  // Only the reader, without the mutex.
  bool read(bool may_nap = false) noexcept;
  enum class reading : std::uint8_t { at_once, nap, held };
  net::io_result receive(reading from) noexcept;
  void on_handshake_reply(const value& reply) noexcept override {
    listener_.on_handshake_reply(*this, reply);
  }
  void on_message(std::string_view channel, std::string_view payload,
                  time_ns now) noexcept override {
    listener_.on_message(channel, payload, now);
  }
  void on_unheard(std::string_view channel) noexcept override { listener_.on_unheard(channel); }
  void on_error(const request& asked, std::string_view text) noexcept override;
  request_list take_submitted() noexcept override;

  net::reactor& loop_;
  pipeline_listener& listener_;
  const purpose use_;
  const pipeline_limits limits_;
  bound_task flush_task_{*this, &pipeline::run_flush};
  bound_task teardown_task_{*this, &pipeline::tear_down};
  rest_timer rest_timer_{*this};
  int kick_fd_ = -1;  // wakes a leading caller

  std::mutex mutex_;
  std::unique_ptr<net::transport> transport_;
  bool is_admitted_ = false;
  bool is_broken_ = false;
  outcome why_;

  sender sender_;
  bool is_flush_posted_ = false;

  net::leader_followers lead_;
  std::uint32_t interest_ = 0;  // what epoll was told to wait for
  bool is_watched_ = false;     // by epoll

  std::uint64_t submitted_ = 0;
  request_list submitted_list_;  // that replies_ was not told of

  silence_watch silence_;
  std::atomic<time_ns> received_ns_{0};

  // The reader's own.
  reply_reader replies_;
  net::io_state wanted_ = net::io_state::want_read;
  net::spin spin_;
};

}  // namespace mortise::redis
