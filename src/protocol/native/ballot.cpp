// The `ballot` protocol of a quorum's servers as tables: the requests to each of them. Its
// semantics are in src/protocol/scripts/ballot_*.lua.
#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

namespace {

// The additional keys are Mortise's, whatever the lock's own key is.
key_set with_ballot(std::string lock, std::string_view name) {
  return {std::move(lock), std::string("{mortise:").append(name) + "}:ballot",
          std::string(fence_key), std::string(quarantine_key)};
}

key_set ballot_keys(std::string_view name) {
  return with_ballot(std::string("{mortise:").append(name) + "}", name);
}

// Keys of the format `token`, which other programs with the Redlock algorithm also use (seed S9).
key_set ballot_token_keys(std::string_view name) { return with_ballot(std::string(name), name); }

std::string ballot_channel(std::string_view key) {
  return std::string("mortise:free:").append(key);
}

// A waiter sends `acquire`, and a server that has voted for another owner notifies that owner.
// `release_alone` returns the votes of a lost round. It notifies nobody,
// because the waiters had lost the round, too.
row_set ballot_rows() {
  const row take{&scripts::ballot_take, 4, 3, "take", true};
  const row give_back{&scripts::ballot_release, 2, 3, "quiet", true};
  return {.try_take = take,
          .acquire = {&scripts::ballot_take, 4, 3, "wait", true},
          .reacquire = take,
          .retake = take,
          .renew = {&scripts::ballot_renew, 2, 2, "", true},
          .raise = {},
          .release_alone = give_back,
          .release = {&scripts::ballot_release, 2, 3, "tell", true},
          .cancel = give_back};
}

key_set ballot_rw_keys(std::string_view name) {
  const auto tag = std::string("{mortise:").append(name) + "}";
  return {tag, tag + ":ballot", tag + ":writer", std::string(fence_key),
          std::string(quarantine_key)};
}

row_set ballot_rw_rows() {
  const row take{&scripts::ballot_rw_take, 5, 4, "take", true};
  return {.try_take = take,
          .acquire = {&scripts::ballot_rw_take, 5, 4, "wait", true},
          .reacquire = {&scripts::ballot_rw_take, 5, 4, "again", true},
          .retake = take,
          .renew = {&scripts::ballot_rw_renew, 2, 4, "", true},
          .raise = {&scripts::ballot_rw_raise, 5, 2, "", true},
          .release_alone = {&scripts::ballot_rw_release, 3, 4, "quiet", true},
          .release = {&scripts::ballot_rw_release, 3, 4, "tell", true},
          .cancel = {&scripts::ballot_rw_release, 3, 4, "leave", true}};
}

}  // namespace

const table& ballot() {
  static const table protocol = {
      .facts = {.name = "queued",
                .wait = lock::wait_method::channel,
                .can_pass = true,
                .notifies_holders = true},
      .keys = ballot_keys,
      .channel = ballot_channel,
      .owner_token = make_owner_token,
      .rows = ballot_rows(),
      .query = {&scripts::token_query, 2, 1, ""},
      .force_release = {&scripts::ballot_release, 2, 3, "force", true},
  };
  return protocol;
}

const table& ballot_token() {
  static const table protocol = {
      // Other programs do not publish their releases.
      .facts = {.name = "token",
                .wait = lock::wait_method::polling,
                .can_pass = true,
                .notifies_holders = true},
      .keys = ballot_token_keys,
      .channel = ballot_channel,
      .owner_token = make_owner_token,
      .rows = ballot_rows(),
      .query = {&scripts::token_query, 2, 1, ""},
      .force_release = {&scripts::ballot_release, 2, 3, "force", true},
  };
  return protocol;
}

const table& ballot_rw() {
  static const table protocol = {
      .facts = {.name = "queued",
                .kind = lock::lock_kind::rw,
                .wait = lock::wait_method::channel,
                .notifies_holders = true,
                .can_raise = true},
      .has_permits = true,
      .keys = ballot_rw_keys,
      .channel = ballot_channel,
      .owner_token = make_owner_token,
      .rows = ballot_rw_rows(),
      .query = {&scripts::ballot_rw_query, 2, 1, ""},
      .force_release = {&scripts::ballot_rw_release, 3, 4, "force", true},
  };
  return protocol;
}

}  // namespace mortise::protocol
