// What the lock logic knows of the protocol by which a lock is written at its servers.
#pragma once

#include <cstdint>
#include <string_view>

namespace mortise::lock {

enum class lock_kind : std::uint8_t { mutex, rw, semaphore };

// How somebody who does not get the lock waits for it.
enum class wait_method : std::uint8_t {
  queue,    // in a queue at the server, which grants directly
  channel,  // asks again when the holder's program says so on a channel, and when the lease ends
  polling,  // asks again and again
};

struct protocol_facts {
  std::string_view name;
  lock_kind kind = lock_kind::mutex;
  wait_method how = wait_method::queue;
  // Taken with SET NX and no script, which needs the lock to be a string that holds the owner
  // token.
  bool is_plain_string = false;
  // Whether a renewal draws fencing tokens, so that a lock is passed on within a client.
  bool can_pass = false;
  // Whether who has a part of the lock can be given all of it.
  bool can_raise = false;
  // What messages say before its name.
  std::string_view subject = "protocol: ";
};

}  // namespace mortise::lock
