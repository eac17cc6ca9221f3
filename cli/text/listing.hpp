// The locks of all live clients.
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
  // Requests a listing and waits this long for silent clients. Throws a failure.
  listing(mortise_client* client, int64_t wait_ms, mortise_error* error);
  // A scan of the servers' keys.
  struct scan_terms {
    std::string pattern;  // empty: Mortise's own keys
    int64_t most_keys = 0;
    int64_t wait_ms = 0;
  };
  listing(mortise_client* client, const scan_terms& terms, mortise_error* error);

  // The history of a lock.
  struct history_terms {
    std::string name;
    int64_t window_ms = 0;
    int64_t wait_ms = 0;
  };
  listing(mortise_client* client, const history_terms& terms, mortise_error* error);

  const char* json() const { return mortise_listing_json(listing_.get()); }
  int64_t answered() const { return mortise_listing_answered(listing_.get()); }
  int64_t size() const { return mortise_listing_count(listing_.get()); }
  std::string text(int64_t index, std::string_view key) const;
  int64_t number(int64_t index, std::string_view key) const;

  // The servers that did not reply: [{"server": …, "why": …}, …]
  const nlohmann::json& missing() const { return missing_; }
  // A text with the clients that the listing lacks; "" if it is complete.
  std::string gaps() const;
  // The same for a scan.
  std::string gaps_of_scan() const;

 private:
  listing_handle listing_;
  nlohmann::json missing_;
};

// A text for each server that did not reply.
std::vector<std::string> texts_of_missing(const nlohmann::json& missing);
// Reports each missing server. Returns the exit code of a command that continued without them.
int exit_code_without(const nlohmann::json& missing, const char* command);

}  // namespace mortise::cli
