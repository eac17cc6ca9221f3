// The `queued` protocol of the read-write lock and the semaphore as tables, with one set of
// scripts. A reader or a permit holds a part of the lock, a writer holds all of it. Their semantics
// are in src/protocol/scripts/shared_*.lua.
#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

namespace {

// The lock's key is that of the mutex, so that a name conflict of two kinds is detected. The
// queue's key differs, so that no waiter is admitted from the queue of another kind.
key_set keys_of(std::string_view name, std::string_view kind) {
  auto keys = queued().keys(name);
  keys[2] = keys.front() + std::string(kind);
  return keys;
}

key_set rw_keys(std::string_view name) { return keys_of(name, ":rq"); }

key_set semaphore_keys(std::string_view name) {
  auto keys = keys_of(name, ":sq");
  keys.push_back(keys.front() + ":permits");
  return keys;
}

table shared_table(lock::lock_kind kind, std::size_t keys,
                   key_set (*keys_of_name)(std::string_view name)) {
  return {
      .facts = {.name = "queued",
                .kind = kind,
                .wait = lock::wait_method::queue,
                .can_pass = true,
                .notifies_holders = true,
                .has_values = true,
                .can_raise = true},
      .has_permits = true,
      .keys = keys_of_name,
      .owner_token = make_owner_token,
      .rows =
          {
              .try_take = {&scripts::shared_acquire, keys, 5, "try"},
              .acquire = {&scripts::shared_acquire, keys, 5, "wait", false, true},
              .reacquire = {&scripts::shared_acquire, keys, 5, "again", false, true},
              .retake = {&scripts::shared_acquire, keys, 5, "try"},
              .adopt = {&scripts::shared_adopt, keys, 4, "keep", false, false, true},
              .renew = {&scripts::shared_renew, keys, 4, ""},
              .raise = {&scripts::shared_raise, keys, 1, ""},
              .release_alone = {&scripts::shared_release, keys, 5, ""},
              .release = {&scripts::shared_release, keys, 5, ""},
              .cancel = {&scripts::shared_cancel, keys, 5, "", false, true},
              .set_value = {&scripts::shared_value, 2, 3, ""},
          },
      .renew_alone = {&scripts::shared_renew_alone, 1, 4, ""},
      .query = {&scripts::shared_query, keys, 5, ""},
      .force_release = {&scripts::shared_release, keys, 5, "force"},
  };
}

}  // namespace

const table& queued_rw() {
  static const table protocol = shared_table(lock::lock_kind::rw, 3, rw_keys);
  return protocol;
}

const table& queued_semaphore() {
  static const table protocol = shared_table(lock::lock_kind::semaphore, 4, semaphore_keys);
  return protocol;
}

}  // namespace mortise::protocol
