// Looks through the keys of servers for locks, as far as it is allowed to: for holds of those who
// cannot tell of them, the dead and other programs. Each server is looked through by a dialogue of
// its own, step by step (SCAN), so none is held up; KEYS is never said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "protocol/command.hpp"
#include "protocol/listing.hpp"

namespace mortise::protocol {

struct key_scan_terms {
  std::string_view pattern;    // of names of keys, as SCAN's; empty for Mortise's own
  std::int64_t most_keys = 0;  // that are looked at, of each server
};

class key_scan {
 public:
  // So many keys are looked at in one step, and so many entries are kept in all.
  static constexpr std::int64_t step_keys = 1000;
  static constexpr std::size_t most_entries = 100'000;

  explicit key_scan(const key_scan_terms& terms);
  // With one server. The scan outlives it.
  std::unique_ptr<dialogue> begin();
  // What was found, and how many servers were looked through, and not to the end. The dialogues are
  // over.
  void take_into(listing& into);

 private:
  class part;

  [[nodiscard]] command step(part& of) const;
  bool take(const redis::value& reply);

  const bool is_own_;
  const std::string pattern_;
  const std::int64_t most_keys_;
  std::mutex mutex_;  // of the next, as servers answer at once
  listing found_;
};

}  // namespace mortise::protocol
