// The text for an owner at the server: `m1:<client>:<sequence>:<label>:<grant ttl>`. It is unique
// for each attempt (hazard 16), names the inbox for a grant, and identifies the owner for people.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/decimal.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

// The suffix of the sequence. It requests that a waiter notifies the client (inbox.lua).
constexpr std::string_view reuse_text(lock::claim_reuse reuse) noexcept {
  switch (reuse) {
    case lock::claim_reuse::shared:
      return "s:";
    case lock::claim_reuse::retained:
      return "r:";
    case lock::claim_reuse::none:
      break;
  }
  return ":";
}

// The sequence is `<gate id>.<attempt>`, unique within the client. A suffix `r` means that the
// client may retain the claim. Otherwise a suffix `s` means that its readers may share the claim,
// or that its holders report waiters.
inline std::string make_owner_token(const owner_seed& seed) {
  const decimal gate_id(seed.gate_id);
  const decimal attempt(seed.attempt);
  const decimal ttl(seed.grant_ttl_ms);
  const std::string_view parts[] = {
      "m1:", seed.client, ":", gate_id, ".", attempt, reuse_text(seed.reuse), seed.label, ":", ttl};
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  std::string token(size, '\0');
  auto at = token.begin();
  for (const auto part : parts) at = std::copy(part.begin(), part.end(), at);
  return token;
}

// The parts of a token, of a lock's value, which may end in `*` (others wait), or of a waiter,
// which ends in a space and the secret of its grant.
struct owner_parts {
  std::string_view token;   // without the mark and the secret
  std::string_view client;  // empty when the text is not an owner token
  std::string_view sequence;
  std::string_view label;
  std::string_view secret;
  bool others_wait = false;
  // The gate of the client; 0 when the text is not an owner token.
  [[nodiscard]] std::uint64_t gate_id() const noexcept {
    std::uint64_t number = 0;
    std::from_chars(sequence.data(), sequence.data() + sequence.size(), number);
    return number;
  }
  // The part behind the gate: the claim's own number within the client.
  [[nodiscard]] std::string_view attempt() const noexcept {
    return sequence.substr(std::min(sequence.size(), sequence.find('.') + 1));
  }
  [[nodiscard]] bool may_retain() const noexcept {
    return !sequence.empty() && sequence.back() == 'r';
  }
};

inline owner_parts split_owner_token(std::string_view text) {
  owner_parts parts;
  parts.others_wait = !text.empty() && text.back() == '*';
  if (parts.others_wait) text.remove_suffix(1);
  parts.token = text;
  if (text.substr(0, 3) != "m1:") return parts;
  const auto token_end = text.find(' ', text.rfind(':'));
  if (token_end != std::string_view::npos) {
    parts.token = text.substr(0, token_end);
    parts.secret = text.substr(token_end + 1);
    text = parts.token;
  }
  const auto client_end = text.find(':', 3);
  if (client_end == std::string_view::npos) return parts;
  const auto label_start = text.find(':', client_end + 1);
  const auto label_end = text.rfind(':');
  if (label_start == std::string_view::npos || label_end <= label_start) return parts;
  parts.client = text.substr(3, client_end - 3);
  parts.sequence = text.substr(client_end + 1, label_start - client_end - 1);
  parts.label = text.substr(label_start + 1, label_end - label_start - 1);
  return parts;
}

}  // namespace mortise::protocol
