// Connects a session to its server: dials, does the handshake, by RESP2 if the server has no RESP3,
// and tries the next address of a name if one does not serve. While the session is up, it looks
// whether the name still lists the server, and whether a silent server answers a new connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/dialer.hpp"
#include "net/reactor.hpp"
#include "redis/check_listener.hpp"
#include "redis/connection_config.hpp"
#include "redis/endpoint_tracker.hpp"
#include "redis/handshake.hpp"
#include "redis/health_check.hpp"
#include "redis/service/service_check.hpp"
#include "redis/session.hpp"

namespace mortise::redis {

// The I/O thread's, unless a function says otherwise.
class connector final : public pipeline_listener,
                        private net::dial_listener,
                        private check_listener,
                        private net::timer {
 public:
  // Of the listener on_up, on_down, on_failed and on_overdue are called. Keeps the references.
  connector(net::reactor& loop, const connection_config& config, session& target,
            session_listener& listener);
  ~connector() override;

  // Makes an attempt, which ends at `limit` at the latest. Leads to on_failed, or to on_up and then
  // on_down, when all sockets are closed. An attempt that runs out of time at the limit knows less
  // than `earlier`, the failure before it, if any.
  void begin(time_ns limit, outcome earlier) noexcept;
  // Ends all. With a linger, submitted requests are first sent and answered within that time.
  void close(time_ns linger_ns) noexcept;
  // Ends the session or the attempt.
  void rest() noexcept;
  // Checks whether the name resolves to another server. An attempt restarts.
  void look() noexcept;
  // Ends a session whose login is older than the present one.
  void renew_login() noexcept;
  // Replaces the login. `is_sent`: this session already uses the new one. Any thread.
  void replace_login(login with, bool is_sent) noexcept {
    config_.identity->replace(std::move(with), is_sent ? &sent_version_ : nullptr);
  }
  // The resolver resolves another server, of this name. Only before begin().
  void change_server(std::string name) noexcept;
  [[nodiscard]] const endpoint_tracker& endpoint() const noexcept { return endpoint_; }

 private:
  enum class phase {
    idle,
    dialing,
    handshake,
    dialing_inbox,
    handshake_inbox,
    up,
    ending,     // until the sockets are closed; another way may follow
    stopping,   // the same, and nothing follows
    lingering,  // before the end, with the last requests in flight
    checking,   // finds what a service lacks
  };
  // What may follow the end of the sockets within an attempt.
  enum class next_way : std::uint8_t { none, resp2, next_address };

  void on_dialed(std::unique_ptr<net::transport> connected,
                 const net::address& where) noexcept override;
  void on_dial_failed(const outcome& why, bool is_definite) noexcept override;
  void on_handshake_reply(const value& reply) noexcept override;
  void on_overdue() noexcept override;
  void on_torn(const outcome& why) noexcept override;
  void on_moved(outcome why) noexcept override;
  void on_healthy(time_ns since) noexcept override;
  void on_check_over() noexcept override;
  void on_timer(time_ns now) noexcept override;
  [[nodiscard]] time_ns timeout_ns() const noexcept;
  [[nodiscard]] bool has_login() const noexcept;
  void dial() noexcept;
  [[nodiscard]] pipeline& socket();
  void begin_handshake(handshake::form form);
  void take_reply(const value& reply);
  void fall_back() noexcept;
  void finish_handshake();
  void go_up() noexcept;
  void look_up(const char* why) noexcept;
  void plan_lookup() noexcept;
  void fail(outcome why, bool is_definite, phase next = phase::ending) noexcept;
  void fail_without_memory() noexcept;
  void interrupt(const char* text, const char* cause = nullptr,
                 phase next = phase::ending) noexcept;
  void end_sockets() noexcept;
  void settle() noexcept;
  void conclude() noexcept;
  bool take_another_way() noexcept;
  bool check_service() noexcept;
  void note_gaps() noexcept;

  net::reactor& loop_;
  const connection_config& config_;
  session& session_;
  session_listener& listener_;
  net::dialer dialer_;
  endpoint_tracker endpoint_;
  health_check health_check_;
  std::unique_ptr<service_check> service_check_;  // none until the first
  phase phase_ = phase::idle;
  int protocol_ = 3;
  std::optional<handshake> handshake_;
  session_facts facts_;
  login login_;                                 // of this attempt; empty when it is over
  std::atomic<std::uint64_t> sent_version_{0};  // of the last login that was sent to the server

  time_ns limit_ = 0;
  time_ns deadline_ = 0;
  outcome before_;         // the failure before this attempt
  outcome other_address_;  // of the earlier addresses of this attempt, if not ok
  outcome end_;            // reason of the end; ok while it lasts
  bool is_end_definite_ = false;
  next_way next_way_ = next_way::none;
  bool was_unanswered_ = false;  // at the end: the server had sent nothing
  int unanswered_ends_ = 0;      // number of such attempts in a row
  bool was_up_ = false;          // until its end is reported
  bool was_ever_up_ = false;     // at this server
};

}  // namespace mortise::redis
