#include "lock/protocols.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "lock/interop_protocols.hpp"

namespace mortise::lock {

namespace {

struct entry {
  lock_kind kind;
  const protocol& (*rules)();
};

constexpr std::array entries = {
    entry{lock_kind::mutex, queued_protocol},
    entry{lock_kind::mutex, token_protocol},
    entry{lock_kind::mutex, hash_protocol},
    entry{lock_kind::mutex, timestamp_protocol},
    entry{lock_kind::mutex, timestamp_binary_protocol},
    entry{lock_kind::rw, queued_rw_protocol},
    entry{lock_kind::rw, two_key_protocol},
    entry{lock_kind::rw, rw_hash_protocol},
    entry{lock_kind::semaphore, queued_semaphore_protocol},
};

constexpr std::array kind_names = {"mutex", "read-write lock", "semaphore"};

}  // namespace

std::vector<const redis::script*> scripts_of(const protocol& rules) {
  std::vector<const redis::script*> scripts;
  for (const auto& row : rules.rows) {
    const bool is_new = std::find(scripts.begin(), scripts.end(), row.code) == scripts.end();
    if (row.code != nullptr && is_new) scripts.push_back(row.code);
  }
  return scripts;
}

const protocol* find_protocol(lock_kind kind, std::string_view name) {
  for (const auto& item : entries) {
    if (item.kind == kind && item.rules().name == name) return &item.rules();
  }
  return nullptr;
}

outcome no_such_protocol(lock_kind kind, std::string_view name) {
  std::string known;
  for (const auto& item : entries) {
    if (item.kind == kind) known.append(known.empty() ? "" : ", ").append(item.rules().name);
  }
  return outcome::of(status::unsupported,
                     std::string("protocol: a ") + kind_names.at(static_cast<std::size_t>(kind)) +
                         " has no protocol " + std::string(name) + "; give one of " + known);
}

}  // namespace mortise::lock
