// What the pure lock logic needs of the world: a way to ask the servers that speak for one name,
// and chance. It has no socket and no clock; time is handed to every call.
#pragma once

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

// One call by a user that waits for an end: an acquire, unlock or extend. The lock logic finishes
// each operation that it accepted exactly once.
class operation {
 public:
  virtual ~operation() = default;
  // Called under the gate's mutex; it must not call back into the gate.
  virtual void finish(const outcome& how, std::int64_t token) noexcept = 0;
  // Itself, when it is an acquire.
  virtual acquire_operation* as_acquire() noexcept { return nullptr; }

  // When the gate is to end it with `timed_out`; time_never when its caller watches the clock.
  time_ns deadline = time_never;
  // The blocked thread that may read the answer itself, if there is one; not looked into here.
  net::caller* caller = nullptr;
  // Without a caller: whether the thread that asks comes to read answers soon. Who asks for a queue
  // whose descriptor is watched does not: it comes when there is an event.
  bool comes_back = true;
  // Whether it ends with the answer to what it asks; else as soon as that is on its way. Set by the
  // gate.
  bool awaits_answer = true;
  // How many questions of its hold had broken before it began. The lock logic's own.
  std::uint32_t broken_before = 0;
};

// What a claim may be good for beside the hold that it was asked for. Others read it in the owner
// token, and let its client know when they wait.
enum class claim_reuse : std::uint8_t {
  none,
  shared,    // other readers of this client stand behind it
  retained,  // it may stay without a holder; and be shared, too
};

class lock_io {
 public:
  virtual ~lock_io() = default;
  // Sends one step, asked by an operation (or nullptr), whose caller may lend its thread for the
  // answer. The answer reaches gate::on_answer exactly once, never from inside this call. False
  // when there is no connection or no room: nothing was sent, no answer will come.
  virtual bool ask(const step_request& asked, const operation* by) noexcept = 0;
  // A new owner token, never given before (hazard 21).
  virtual std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                                      claim_reuse reuse) = 0;
  // An even number in [0, bound).
  virtual std::int64_t random_below(std::int64_t bound) noexcept = 0;
  // Why there is no connection; ok when there is one.
  [[nodiscard]] virtual outcome problem() const = 0;
  // Whether a grant by message is one; otherwise it has to be asked for, as only an answer is
  // acknowledged by replicas.
  [[nodiscard]] virtual bool is_granted_by_message() const noexcept { return true; }
  // Why the last question could not be sent although there is a connection.
  [[nodiscard]] virtual outcome lack() const noexcept {
    return outcome::of(status::limit, "too many requests are open on the connection");
  }
};

}  // namespace mortise::lock
