// Lock I/O: how the pure lock logic sends requests to the servers of one name, and gets random
// numbers. The lock logic has no socket and no clock. Each call passes the time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"
#include "lock/step.hpp"

namespace mortise::net {
class caller;
}

namespace mortise::lock {

class acquire_operation;

// One call of a user that waits for a result: an acquire, unlock or extend. The lock logic finishes
// each accepted operation exactly once.
class operation {
 public:
  virtual ~operation() = default;
  // Called under the gate's mutex. It must not call back into the gate.
  virtual void finish(const outcome& result, std::int64_t token) noexcept = 0;
  // The operation itself if it is an acquire, or nullptr.
  virtual acquire_operation* as_acquire() noexcept { return nullptr; }

  // When the gate ends it with `timed_out`. time_never if its caller watches the clock.
  time_ns deadline = time_never;
  // The blocked thread that may read the reply itself, or nullptr. The lock logic does not use it.
  net::caller* caller = nullptr;
  // Without a caller: whether the requesting thread soon reads replies. A thread with a watched
  // queue descriptor reads only after an event.
  bool comes_back = true;
  // Whether it ends with the reply to its request. Otherwise it ends as soon as the request is
  // sent. Set by the gate.
  bool awaits_answer = true;
  // How many requests of its hold had broken before it began. Only for the lock logic.
  std::uint32_t broken_before = 0;
};

// Further uses of a claim, in addition to its first hold. Other clients read them in the owner
// token, and notify the claim's client when they wait.
enum class claim_reuse : std::uint8_t {
  none,
  shared,    // other readers of this client may share it, or its holders report waiters
  retained,  // it may stay without a holder, and may also be shared
};

// What only the servers and the client of a waiter know: 132 random bits as text. A grant by
// message contains it, so no other publisher can forge a grant (hazard 32).
using grant_secret = std::array<char, 22>;

class lock_io {
 public:
  virtual ~lock_io() = default;
  // Sends one step for an operation (or nullptr), whose caller may lend its thread for the reply.
  // The reply reaches gate::on_answer exactly once, never inside this call. Returns false without a
  // connection or without room. Then nothing was sent, and no reply follows.
  virtual bool ask(const step_request& request, const operation* requester) noexcept = 0;
  // A new owner token, never returned before (hazard 21).
  virtual std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                                      claim_reuse reuse) = 0;
  virtual grant_secret new_grant_secret() noexcept = 0;
  // An evenly distributed number in [0, bound).
  virtual std::int64_t random_below(std::int64_t bound) noexcept = 0;
  // Why there is no connection, or ok.
  [[nodiscard]] virtual outcome problem() const = 0;
  // Whether a grant by message is reliable. Otherwise a request must confirm it, because replicas
  // acknowledge only the reply to a request.
  [[nodiscard]] virtual bool is_granted_by_message() const noexcept { return true; }
  // The claim asks for nothing more.
  virtual void on_claim_over(std::uint64_t /*claim_id*/) noexcept {}
  // Why the last request could not be sent although there is a connection.
  [[nodiscard]] virtual outcome lack() const noexcept {
    return outcome::of(status::limit, "too many requests are open on the connection");
  }
};

}  // namespace mortise::lock
