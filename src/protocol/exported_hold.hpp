// The text of an exported hold, its "id": what another handle needs to adopt it. It names no
// server, so it is the same in every deployment. A checksum detects edits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "lock/amount.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::protocol {

struct exported_hold {
  lock::lock_kind kind = lock::lock_kind::mutex;
  lock::amount amount;
  std::int64_t token = 0;           // the fencing token of the exporter
  std::int64_t valid_until_ms = 0;  // by the exporter's calendar, for people; the server decides
  std::string key_namespace;
  std::string name;
  std::string owner_token;
};

// Letters, digits, '-' and '.' only.
std::string text_of(const exported_hold& exported);
// ok, or why the text is not an exported hold.
outcome read_exported_hold(std::string_view text, exported_hold& exported);

}  // namespace mortise::protocol
