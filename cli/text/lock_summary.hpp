// The state of one lock at all clients.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "cli/text/listing.hpp"
#include "cli/text/wait_histogram.hpp"

namespace mortise::cli {

struct lock_summary {
  std::string kind;
  std::string holder;  // the first holder
  std::string label;
  int64_t holders = 0;
  int64_t retained = 0;     // number of clients that retain it for their next acquire
  bool is_unheard = false;  // only a key shows the holder
  int64_t token = 0;
  int64_t held_ms = 0;
  int64_t time_left_ms = 0;
  int64_t waiters = 0;
  int64_t waited_ms = 0;  // the longest wait
  // Totals since each client first had handles of the lock.
  struct traffic {
    int64_t grants = 0;
    int64_t waited_total_ms = 0;
    wait_histogram waits;
  };
  std::map<std::string, traffic> traffic_of;  // by client

  bool is_in_use() const { return holders > 0 || waiters > 0 || retained > 0; }
  // Such as "build7:4711 +2", "(retained)", or "-" without a holder.
  std::string holder_text() const;
};

// By lock name.
std::map<std::string, lock_summary> summaries_of(const listing& seen);
// Adds holds of the servers' keys that no later reply of a client covers.
void add_unheard(std::map<std::string, lock_summary>& locks, const listing& scanned,
                 const std::set<std::string>& heard);

// The text of a table cell.
std::string text_or_dash(bool is_there, const std::string& text);

}  // namespace mortise::cli
