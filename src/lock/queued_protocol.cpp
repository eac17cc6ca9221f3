// The `queued` protocol of the mutex as a table. Its semantics are in src/scripts/queued_*.lua.
#include "lock/owner_token.hpp"
#include "lock/protocol.hpp"
#include "scripts/scripts.hpp"

namespace mortise::lock {

namespace {

// The name is inside the braces together with a prefix: the hash tag can then never be empty, and a
// lock's key, which ends in a brace, can never be another lock's queue, which does not.
key_set queued_keys(std::string_view name) {
  const auto lock = std::string("{mortise:").append(name).append("}");
  return {lock, std::string(fence_key), lock + ":q"};
}

}  // namespace

const protocol& queued_protocol() {
  static const protocol table = {
      .name = "queued",
      .how = waiting::queue,
      .is_plain_string = true,
      .keys = queued_keys,
      .owner_token = make_owner_token,
      .rows = {{
          {},  // try_take: a plain string
          {&scripts::queued_acquire, 3, 3, "wait"},
          {&scripts::queued_acquire, 3, 3, "again"},
          {&scripts::queued_acquire, 3, 3, "try"},
          {&scripts::queued_renew, 3, 3, ""},
          {},  // raise: its owner has all of it
          {&scripts::queued_release_alone, 1, 1, ""},
          {&scripts::queued_release, 3, 1, ""},
          {&scripts::queued_cancel, 3, 1, ""},
      }},
      .query = {&scripts::queued_query, 3, 1, ""},
  };
  return table;
}

}  // namespace mortise::lock
