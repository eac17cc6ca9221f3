// The `ballot` protocol of a quorum's servers as a table: what is asked of each of them. Its
// semantics are in src/protocol/scripts/ballot_*.lua.
#include "protocol/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

namespace {

// Whatever the lock's own key is, what belongs to it has keys of Mortise's.
key_set with_ballot(std::string lock, std::string_view name) {
  return {std::move(lock), std::string("{mortise:").append(name) + "}:ballot",
          std::string(fence_key), std::string(quarantine_key)};
}

key_set ballot_keys(std::string_view name) {
  return with_ballot(std::string("{mortise:").append(name) + "}", name);
}

// Those of the format `token`, which other programs of the Redlock algorithm use, too (seed S9).
key_set ballot_token_keys(std::string_view name) { return with_ballot(std::string(name), name); }

std::string ballot_channel(std::string_view name) { return "mortise:free:" + ballot_keys(name)[0]; }

std::string ballot_token_channel(std::string_view name) {
  return std::string("mortise:free:").append(name);
}

row_set ballot_rows() {
  const row take{&scripts::ballot_take, 4, 3, "take", true};
  const row release{&scripts::ballot_release, 2, 3, "tell", true};
  return {.try_take = take,
          .acquire = take,
          .reacquire = take,
          .retake = take,
          .renew = {&scripts::ballot_renew, 2, 2, "", true},
          .raise = {},
          .release_alone = release,
          .release = release,
          .cancel = {&scripts::ballot_release, 2, 3, "quiet", true}};
}

}  // namespace

const table& ballot() {
  static const table protocol = {
      .facts = {.name = "queued", .how = lock::wait_method::channel, .can_pass = true},
      .keys = ballot_keys,
      .channel = ballot_channel,
      .owner_token = make_owner_token,
      .rows = ballot_rows(),
      .query = {&scripts::token_query, 2, 1, ""},
  };
  return protocol;
}

const table& ballot_token() {
  static const table protocol = {
      // Other programs tell nobody that they have released.
      .facts = {.name = "token", .how = lock::wait_method::polling, .can_pass = true},
      .keys = ballot_token_keys,
      .channel = ballot_token_channel,
      .owner_token = make_owner_token,
      .rows = ballot_rows(),
      .query = {&scripts::token_query, 2, 1, ""},
  };
  return protocol;
}

}  // namespace mortise::protocol
