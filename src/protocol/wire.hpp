// The wire format of the steps of all protocols: a request becomes commands, the reply becomes a
// result. The head of each script explains its numbers.
#pragma once

#include <string>
#include <string_view>

#include "protocol/table.hpp"
#include "redis/resp/resp.hpp"
#include "redis/service/compare_and_delete.hpp"

namespace mortise::protocol {

// Appends the commands of one step, in RESP, and returns how many replies they have.
int write_step(std::string& out, const table& protocol, const lock::step_request& request,
               const key_set& keys);
// The same for a renewal by protocol.renew_alone. It has one reply.
void write_renewal_alone(std::string& out, const table& protocol, const lock::step_request& request,
                         const key_set& keys);
// Whether a renewal can use protocol.renew_alone.
bool can_renew_alone(const table& protocol, const lock::step_request& request) noexcept;
// Reads the reply. Of several replies, reads the first error, or the last one without an error.
lock::step_result read_step(const table& protocol, lock::step what, const redis::value& reply,
                            const key_set& keys);

// Whether a step is a compare-and-delete, which some servers have as a command. It releases a lock
// that is a plain string, while the owner expects no waiters.
bool is_compare_and_delete(const table& protocol, const lock::step_request& request);
// Appends it. It deletes the same keys as the script. Every other case, such as waiters or another
// owner, is left to the script.
void write_compare_and_delete(std::string& out, redis::compare_and_delete variant,
                              const lock::step_request& request, const key_set& keys);
lock::step_result read_compare_and_delete(const redis::value& reply);

// Appends a release for a process that is dead (option `release_on_death`). The hold may have been
// upgraded or downgraded since: the script looks for the owner in each mode. It names the script by
// its hash.
void write_release_of_dead(std::string& out, const table& protocol,
                           const lock::step_request& request, const key_set& keys);
// Appends the command that loads the script of these releases.
void write_loading_for_dead(std::string& out, const table& protocol);

// The key of the value of a hold. No key of another lock or owner token has this name.
std::string value_key(std::string_view lock_key, std::string_view token);

// A script call for a command that is not a step.
void write_script(std::string& out, const row& script, const lock::step_request& request,
                  const key_set& keys);

}  // namespace mortise::protocol
