// Which holders of a lock retain their claim. The server sees an ordinary hold, so the holder's
// client is asked, as in a listing. It is asked only if the owner token allows retention.
#include <algorithm>
#include <string>
#include <string_view>

#include "client/client.hpp"
#include "protocol/listing/listing.hpp"
#include "protocol/listing/query.hpp"
#include "protocol/native/owner_token.hpp"

namespace mortise::client {

namespace {

// A client without a reply in this time counts as a holder.
constexpr time_ns answer_time_ns = 500 * ns_per_ms;

// `word` ends in a space, like the words of the text.
bool has_word(std::string_view text, std::string_view word) noexcept {
  while (!text.empty()) {
    if (text.substr(0, word.size()) == word) return true;
    text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  }
  return false;
}

}  // namespace

void client::find_retained(protocol::lock_info& info, std::string_view name, time_ns deadline) {
  listings::gate_numbers others;
  for (auto& party : info.entries) {
    if (!party.may_be_retained) continue;
    if (party.client != id_) {
      others.emplace(party.client, party.gate_id);
    } else if (const auto own = gates_.find(party.gate_id)) {
      party.is_retained =
          own->look([&](const lock::gate& gate, time_ns) { return gate.retains(party.owner); });
    }
  }
  if (others.empty()) return;
  protocol::listing listing;
  // Without a reply the entry stays an ordinary hold.
  static_cast<void>(
      listings_.take(listing, std::min(deadline, boot_now() + answer_time_ns), others));
  for (auto& party : info.entries) {
    if (!party.may_be_retained || party.client == id_) continue;
    const auto claim = std::string(protocol::split_owner_token(party.owner).attempt()) + " ";
    party.is_retained =
        std::any_of(listing.entries.begin(), listing.entries.end(), [&](const auto& one) {
          return one.client == party.client && one.name == name &&
                 has_word(one.retained_claims, claim);
        });
  }
}

}  // namespace mortise::client
