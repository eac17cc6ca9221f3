// What the lock logic knows about the protocol of a lock.
#pragma once

#include <cstdint>
#include <string_view>

namespace mortise::lock {

enum class lock_kind : std::uint8_t { mutex, rw, semaphore };

// How a waiter waits for the lock.
enum class wait_method : std::uint8_t {
  queue,    // in a queue at the server, which grants directly
  channel,  // asks after a message of the holder on a channel, and when the lease ends
  polling,  // asks at intervals
};

struct protocol_facts {
  std::string_view name;
  lock_kind kind = lock_kind::mutex;
  wait_method wait = wait_method::queue;
  // The lock is taken with SET NX and no script. The lock must then be a string that holds the
  // owner token.
  bool is_plain_string = false;
  // Whether a renewal draws fencing tokens, so that a lock can pass within a client.
  bool can_pass = false;
  // Whether waiters notify a holder that asks for it.
  bool notifies_holders = false;
  // Whether a hold can have a value.
  bool has_values = false;
  // Whether a shared hold can be upgraded to exclusive mode.
  bool can_raise = false;
};

}  // namespace mortise::lock
