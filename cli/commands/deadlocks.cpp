#include "cli/commands/deadlocks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/named_lock.hpp"
#include "cli/period.hpp"
#include "cli/text/listing.hpp"
#include "cli/text/text_table.hpp"
#include "src/protocol/listing/wait_graph.hpp"

namespace mortise::cli {
namespace {

using protocol::lock_use;
using protocol::wait_graph;

constexpr int exit_deadlocks = 2;

// A text of a listing ends at its first NUL, and JSON has no bytes but UTF-8. Locks with different
// names must stay different, because a common name would make a circle that is none.
std::string name_of(const listing& seen, const nlohmann::json& entries, int64_t index) {
  const auto& entry = entries.at(static_cast<std::size_t>(index));
  const auto& name = entry.at("name").get_ref<const std::string&>();
  return name.find('\0') == std::string::npos ? seen.text(index, "name") : name;
}

std::vector<wait_graph::entry> entries_of(const listing& seen) {
  std::vector<wait_graph::entry> entries;
  const auto json = nlohmann::json::parse(seen.json()).at("entries");
  for (int64_t index = 0; index < seen.size(); ++index) {
    entries.push_back({seen.text(index, "client"), seen.text(index, "host"),
                       seen.number(index, "pid"), seen.text(index, "label"),
                       name_of(seen, json, index), seen.text(index, "kind"),
                       seen.text(index, "threads")});
  }
  return entries;
}

std::string number_of(const protocol::lock_thread& thread) {
  return (thread.is_task ? "task " : "") + std::to_string(thread.number);
}

// How long the youngest wait of the circle has lasted.
int64_t lasted_ms(const wait_graph::deadlock& found) {
  return std::min_element(found.begin(), found.end(),
                          [](const auto& one, const auto& other) {
                            return one.wait->lasted_ms < other.wait->lasted_ms;
                          })
      ->wait->lasted_ms;
}

void print(const wait_graph& graph) {
  for (const auto& found : graph.deadlocks()) {
    std::printf("deadlock of %s for %s\n", count_text(found.size(), "thread").c_str(),
                rough_text_of(lasted_ms(found)).c_str());
    text_table table({"HOLDS", "FOR", "WAITS FOR", "FOR", "HOST", "PID", "THREAD", "LABEL"});
    for (const auto& [thread, hold, wait] : found) {
      table.add({printable_of(graph.at(*hold).name), rough_text_of(hold->lasted_ms),
                 printable_of(graph.at(*wait).name), rough_text_of(wait->lasted_ms),
                 printable_of(thread->host), std::to_string(thread->pid), number_of(*thread),
                 printable_of(thread->label)});
    }
    table.print();
  }
  std::printf("%s among %s\n", count_text(graph.deadlocks().size(), "deadlock").c_str(),
              count_text(graph.waiting(), "waiting thread").c_str());
  if (graph.behind() > 0) {
    std::printf("%s behind them\n", count_text(graph.behind(), "thread").c_str());
  }
}

nlohmann::json json_of(const wait_graph& graph, const lock_use& use) {
  const auto& lock = graph.at(use);
  return {{"name", lock.name},
          {"kind", lock.kind},
          {"mode", use.is_exclusive ? "exclusive" : "shared"},
          {"permits", use.permits},
          {"lasted_ms", use.lasted_ms}};
}

nlohmann::json json_of(const wait_graph& graph, const listing& seen) {
  auto all = nlohmann::json::array();
  for (const auto& found : graph.deadlocks()) {
    auto threads = nlohmann::json::array();
    for (const auto& [thread, hold, wait] : found) {
      threads.push_back({{"client", thread->client},
                         {"host", thread->host},
                         {"pid", thread->pid},
                         {"thread", thread->number},
                         {"is_task", thread->is_task},
                         {"label", thread->label},
                         {"holds", json_of(graph, *hold)},
                         {"waits_for", json_of(graph, *wait)}});
    }
    all.push_back({{"lasted_ms", lasted_ms(found)}, {"threads", threads}});
  }
  return {{"deadlocks", all},
          {"waiting_threads", graph.waiting()},
          {"threads_behind", graph.behind()},
          {"missing", seen.missing()}};
}

}  // namespace

int report_deadlocks(mortise_client* client, int64_t wait_ms, bool is_json, mortise_error* error) {
  const auto begin = std::chrono::steady_clock::now();
  const listing seen(client, wait_ms, error);
  const auto taken =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  // The server knows a change of the permits, and the clients may not.
  int code_without_permits = exit_ok;
  const auto capacity_of = [&](const std::string& name) {
    try {
      const named_lock semaphore(client, name, error);
      return mortise_info_permits(semaphore.info());
    } catch (const failure& why) {
      complain("doctor", "waits for the permits of \"" + printable_of(name) +
                             "\" are omitted: " + why.what());
      code_without_permits = why.code();
      return std::numeric_limits<int64_t>::max();
    }
  };
  const wait_graph graph(entries_of(seen), taken.count(), capacity_of);
  if (is_json) {
    const auto replace = nlohmann::json::error_handler_t::replace;
    std::puts(json_of(graph, seen).dump(-1, ' ', false, replace).c_str());
  } else {
    print(graph);
  }
  if (const auto gaps = seen.gaps(); !gaps.empty()) complain("doctor", gaps);
  const auto code_without_servers = exit_code_without(seen.missing(), "doctor");
  if (!graph.deadlocks().empty()) return exit_deadlocks;
  return code_without_permits != exit_ok ? code_without_permits : code_without_servers;
}

}  // namespace mortise::cli
