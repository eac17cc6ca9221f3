#include "protocol/foreign/interop.hpp"

#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"

namespace mortise::protocol {

namespace {

// The key for additional data, in the lock's hash slot. The lock's format has no room for them.
std::string note_key(std::string_view name) {
  const bool has_tag = name.find('{') != std::string_view::npos;
  return has_tag ? std::string(name) + ":mortise" : std::string("{").append(name) + "}:mortise";
}

key_set plain_keys(std::string_view name) { return {std::string(name), std::string(fence_key)}; }

key_set noted_keys(std::string_view name) {
  return {std::string(name), std::string(fence_key), note_key(name)};
}

key_set two_keys(std::string_view name) {
  const auto lock = std::string(name);
  return {lock + ":read", std::string(fence_key), lock + ":write", note_key(name)};
}

// ---- Redisson's names ----------------------------------------------------------------------

std::string redisson_channel(std::string_view key) {
  const bool has_tag = key.find('{') != std::string_view::npos;
  const std::string prefix = "redisson_lock__channel:";
  return has_tag ? prefix + std::string(key) : prefix + "{" + std::string(key) + "}";
}

// `<UUID of the client>:<thread>`: the client's ID in hex, and as the thread a number that no other
// attempt of this client uses.
std::string redisson_owner(const owner_seed& seed) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t attempt_digits = 15;
  std::string token;
  for (std::size_t i = 0; i < seed.client.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) token += '-';
    const auto byte = static_cast<unsigned char>(seed.client[i]);
    token += digits[byte / 16U];
    token += digits[byte % 16U];
  }
  const auto attempt = std::to_string(seed.attempt);
  token += ':' + std::to_string(seed.gate_id);
  if (attempt.size() < attempt_digits) token.append(attempt_digits - attempt.size(), '0');
  return token + attempt;
}

// ---- tables --------------------------------------------------------------------------------

// The first request and the repeated ones are equal. A cancel is a release.
constexpr row_set rows_of(const row& acquire, const row& renew, const row& release) {
  return {.try_take = acquire,
          .acquire = acquire,
          .reacquire = acquire,
          .retake = acquire,
          .renew = renew,
          .raise = {},
          .release_alone = release,
          .release = release,
          .cancel = release};
}

table timestamp_table(std::string_view name, std::string_view form) {
  return {
      .facts = {.name = name, .wait = lock::wait_method::polling},
      .keys = noted_keys,
      .owner_token = make_owner_token,
      .rows =
          rows_of({&scripts::timestamp_acquire, 3, 3, form},
                  {&scripts::timestamp_renew, 3, 3, form}, {&scripts::timestamp_release, 3, 1, ""}),
      .query = {&scripts::timestamp_query, 3, 3, form},
  };
}

}  // namespace

const table& token() {
  static const table protocol = {
      .facts = {.name = "token", .wait = lock::wait_method::polling, .is_plain_string = true},
      .keys = plain_keys,
      .owner_token = make_owner_token,
      .rows = rows_of({&scripts::token_acquire, 2, 2, ""}, {&scripts::token_renew, 2, 2, ""},
                      {&scripts::token_release, 1, 1, ""}),
      .query = {&scripts::token_query, 2, 1, ""},
  };
  return protocol;
}

const table& hash() {
  static const table protocol = {
      .facts = {.name = "hash", .wait = lock::wait_method::channel},
      .keys = plain_keys,
      .channel = redisson_channel,
      .owner_token = redisson_owner,
      .rows = rows_of({&scripts::hash_acquire, 2, 2, ""}, {&scripts::hash_renew, 2, 2, ""},
                      {&scripts::hash_release, 2, 1, ""}),
      .query = {&scripts::hash_query, 2, 1, ""},
  };
  return protocol;
}

const table& timestamp() {
  static const table protocol = timestamp_table("timestamp", "decimal");
  return protocol;
}

const table& timestamp_binary() {
  static const table protocol = timestamp_table("timestamp_binary", "binary");
  return protocol;
}

const table& two_key() {
  static const table protocol = {
      .facts = {.name = "two_key", .wait = lock::wait_method::polling},
      .has_permits = true,
      .keys = two_keys,
      .owner_token = make_owner_token,
      .rows = rows_of({&scripts::two_key_acquire, 4, 4, ""}, {&scripts::two_key_renew, 4, 4, ""},
                      {&scripts::two_key_release, 4, 4, ""}),
      .query = {&scripts::two_key_query, 4, 4, ""},
  };
  return protocol;
}

const table& rw_hash() {
  static const table protocol = {
      .facts = {.name = "hash", .wait = lock::wait_method::polling},
      .has_permits = true,
      .keys = noted_keys,
      .owner_token = make_owner_token,
      .rows = rows_of({&scripts::rw_hash_acquire, 3, 6, ""}, {&scripts::rw_hash_renew, 3, 6, ""},
                      {&scripts::rw_hash_release, 3, 6, ""}),
      .query = {&scripts::rw_hash_query, 3, 6, ""},
  };
  return protocol;
}

}  // namespace mortise::protocol
