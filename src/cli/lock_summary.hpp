// All that clients have to do with one lock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "cli/listing.hpp"
#include "cli/wait_histogram.hpp"

namespace mortise::cli {

struct lock_summary {
  std::string kind;
  std::string holder;  // the first that holds
  std::string label;
  int64_t holders = 0;
  int64_t retained = 0;     // by so many clients for their next acquire
  bool is_unheard = false;  // only a key tells of who holds
  int64_t token = 0;
  int64_t held_ms = 0;
  int64_t time_left_ms = 0;
  int64_t waiters = 0;
  int64_t waited_ms = 0;  // the longest
  // Since each client has handles of the lock.
  struct traffic {
    int64_t grants = 0;
    int64_t waited_total_ms = 0;
    wait_histogram waits;
  };
  std::map<std::string, traffic> traffic_of;  // by client

  bool is_in_use() const { return holders > 0 || waiters > 0 || retained > 0; }
  // Such as "build7:4711 +2", "(retained)", or "-" where nobody holds.
  std::string holder_text() const;
};

// By the names of the locks.
std::map<std::string, lock_summary> summaries_of(const listing& seen);
// Adds what is held by the keys of the servers, and by none of the clients that were heard later.
void add_unheard(std::map<std::string, lock_summary>& locks, const listing& scanned,
                 const std::set<std::string>& heard);

// A cell of a table.
std::string text_or_dash(bool is_there, const std::string& text);

}  // namespace mortise::cli
