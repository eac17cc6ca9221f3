// The `queued` protocol of the mutex as a table. Its semantics are in
// src/protocol/scripts/queued_*.lua.
#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

namespace {

// The braces contain the name and a prefix, so the hash tag is never empty. A lock's key ends in a
// brace and a queue does not, so no lock's key is another lock's queue.
key_set queued_keys(std::string_view name) {
  const auto lock = std::string("{mortise:").append(name).append("}");
  return {lock, std::string(fence_key), lock + ":q"};
}

}  // namespace

const table& queued() {
  static const table protocol = {
      .facts = {.name = "queued",
                .wait = lock::wait_method::queue,
                .is_plain_string = true,
                .can_pass = true,
                .notifies_holders = true,
                .has_values = true},
      .keys = queued_keys,
      .owner_token = make_owner_token,
      .rows =
          {
              .try_take = {},  // a plain string
              .acquire = {&scripts::queued_acquire, 3, 3, "wait", false, true},
              .reacquire = {&scripts::queued_acquire, 3, 3, "again", false, true},
              .retake = {&scripts::queued_acquire, 3, 3, "try"},
              .adopt = {&scripts::queued_adopt, 3, 3, "keep", false, false, true},
              .renew = {&scripts::queued_renew, 2, 3, ""},
              .raise = {},  // the owner already holds all of it
              .release_alone = {&scripts::queued_release_alone, 1, 1, ""},
              .release = {&scripts::queued_release, 3, 1, ""},
              .cancel = {&scripts::queued_cancel, 3, 1, "", false, true},
              .set_value = {&scripts::queued_value, 2, 3, ""},
          },
      .renew_alone = {&scripts::queued_renew, 1, 3, ""},
      .renew_many = &scripts::queued_renew_many,
      .query = {&scripts::queued_query, 3, 1, ""},
      .force_release = {&scripts::queued_release, 3, 3, "force"},
  };
  return protocol;
}

}  // namespace mortise::protocol
