// mortise_examination.
#include "handle_calls.hpp"

using mortise::outcome;
using mortise::protocol::finding;
using mortise::protocol::finding_verdict;
using namespace mortise::capi;  // the ABI's own file

namespace {

const finding* find(const mortise_examination* examination, int64_t index) noexcept {
  if (examination == nullptr || index < 0) return nullptr;
  const auto& findings = examination->told.findings;
  const auto place = static_cast<std::size_t>(index);
  return place < findings.size() ? &findings[place] : nullptr;
}

// What the client has it filled with.
template <class Fill>
mortise_examination* make(mortise_client* client, mortise_error* error, Fill fill) {
  std::unique_ptr<mortise_examination> made;
  const auto how = call(client, error, [&](mortise::client::client& asked) {
    auto filled = std::make_unique<mortise_examination>();
    auto come_to = (asked.*fill)(filled->told);
    if (come_to.ok()) {
      filled->json = filled->told.json();
      made = std::move(filled);
    }
    return come_to;
  });
  return how == MORTISE_OK ? made.release() : nullptr;
}

}  // namespace

mortise_examination* mortise_client_examine(mortise_client* client, mortise_error* error) {
  return make(client, error, &mortise::client::client::examine);
}

mortise_examination* mortise_client_examination(mortise_client* client, mortise_error* error) {
  return make(client, error, &mortise::client::client::read_examination);
}

void mortise_examination_free(mortise_examination* examination) { delete examination; }

int64_t mortise_examination_count(const mortise_examination* examination) {
  return examination == nullptr ? 0 : static_cast<int64_t>(examination->told.findings.size());
}

mortise_verdict mortise_examination_worst(const mortise_examination* examination) {
  const auto* const worst = examination == nullptr ? nullptr : examination->told.worst();
  return worst == nullptr ? MORTISE_VERDICT_UNKNOWN : static_cast<mortise_verdict>(worst->verdict);
}

const char* mortise_examination_name(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? "" : found->name;
}

mortise_verdict mortise_examination_verdict(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? MORTISE_VERDICT_UNKNOWN : static_cast<mortise_verdict>(found->verdict);
}

const char* mortise_examination_server(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? "" : found->server.c_str();
}

const char* mortise_examination_value(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? "" : found->value.c_str();
}

const char* mortise_examination_consequence(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? "" : found->consequence;
}

const char* mortise_examination_mend(const mortise_examination* examination, int64_t index) {
  const auto* const found = find(examination, index);
  return found == nullptr ? "" : found->mend;
}

const char* mortise_examination_json(const mortise_examination* examination) {
  return examination == nullptr ? "{}" : examination->json.c_str();
}

const char* mortise_verdict_text(mortise_verdict verdict) {
  return mortise::protocol::verdict_text(static_cast<finding_verdict>(verdict));
}
