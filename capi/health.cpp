// mortise_health.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::protocol::finding;
using mortise::protocol::finding_severity;
using namespace mortise::capi;  // the ABI's own file

namespace {

const finding* find(const mortise_health* health, int64_t index) noexcept {
  if (health == nullptr || index < 0) return nullptr;
  const auto& findings = health->content.findings;
  const auto place = static_cast<std::size_t>(index);
  return place < findings.size() ? &findings[place] : nullptr;
}

// Makes a health object that the client fills.
template <class Fill>
mortise_health* make(mortise_client* client, mortise_error* error, Fill fill) {
  std::unique_ptr<mortise_health> made;
  const auto code = call(client, error, [&](mortise::client::client& self) {
    auto filled = std::make_unique<mortise_health>();
    auto result = (self.*fill)(filled->content);
    if (result.ok()) {
      filled->json = filled->content.json();
      made = std::move(filled);
    }
    return result;
  });
  return code == MORTISE_OK ? made.release() : nullptr;
}

}  // namespace

mortise_health* mortise_client_check_health(mortise_client* client, mortise_error* error) {
  return make(client, error, &mortise::client::client::check_health);
}

mortise_health* mortise_client_last_health(mortise_client* client, mortise_error* error) {
  return make(client, error, &mortise::client::client::read_last_health);
}

void mortise_health_free(mortise_health* health) { delete health; }

int64_t mortise_health_count(const mortise_health* health) {
  return health == nullptr ? 0 : static_cast<int64_t>(health->content.findings.size());
}

mortise_severity mortise_health_worst(const mortise_health* health) {
  const auto* const worst = health == nullptr ? nullptr : health->content.worst();
  return worst == nullptr ? MORTISE_SEVERITY_UNKNOWN
                          : static_cast<mortise_severity>(worst->severity);
}

const char* mortise_health_name(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? "" : found->name;
}

mortise_severity mortise_health_severity(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? MORTISE_SEVERITY_UNKNOWN
                          : static_cast<mortise_severity>(found->severity);
}

const char* mortise_health_server(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? "" : found->server.c_str();
}

const char* mortise_health_value(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? "" : found->value.c_str();
}

const char* mortise_health_consequence(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? "" : found->consequence;
}

const char* mortise_health_remedy(const mortise_health* health, int64_t index) {
  const auto* const found = find(health, index);
  return found == nullptr ? "" : found->remedy;
}

const char* mortise_health_json(const mortise_health* health) {
  return health == nullptr ? "{}" : health->json.c_str();
}

const char* mortise_severity_text(mortise_severity severity) {
  return mortise::protocol::severity_text(static_cast<finding_severity>(severity));
}
