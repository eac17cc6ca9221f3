#include "protocol/protocols.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "protocol/foreign/interop.hpp"

namespace mortise::protocol {

using lock::lock_kind;

namespace {

struct entry {
  lock_kind kind;
  const table& (*protocol)();
};

constexpr std::array entries = {
    entry{lock_kind::mutex, queued},
    entry{lock_kind::mutex, token},
    entry{lock_kind::mutex, hash},
    entry{lock_kind::mutex, timestamp},
    entry{lock_kind::mutex, timestamp_binary},
    entry{lock_kind::rw, queued_rw},
    entry{lock_kind::rw, two_key},
    entry{lock_kind::rw, rw_hash},
    entry{lock_kind::semaphore, queued_semaphore},
};

constexpr std::array kind_names = {"mutex", "read-write lock", "semaphore"};

}  // namespace

std::vector<const redis::script*> scripts_of(const table& protocol) {
  std::vector<const redis::script*> scripts;
  for (std::size_t i = 0; i < lock::step_count; ++i) {
    const auto& row = protocol.rows.of(static_cast<lock::step>(i));
    if (row.adopts) continue;  // rare: the request brings the text if the server needs it
    const auto* code = row.code;
    const bool is_new = std::find(scripts.begin(), scripts.end(), code) == scripts.end();
    if (code != nullptr && is_new) scripts.push_back(code);
  }
  if (protocol.renew_many != nullptr) scripts.push_back(protocol.renew_many);
  return scripts;
}

const table* find(lock_kind kind, std::string_view name) {
  for (const auto& item : entries) {
    if (item.kind == kind && item.protocol().facts.name == name) return &item.protocol();
  }
  return nullptr;
}

outcome no_such_protocol(lock_kind kind, std::string_view name) {
  std::string known;
  for (const auto& item : entries) {
    if (item.kind == kind)
      known.append(known.empty() ? "" : ", ").append(item.protocol().facts.name);
  }
  return outcome::of(status::unsupported,
                     std::string("protocol: a ") + kind_names.at(static_cast<std::size_t>(kind)) +
                         " has no protocol " + std::string(name) + "; give one of " + known);
}

}  // namespace mortise::protocol
