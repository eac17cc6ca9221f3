// How the steps of all protocols travel: a question becomes commands, their reply a result. What
// the numbers mean is written on top of each script.
#pragma once

#include <string>

#include "protocol/table.hpp"
#include "redis/compare_and_delete.hpp"
#include "redis/resp.hpp"

namespace mortise::protocol {

// Appends the commands of one step, in RESP, and returns how many replies they have.
int write_step(std::string& out, const table& protocol, const lock::step_request& asked,
               const key_set& keys);
// The same of a renewal by protocol.renew_alone. It has one reply.
void write_renewal_alone(std::string& out, const table& protocol, const lock::step_request& asked,
                         const key_set& keys);
// Whether a renewal can be asked so.
bool can_renew_alone(const table& protocol, const lock::step_request& asked) noexcept;
// Reads the reply (of several replies: the first error, or else the last).
lock::step_result read_step(const table& protocol, lock::step what, const redis::value& reply);

// Whether a step is a compare-and-delete, which a server that knows it does without a script:
// giving back a lock that is a plain string, in the belief that nobody waits.
bool is_compare_and_delete(const table& protocol, const lock::step_request& asked);
// Appends it. What it deletes is what the script would; whatever else it finds, that somebody waits
// or that the lock is not ours, is for the script to tell.
void write_compare_and_delete(std::string& out, redis::compare_and_delete how,
                              const lock::step_request& asked, const key_set& keys);
lock::step_result read_compare_and_delete(const redis::value& reply);

// One script call by hand, for what is not a step.
void write_script(std::string& out, const row& script, const lock::step_request& asked,
                  const key_set& keys);

}  // namespace mortise::protocol
