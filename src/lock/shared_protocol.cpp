// The `queued` protocol of the read-write lock and the semaphore as tables: one set of scripts, in
// which a reader or a permit is a part of the lock and a writer has all of it. Their semantics are in
// src/scripts/shared_*.lua.
#include "lock/owner_token.hpp"
#include "lock/protocol.hpp"
#include "scripts/scripts.hpp"

namespace mortise::lock {

namespace {

// The lock's key is that of the mutex, so that two kinds of lock on one name are noticed; the queue is
// not, so that nobody is let in from the queue of another kind.
key_set keys_of(std::string_view name, std::string_view kind) {
  auto keys = queued_protocol().keys(name);
  keys[2] = keys.front() + std::string(kind);
  return keys;
}

key_set rw_keys(std::string_view name) { return keys_of(name, ":rq"); }

key_set semaphore_keys(std::string_view name) {
  auto keys = keys_of(name, ":sq");
  keys.push_back(keys.front() + ":permits");
  return keys;
}

protocol table(std::size_t keys, key_set (*keys_of_name)(std::string_view name)) {
  return {
      .name = "queued",
      .how = waiting::queue,
      .has_weights = true,
      .keys = keys_of_name,
      .owner_token = make_owner_token,
      .rows = {{
          {&scripts::shared_acquire, keys, 5, "try"},
          {&scripts::shared_acquire, keys, 5, "wait"},
          {&scripts::shared_acquire, keys, 5, "again"},
          {&scripts::shared_acquire, keys, 5, "try"},
          {&scripts::shared_renew, keys, 4, ""},
          {&scripts::shared_raise, keys, 1, ""},
          {&scripts::shared_release, keys, 5, ""},
          {&scripts::shared_release, keys, 5, ""},
          {&scripts::shared_cancel, keys, 5, ""},
      }},
      .query = {&scripts::shared_query, keys, 5, ""},
  };
}

}  // namespace

const protocol& queued_rw_protocol() {
  static const protocol rules = table(3, rw_keys);
  return rules;
}

const protocol& queued_semaphore_protocol() {
  static const protocol rules = table(4, semaphore_keys);
  return rules;
}

}  // namespace mortise::lock
