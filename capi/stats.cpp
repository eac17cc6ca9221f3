// mortise_stats.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::statistics::sample;
using namespace mortise::capi;  // the ABI's own file

namespace {

template <class Item>
const Item* find(const std::vector<Item>& items, int64_t index) noexcept {
  const auto place = static_cast<std::size_t>(index);
  return index >= 0 && place < items.size() ? &items[place] : nullptr;
}

const sample* find(const mortise_stats* stats, int64_t index) noexcept {
  return stats == nullptr ? nullptr : find(stats->samples, index);
}

const std::pair<const char*, std::string>* find(const mortise_stats* stats, int64_t index,
                                                int64_t label) noexcept {
  const auto* const found = find(stats, index);
  return found == nullptr ? nullptr : find(found->labels, label);
}

}  // namespace

mortise_stats* mortise_client_stats(mortise_client* client, mortise_error* error) {
  std::unique_ptr<mortise_stats> made;
  const auto code = call(client, error, [&](mortise::client::client& self) {
    mortise::statistics::snapshot counted;
    auto result = self.read_statistics(counted);
    if (!result.ok()) return result;
    made = std::make_unique<mortise_stats>(
        mortise_stats{counted.samples(), counted.json(), counted.prometheus()});
    return outcome();
  });
  return code == MORTISE_OK ? made.release() : nullptr;
}

void mortise_stats_free(mortise_stats* stats) { delete stats; }

const char* mortise_stats_json(const mortise_stats* stats) {
  return stats == nullptr ? "{}" : stats->json.c_str();
}

const char* mortise_stats_prometheus(const mortise_stats* stats) {
  return stats == nullptr ? "" : stats->prometheus.c_str();
}

int64_t mortise_stats_count(const mortise_stats* stats) {
  return stats == nullptr ? 0 : static_cast<int64_t>(stats->samples.size());
}

const char* mortise_stats_name(const mortise_stats* stats, int64_t index) {
  const auto* const found = find(stats, index);
  return found == nullptr ? "" : found->name.c_str();
}

const char* mortise_stats_type(const mortise_stats* stats, int64_t index) {
  const auto* const found = find(stats, index);
  return found == nullptr ? "" : found->type;
}

double mortise_stats_value(const mortise_stats* stats, int64_t index) {
  const auto* const found = find(stats, index);
  return found == nullptr ? 0 : found->value;
}

int64_t mortise_stats_label_count(const mortise_stats* stats, int64_t index) {
  const auto* const found = find(stats, index);
  return found == nullptr ? 0 : static_cast<int64_t>(found->labels.size());
}

const char* mortise_stats_label_name(const mortise_stats* stats, int64_t index, int64_t label) {
  const auto* const found = find(stats, index, label);
  return found == nullptr ? "" : found->first;
}

const char* mortise_stats_label_value(const mortise_stats* stats, int64_t index, int64_t label) {
  const auto* const found = find(stats, index, label);
  return found == nullptr ? "" : found->second.c_str();
}
