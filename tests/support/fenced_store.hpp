// What a protected resource does: it refuses a token that is lower than the highest that has
// written.
#pragma once

#include <cstdint>

namespace mortise::testing {

class fenced_store {
 public:
  bool read(std::int64_t token) const { return token >= highest_; }
  bool write(std::int64_t token) {
    if (token < highest_) return false;
    highest_ = token;
    return true;
  }

 private:
  std::int64_t highest_ = 0;
};

}  // namespace mortise::testing
