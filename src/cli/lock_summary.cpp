#include "cli/lock_summary.hpp"

#include <algorithm>

#include "cli/text_table.hpp"

namespace mortise::cli {

std::string lock_summary::holder_text() const {
  auto text = text_or_dash(holders > 0, printable_of(holder));
  if (holders > 1) text += " +" + std::to_string(holders - 1);
  return text;
}

std::map<std::string, lock_summary> summaries_of(const census& seen) {
  std::map<std::string, lock_summary> locks;
  for (int64_t index = 0; index < seen.size(); ++index) {
    auto& one = locks[seen.text(index, "name")];
    one.kind = seen.text(index, "kind");
    auto& traffic = one.traffic_of[seen.text(index, "client")];
    traffic.grants += seen.number(index, "grants");
    traffic.waited_total_ms += seen.number(index, "waited_total_ms");
    traffic.waits.add(seen.text(index, "waits"));
    one.waiters += seen.number(index, "waiters");
    one.waited_ms = std::max(one.waited_ms, seen.number(index, "waited_ms"));
    const bool is_first_holder = seen.number(index, "holds") > 0 && ++one.holders == 1;
    if (!is_first_holder) continue;
    one.holder = seen.text(index, "host") + ":" + std::to_string(seen.number(index, "pid"));
    one.label = seen.text(index, "label");
    one.token = seen.number(index, "token");
    one.held_ms = seen.number(index, "held_ms");
    one.time_left_ms = seen.number(index, "time_left_ms");
  }
  return locks;
}

std::string text_or_dash(bool is_there, const std::string& text) { return is_there ? text : "-"; }

}  // namespace mortise::cli
