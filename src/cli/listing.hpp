// What all living clients say of their locks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/handles.hpp"

namespace mortise::cli {

class listing {
 public:
  // Asks them, and waits so long for those that do not answer. Throws a failure.
  listing(mortise_client* client, int64_t wait_ms, mortise_error* error);
  // What the servers' keys tell.
  struct scan_terms {
    std::string pattern;  // none: Mortise's own
    int64_t most_keys = 0;
    int64_t wait_ms = 0;
  };
  listing(mortise_client* client, const scan_terms& terms, mortise_error* error);

  const char* json() const { return mortise_listing_json(listing_.get()); }
  int64_t size() const { return mortise_listing_count(listing_.get()); }
  std::string text(int64_t index, std::string_view key) const;
  int64_t number(int64_t index, std::string_view key) const;

  // The servers that did not answer: [{"server": …, "why": …}, …]
  const nlohmann::json& missing() const { return missing_; }
  // The clients that it has not seen, in words; "" if it has seen all.
  std::string gaps() const;
  // The same of a scan.
  std::string gaps_of_scan() const;

 private:
  listing_handle listing_;
  nlohmann::json missing_;
};

// Servers that did not answer, each in words.
std::vector<std::string> texts_of_missing(const nlohmann::json& missing);
// Complains of each, and returns what a command ends with that went on without them.
int exit_code_without(const nlohmann::json& missing, const char* command);

}  // namespace mortise::cli
