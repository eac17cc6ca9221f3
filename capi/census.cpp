// mortise_census.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::protocol::census_entry;
using namespace mortise::capi;  // the ABI's own file

namespace {

const census_entry* find(const mortise_census* census, int64_t index) noexcept {
  if (census == nullptr || index < 0) return nullptr;
  const auto& entries = census->told.entries;
  const auto place = static_cast<std::size_t>(index);
  return place < entries.size() ? &entries[place] : nullptr;
}

std::string_view key_of(const char* key, size_t key_len) noexcept {
  return key == nullptr ? std::string_view() : std::string_view(key, key_len);
}

}  // namespace

mortise_census* mortise_client_census(mortise_client* client, int64_t timeout_ms,
                                      mortise_error* error) {
  std::unique_ptr<mortise_census> made;
  const auto take = [&](mortise::client::client& asked, std::int64_t patience_ms) {
    auto taken = std::make_unique<mortise_census>();
    auto come_to = asked.take_census(taken->told, asked.deadline_after(patience_ms));
    if (come_to.ok()) {
      taken->json = taken->told.json();
      made = std::move(taken);
    }
    return come_to;
  };
  const auto how = call(client, error, take, argument::patience{timeout_ms});
  return how == MORTISE_OK ? made.release() : nullptr;
}

mortise_census* mortise_client_scan(mortise_client* client, const char* pattern, size_t pattern_len,
                                    int64_t most_keys, int64_t timeout_ms, mortise_error* error) {
  std::unique_ptr<mortise_census> made;
  const auto scan = [&](mortise::client::client& asked, std::string_view names, std::int64_t most,
                        std::int64_t patience_ms) {
    auto found = std::make_unique<mortise_census>();
    auto come_to = asked.scan_keys(found->told, {names, most}, asked.deadline_after(patience_ms));
    if (come_to.ok()) {
      found->json = found->told.json();
      made = std::move(found);
    }
    return come_to;
  };
  const auto how = call(client, error, scan, argument::pattern{pattern, pattern_len},
                        argument::most_keys{most_keys}, argument::patience{timeout_ms});
  return how == MORTISE_OK ? made.release() : nullptr;
}

void mortise_census_free(mortise_census* census) { delete census; }

const char* mortise_census_json(const mortise_census* census) {
  return census == nullptr ? "{}" : census->json.c_str();
}

int64_t mortise_census_answered(const mortise_census* census) {
  return census == nullptr ? 0 : census->told.answered;
}

int64_t mortise_census_silent(const mortise_census* census) {
  return census == nullptr ? 0 : static_cast<int64_t>(census->told.silent.size());
}

int64_t mortise_census_truncated(const mortise_census* census) {
  return census == nullptr ? 0 : census->told.truncated;
}

int64_t mortise_census_count(const mortise_census* census) {
  return census == nullptr ? 0 : static_cast<int64_t>(census->told.entries.size());
}

const char* mortise_census_text(const mortise_census* census, int64_t index, const char* key,
                                size_t key_len) {
  const auto* const found = find(census, index);
  if (found == nullptr) return "";
  return text_of(mortise::protocol::census_text(*found, key_of(key, key_len)), nullptr);
}

int64_t mortise_census_number(const mortise_census* census, int64_t index, const char* key,
                              size_t key_len) {
  const auto* const found = find(census, index);
  return found == nullptr ? 0 : mortise::protocol::census_number(*found, key_of(key, key_len));
}
