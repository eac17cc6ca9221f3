#include "evidence/checker/guarded_register.hpp"

#include <algorithm>
#include <map>

namespace mortise::evidence {

namespace {

using writes = std::vector<const operation*>;

void report(const char* what, const operation& one, std::int64_t highest,
            std::vector<std::string>& found) {
  found.push_back("\"" + std::string(one.name) + "\": a write with token " +
                  std::to_string(one.token) + " at " + std::to_string(one.call_ns) + " ns " + what +
                  " " + std::to_string(highest));
}

void check_name(const writes& all, std::vector<std::string>& found) {
  auto calls = all;
  auto returns = all;
  std::sort(calls.begin(), calls.end(),
            [](const auto* left, const auto* right) { return left->call_ns < right->call_ns; });
  std::sort(returns.begin(), returns.end(),
            [](const auto* left, const auto* right) { return left->return_ns < right->return_ns; });
  // The highest token that the register had certainly seen before a call.
  std::int64_t highest = 0;
  std::size_t returned = 0;
  for (const auto* one : calls) {
    for (; returned < returns.size() && returns[returned]->return_ns < one->call_ns; ++returned) {
      const auto& before = *returns[returned];
      highest = std::max({highest, before.highest, before.is_accepted ? before.token : 0});
    }
    if (one->is_accepted) {
      if (one->token < highest) report("is accepted after token", *one, highest, found);
    } else if (one->highest <= one->token) {
      report("is refused because of token", *one, one->highest, found);
    } else if (one->highest < highest) {
      report("is refused by a register that had already seen token", *one, highest, found);
    }
  }
}

}  // namespace

std::vector<std::string> check_writes(const operation_history& history) {
  std::map<std::string_view, writes> names;
  for (const auto& one : history.operations) {
    if (one.op == "write") names[one.name].push_back(&one);
  }
  std::vector<std::string> found;
  for (const auto& [name, all] : names) check_name(all, found);
  return found;
}

}  // namespace mortise::evidence
