// The endpoint that a name resolves to: the connected address, the address before and the reason
// for the move, in plain text. Also checks, without disturbing the connection, whether the name
// still lists the address.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/address.hpp"
#include "net/dial/lookup.hpp"
#include "net/dial/resolver.hpp"
#include "net/reactor.hpp"
#include "redis/check_listener.hpp"

namespace mortise::redis {

// The I/O thread's; any thread may call name().
class endpoint_tracker final : private net::lookup_listener {
 public:
  endpoint_tracker(net::reactor& loop, const std::shared_ptr<net::resolver>& name,
                   check_listener& listener);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Of the connection. Only after note_connected().
  [[nodiscard]] const net::address& address() const noexcept { return *address_; }
  // "db.example:6379 (10.0.0.2:6379)". After a move "db.example:6379 moved from 10.0.0.1:6379 (a
  // replica now) to 10.0.0.2:6379".
  [[nodiscard]] std::string text() const noexcept;
  // While disconnected: "db.example:6379 was 10.0.0.1:6379 (a replica now)".
  [[nodiscard]] std::string text_disconnected() const noexcept;

  // The resolver resolves this name from now on. Forgets the address. Only while disconnected.
  void change_name(std::string name, bool is_fixed) noexcept;
  // Whether the connected address differs from the address before.
  [[nodiscard]] bool has_moved() const noexcept { return previous_ && !is_back(); }

  // Notes a connection to this address.
  void note_connected(const net::address& at) noexcept;
  // Notes the end of a connection that was in use, with a short reason.
  void note_disconnected(const char* why) noexcept;
  // Checks whether the name still lists the address. If not, the connection moves, with `why` as
  // the short reason. Ends in on_moved() or without a call.
  void look(time_ns deadline, const char* why) noexcept;
  // Cancels the lookup.
  void cancel() noexcept { lookup_.abandon(); }

 private:
  void on_resolved(net::resolution found) noexcept override;
  // Whether the address equals the one of the connection before.
  [[nodiscard]] bool is_back() const noexcept { return previous_ && *previous_ == *address_; }

  std::string name_;
  bool is_fixed_;
  check_listener& listener_;
  net::lookup lookup_;
  std::optional<net::address> address_;
  std::optional<net::address> previous_;
  const char* reason_ = "";
  const char* lookup_reason_ = "";
};

}  // namespace mortise::redis
