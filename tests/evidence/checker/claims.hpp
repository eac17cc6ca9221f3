// The holds in a history, as their owners report them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/checker/operation.hpp"
#include "support/history.hpp"

namespace mortise::evidence {

// What the liveness of one name is measured by.
struct lock_usage {
  struct span {
    std::int64_t from_ns;
    std::int64_t to_ns;
  };
  struct wait {
    std::int64_t call_ns;
    std::int64_t return_ns;
    bool is_granted;
  };
  std::vector<span> holds;  // until the release has certainly taken effect
  std::vector<wait> waits;
};

struct claims {
  // Each from its grant until it may have ended at the earliest.
  std::vector<testing::hold_record> holds;
  std::map<std::string_view, lock_usage> usage;
  // What an owner reports against the rules of one owner, such as a hold after its loss.
  std::vector<std::string> violations;
  std::size_t acquisitions = 0;
};

claims find_claims(const operation_history& history);

}  // namespace mortise::evidence
