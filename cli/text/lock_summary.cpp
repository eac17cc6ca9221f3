#include "cli/text/lock_summary.hpp"

#include <algorithm>
#include <utility>

#include "cli/text/text_table.hpp"

namespace mortise::cli {

std::string lock_summary::holder_text() const {
  if (holders == 0 && retained > 0) return "(retained)";
  auto text = text_or_dash(holders > 0, printable_of(holder));
  if (holders > 1) text += " +" + std::to_string(holders - 1);
  return text;
}

std::map<std::string, lock_summary> summaries_of(const listing& seen) {
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
    if (seen.number(index, "retained") > 0) ++one.retained;
    const auto holds = seen.number(index, "holds");
    const bool is_first_holder = holds > 0 && one.holders == 0;
    one.holders += holds;
    if (!is_first_holder) continue;
    one.holder = seen.text(index, "host") + ":" + std::to_string(seen.number(index, "pid"));
    one.label = seen.text(index, "label");
    one.token = seen.number(index, "token");
    one.held_ms = seen.number(index, "held_ms");
    one.time_left_ms = seen.number(index, "time_left_ms");
  }
  return locks;
}

// A client's reply is newer than the scan, so it wins over the key. In a quorum each server returns
// the same lock.
void add_unheard(std::map<std::string, lock_summary>& locks, const listing& scanned,
                 const std::set<std::string>& heard) {
  std::set<std::pair<std::string, std::string>> seen;
  for (int64_t index = 0; index < scanned.size(); ++index) {
    const auto name = scanned.text(index, "name");
    const auto client = scanned.text(index, "client");
    if (heard.count(client) > 0 || !seen.insert({name, client}).second) continue;
    auto& one = locks[name];
    // A key without a client ID may belong to a client that replied.
    if (client.empty() && one.holders > 0) continue;
    one.holders += scanned.number(index, "holds");
    if (one.holders > scanned.number(index, "holds")) continue;  // the first holder is set already
    one.is_unheard = true;
    one.kind = scanned.text(index, "kind");
    one.holder = "(" + (client.empty() ? "unknown" : client) + ")";
    one.label = scanned.text(index, "label");
    one.time_left_ms = scanned.number(index, "time_left_ms");
  }
}

std::string text_or_dash(bool is_there, const std::string& text) { return is_there ? text : "-"; }

}  // namespace mortise::cli
