// The beliefs of holders, and the check that no more of them believed to hold at once than may. A
// history may come from the simulation or from real processes. It has one line for each hold,
//
//   hold <name> <holder> <token> <start ns> <end ns> [<permits> <capacity>]
//
// with permits of the capacity for a part of a lock that many can share, and with name and holder
// percent-encoded. All times are of one clock that all processes share. A hold begins with the
// report of its grant. It ends with the request to unlock, its deadline or the report of its loss,
// whichever was first. One without a length was over when its holder first looked, because its
// process had been stopped.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::testing {

struct hold_record {
  std::string name;
  std::string holder;
  std::int64_t token = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t permits = 1;   // how much of the lock was held,
  std::int64_t capacity = 1;  // of how much there is at most
  // No other owner can hold at the same time: a mutex, a writer.
  [[nodiscard]] bool is_whole() const { return permits >= capacity; }
  bool operator==(const hold_record&) const = default;
};

struct history_rules {
  // Off where the server lost its data or its clock stepped: then two leases may overlap, and
  // tokens only have to be different.
  bool is_exclusive = true;
};

// One sentence for each violation, at most `most`; empty when the history is good. O(n log n).
//  - Holds of one name that overlap have no more permits than the capacity together.
//  - A hold that ended before another began has the lower token, if either was a whole one.
//  - No whole hold has the same token as another, except that its holder may have kept a part.
//  - All tokens are positive.
std::vector<std::string> check_history(std::vector<hold_record> history,
                                       const history_rules& rules = {}, std::size_t most = 10);

void write_history(std::ostream& out, const std::vector<hold_record>& history);
// False when a line is not as above; what was read so far is kept, empty lines are skipped.
bool read_history(std::istream& in, std::vector<hold_record>& history);

}  // namespace mortise::testing
