// mortise_listing.
#include "handle_calls.hpp"

using mortise::outcome;
using namespace mortise::capi;  // the ABI's own file

namespace {

std::string_view key_of(const char* key, size_t key_len) noexcept {
  return key == nullptr ? std::string_view() : std::string_view(key, key_len);
}

}  // namespace

mortise_listing* mortise_client_list_locks(mortise_client* client, int64_t timeout_ms,
                                           mortise_error* error) {
  std::unique_ptr<mortise_listing> made;
  const auto take = [&](mortise::client::client& self, std::int64_t patience_ms) {
    auto taken = std::make_unique<mortise_listing>();
    auto result = self.list_locks(taken->content, self.deadline_after(patience_ms));
    if (result.ok()) {
      taken->json = taken->content.json();
      made = std::move(taken);
    }
    return result;
  };
  const auto code = call(client, error, take, argument::patience{timeout_ms});
  return code == MORTISE_OK ? made.release() : nullptr;
}

mortise_listing* mortise_client_scan_locks(mortise_client* client, const char* pattern,
                                           size_t pattern_len, int64_t most_keys,
                                           int64_t timeout_ms, mortise_error* error) {
  std::unique_ptr<mortise_listing> made;
  const auto scan = [&](mortise::client::client& self, std::string_view names, std::int64_t most,
                        std::int64_t patience_ms) {
    auto found = std::make_unique<mortise_listing>();
    auto result = self.scan_keys(found->content, {names, most}, self.deadline_after(patience_ms));
    if (result.ok()) {
      found->json = found->content.json();
      made = std::move(found);
    }
    return result;
  };
  const auto code = call(client, error, scan, argument::pattern{pattern, pattern_len},
                         argument::most_keys{most_keys}, argument::patience{timeout_ms});
  return code == MORTISE_OK ? made.release() : nullptr;
}

mortise_listing* mortise_client_list_history(mortise_client* client, const char* name,
                                             size_t name_len, int64_t window_ms, int64_t timeout_ms,
                                             mortise_error* error) {
  std::unique_ptr<mortise_listing> made;
  const auto take = [&](mortise::client::client& self, std::string_view of, std::int64_t window,
                        std::int64_t patience_ms) {
    auto taken = std::make_unique<mortise_listing>();
    const auto deadline = self.deadline_after(patience_ms);
    auto result = self.list_history(taken->content, of, window, deadline);
    if (result.ok()) {
      taken->json = taken->content.json();
      made = std::move(taken);
    }
    return result;
  };
  const auto code = call(client, error, take, argument::name{name, name_len},
                         argument::window{window_ms}, argument::patience{timeout_ms});
  return code == MORTISE_OK ? made.release() : nullptr;
}

void mortise_listing_free(mortise_listing* listing) { delete listing; }

const char* mortise_listing_json(const mortise_listing* listing) {
  return listing == nullptr ? "{}" : listing->json.c_str();
}

int64_t mortise_listing_answered(const mortise_listing* listing) {
  return listing == nullptr ? 0 : listing->content.answered;
}

int64_t mortise_listing_silent(const mortise_listing* listing) {
  return listing == nullptr ? 0 : static_cast<int64_t>(listing->content.silent.size());
}

int64_t mortise_listing_truncated(const mortise_listing* listing) {
  return listing == nullptr ? 0 : listing->content.truncated;
}

int64_t mortise_listing_count(const mortise_listing* listing) {
  return listing == nullptr ? 0 : static_cast<int64_t>(listing->content.size());
}

const char* mortise_listing_text(const mortise_listing* listing, int64_t index, const char* key,
                                 size_t key_len) {
  if (listing == nullptr || index < 0) return "";
  const auto row = static_cast<std::size_t>(index);
  return text_of(listing->content.text(row, key_of(key, key_len)), nullptr);
}

int64_t mortise_listing_number(const mortise_listing* listing, int64_t index, const char* key,
                               size_t key_len) {
  if (listing == nullptr || index < 0) return 0;
  return listing->content.number(static_cast<std::size_t>(index), key_of(key, key_len));
}
