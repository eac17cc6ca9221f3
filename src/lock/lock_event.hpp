// What happens to a wait or a hold of a handle. The client keeps the latest events for its history.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "lock/amount.hpp"

namespace mortise::lock {

// Clients report these numbers to each other, so they never change.
enum class event_kind : std::uint8_t {
  began,       // a wait, whose acquire has found the lock taken
  queued,      // for the first time, at the servers
  granted,     // by the servers
  passed,      // by another handle of this client, or from the retained claim
  ended,       // a wait without a grant; the code is its status
  extended,    // by a call, not by a renewal
  upgraded,    // to exclusive mode, with a new fencing token
  downgraded,  // to shared mode
  released,    // by its holder; the code is `closed` if its handle or client was freed
  exported,    // the server keeps the hold for the adopter of its id
  lost,        // the code is the reason
  retained,    // a claim without a holder stays with the client
  returned,    // the end of a retained claim that was not taken up
  // The present state. No such event is recorded.
  waits,
  holds,
  retains,
  forgotten,  // the client has no earlier events
};
constexpr auto event_kind_count = static_cast<std::size_t>(event_kind::forgotten) + 1;

struct lock_event {
  event_kind kind = event_kind::began;
  hold_mode mode = hold_mode::exclusive;
  std::int32_t code = 0;         // a status, a reason, or the place in the queue; 0 for none
  std::int64_t permits = 0;      // of an acquire; 0 if unknown
  std::uint64_t handle = 0;      // the number of the handle in its client; 0 for none
  std::int64_t token = 0;        // the fencing token of a hold
  std::int64_t hold_number = 0;  // of a hold, among those of its handle; histories omit it
  time_ns at = 0;
  time_ns since = 0;  // the begin of the wait or the hold that ends or changes; 0 for none
};

}  // namespace mortise::lock
