// The state that the claim queues of a gate share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lock/gate/gate_journal.hpp"
#include "lock/gate/gate_listener.hpp"
#include "lock/gate/gate_report.hpp"
#include "lock/gate/pending_releases.hpp"
#include "lock/lock_io.hpp"
#include "lock/operations.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::lock {

struct gate_context {
  gate_context(const protocol_facts& protocol_facts, lock_io& to_servers, gate_listener& observer)
      : protocol(protocol_facts), io(to_servers), listener(observer) {}

  const protocol_facts& protocol;
  lock_io& io;
  gate_listener& listener;
  gate_journal journal{listener};
  lock::operations operations;
  lock::pending_releases pending_releases{operations, listener};
  gate_traffic traffic;
  std::uint64_t next_claim = 1;
  std::size_t queues = 0;  // the number of claim queues
  bool is_closed = false;
  contention expected;        // by the next attempt, with a quorum
  bool is_contended = false;  // the lock is likely taken, so the cheap try would fail

  // With a connection, a send can still fail, and on_up() does not repeat it.
  [[nodiscard]] bool has_connection() const { return io.problem().ok(); }
  // Whether waiters at the servers notify the holders.
  [[nodiscard]] bool reports_waiters() const noexcept {
    return protocol.can_pass && protocol.wait == wait_method::queue;
  }
  void note_released(answer result) noexcept {
    if (result == answer::handed_over) is_contended = true;
  }
};

}  // namespace mortise::lock
