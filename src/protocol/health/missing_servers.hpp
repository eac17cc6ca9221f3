// Servers that did not reply to a request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace mortise::protocol {

class missing_servers {
 public:
  struct server {
    std::string name;
    std::string why;
  };

  void add(std::string_view name, const outcome& why) {
    if (!has(name)) all_.push_back({std::string(name), std::string(why.words())});
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept {
    for (const auto& one : all_) {
      if (one.name == name) return true;
    }
    return false;
  }
  [[nodiscard]] const std::vector<server>& all() const noexcept { return all_; }

 private:
  std::vector<server> all_;
};

}  // namespace mortise::protocol
