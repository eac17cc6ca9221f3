// What a protected resource does: it takes no token that is lower than the highest it has seen.
#pragma once

#include <cstdint>

namespace mortise::testing {

class fenced_store {
 public:
  bool write(std::int64_t token) {
    if (token < highest_) return false;
    highest_ = token;
    return true;
  }

 private:
  std::int64_t highest_ = 0;
};

}  // namespace mortise::testing
