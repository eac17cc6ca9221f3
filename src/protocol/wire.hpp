// How the steps of all protocols travel: a question becomes commands, their reply a verdict. What
// the numbers mean is written on top of each script.
#pragma once

#include <string>

#include "protocol/table.hpp"
#include "redis/resp.hpp"

namespace mortise::protocol {

// Appends the commands of one step, in RESP, and returns how many replies they have.
int write_step(std::string& out, const table& protocol, const lock::question& asked,
               const key_set& keys);
// Reads the reply (of several replies: the first error, or else the last).
lock::verdict read_step(const table& protocol, lock::step what, const redis::value& reply);
// One script call by hand, for what is not a step.
void write_script(std::string& out, const row& script, const lock::question& asked,
                  const key_set& keys);

}  // namespace mortise::protocol
