// mortise_info.
#include "handles.hpp"

namespace {

const mortise::protocol::lock_party* entry(const mortise_info* info, int64_t index) noexcept {
  if (info == nullptr || index < 0) return nullptr;
  const auto& entries = info->content.entries;
  const auto place = static_cast<std::size_t>(index);
  return place < entries.size() ? &entries[place] : nullptr;
}

}  // namespace

mortise_info* mortise_info_new(void) { return new (std::nothrow) mortise_info; }

void mortise_info_free(mortise_info* info) { delete info; }

int32_t mortise_info_is_held(const mortise_info* info) {
  return info != nullptr && info->content.is_held ? 1 : 0;
}

int32_t mortise_info_is_mine(const mortise_info* info) {
  return info != nullptr && info->content.is_mine ? 1 : 0;
}

int64_t mortise_info_time_left_ms(const mortise_info* info) {
  return info == nullptr ? -1 : info->content.time_left_ms;
}

int64_t mortise_info_latest_token(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.latest_token;
}

int64_t mortise_info_waiter_count(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.waiter_count;
}

int64_t mortise_info_entry_count(const mortise_info* info) {
  return info == nullptr ? 0 : static_cast<int64_t>(info->content.entries.size());
}

const char* mortise_info_entry_owner(const mortise_info* info, int64_t index) {
  const auto* const found = entry(info, index);
  return found == nullptr ? "" : found->owner.c_str();
}

const char* mortise_info_entry_host(const mortise_info* info, int64_t index) {
  const auto* const found = entry(info, index);
  return found == nullptr ? "" : found->host.c_str();
}

int64_t mortise_info_entry_pid(const mortise_info* info, int64_t index) {
  const auto* const found = entry(info, index);
  return found == nullptr ? 0 : found->pid;
}

const char* mortise_info_entry_label(const mortise_info* info, int64_t index) {
  const auto* const found = entry(info, index);
  return found == nullptr ? "" : found->label.c_str();
}

const char* mortise_info_entry_value(const mortise_info* info, int64_t index) {
  const auto* const found = entry(info, index);
  return found == nullptr ? "" : found->value.c_str();
}

int64_t mortise_info_holder_count(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.holder_count;
}

int64_t mortise_info_shown_holder_count(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.shown_holders;
}

int64_t mortise_info_permits(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.permits;
}

int64_t mortise_info_permits_in_use(const mortise_info* info) {
  return info == nullptr ? 0 : info->content.permits_in_use;
}

int32_t mortise_info_entry_is_retained(const mortise_info* info, int64_t index) {
  const auto* found = entry(info, index);
  return found != nullptr && found->is_retained ? 1 : 0;
}

int32_t mortise_info_entry_is_exclusive(const mortise_info* info, int64_t index) {
  const auto* found = entry(info, index);
  return found != nullptr && found->is_exclusive ? 1 : 0;
}

int64_t mortise_info_entry_permits(const mortise_info* info, int64_t index) {
  const auto* found = entry(info, index);
  return found == nullptr ? 0 : found->permits;
}
