// Scans the keys of servers for locks, within limits. It finds holds that no client reports: those
// of dead clients and of other programs. Each server has a dialogue of its own with small steps
// (SCAN), so no server is blocked. KEYS is never used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "protocol/command.hpp"
#include "protocol/listing/listing.hpp"

namespace mortise::protocol {

struct key_scan_terms {
  std::string_view pattern;    // of key names, as in SCAN; empty for Mortise's own
  std::int64_t most_keys = 0;  // limit per server
  std::string prefix = {};     // of Mortise's own
};

class key_scan {
 public:
  // Limits: keys per step, and entries of the whole scan.
  static constexpr std::int64_t step_keys = 1000;
  static constexpr std::size_t most_entries = 100'000;

  explicit key_scan(const key_scan_terms& terms);
  // The dialogue with one server. The scan outlives it.
  std::unique_ptr<dialogue> begin();
  // The entries, the number of scanned servers, and the number of incomplete ones. The dialogues
  // are over.
  void take_into(listing& result);

 private:
  class part;

  [[nodiscard]] command step(part& server) const;
  bool take(const redis::value& reply);

  const std::string own_begin_;  // of the name of a lock; empty in a scan for other programs' keys
  const std::string pattern_;
  const std::int64_t most_keys_;
  std::mutex mutex_;  // for the members below, because servers reply concurrently
  listing found_;
};

}  // namespace mortise::protocol
