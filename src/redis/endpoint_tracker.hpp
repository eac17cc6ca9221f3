// Where the server is that a name leads to: the address that is connected to, the one before and
// why it was left, in words for people. It also checks, without disturbing the connection, whether
// the name still lists that address and whether the server answers new connections there.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/address.hpp"
#include "net/lookup.hpp"
#include "net/reactor.hpp"
#include "net/resolver.hpp"
#include "redis/health_check.hpp"

namespace mortise::redis {

class endpoint_listener : public health_check_listener {
 public:
  // The name lists other addresses, and no longer that of the connection.
  virtual void on_elsewhere(outcome why) noexcept = 0;
};

// The I/O thread's; name() is for any.
class endpoint_tracker final : private net::lookup_listener {
 public:
  // `answer_ns`: as of a health_check.
  endpoint_tracker(net::reactor& loop, const std::shared_ptr<net::resolver>& name,
                   net::transport_factory make_transport, time_ns answer_ns,
                   endpoint_listener& listener);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Of the connection; only after arrive().
  [[nodiscard]] const net::address& address() const noexcept { return *address_; }
  // "db.example:6379 (10.0.0.2:6379)"; after another server was left for this one
  // "db.example:6379 moved from 10.0.0.1:6379 (a replica now) to 10.0.0.2:6379".
  [[nodiscard]] std::string text() const noexcept;
  // While none is connected to: "db.example:6379 was 10.0.0.1:6379 (a replica now)".
  [[nodiscard]] std::string text_away() const noexcept;

  // The resolver resolves this name from now on. Forgets the address; while none is connected to.
  void change_name(std::string name, bool is_fixed) noexcept;
  // Whether another address is connected to than before.
  [[nodiscard]] bool has_moved() const noexcept { return left_ && !is_back(); }

  // A connection to this address was made.
  void arrive(const net::address& at) noexcept;
  // A connection that was in use has ended; why it was, in short.
  void leave(const char* why) noexcept;
  // Looks whether the name still lists the address, which is to be left if not: why, in short. Ends
  // in on_elsewhere() or in nothing.
  void look(time_ns deadline, const char* why) noexcept;
  // Pings the server over a second connection. Calls on_healthy() if it answers.
  void check() noexcept { check_.look(*address_); }
  // Cancels both. on_check_over() follows if the second connection is open.
  void look_away() noexcept;
  [[nodiscard]] bool is_check_over() noexcept { return check_.is_over(); }

 private:
  void on_resolved(net::resolution found) noexcept override;
  // Whether the address is that of the connection before.
  [[nodiscard]] bool is_back() const noexcept { return left_ && *left_ == *address_; }

  std::string name_;
  bool is_fixed_;
  endpoint_listener& listener_;
  net::lookup lookup_;
  health_check check_;
  std::optional<net::address> address_;
  std::optional<net::address> left_;
  const char* why_left_ = "";
  const char* why_looked_ = "";
};

}  // namespace mortise::redis
