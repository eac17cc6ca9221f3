#include "cli/commands/top.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"
#include "cli/text/lock_summary.hpp"
#include "cli/text/screen.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const top_help = R"HELP(Shows the locks with the most waiters, continuously.

  mortise top
  mortise top --once --every 10s

Usage: mortise top [OPTION...]

      --every TIME  time between two readings, 100ms to 1m (default: 2s)
      --once        print the locks after two readings and exit. Needs no terminal
      --json        as --once, but print JSON
      --url URL     servers of the locks (default: $MORTISE_URL)
  -h, --help        print this help

Locks with the most waiters come first, then those with the most grants. GRANTS/S and the columns
after it cover the time since the last reading. MEAN WAIT is the mean wait of the grants. Half of
them waited at most P50, and 99 of 100 at most P99. It asks all living clients, as mortise list
does. The key q ends it.

If a server does not answer, it names the server and continues. Exit codes: 0; with --once, 75 if a
server did not answer; 64 and above as in mortise exec.
)HELP";

using clock = std::chrono::steady_clock;

struct reading {
  clock::time_point at;
  std::map<std::string, lock_summary> locks;
  std::string gaps;
  nlohmann::json missing;
};

struct line {
  std::string name;
  lock_summary lock;
  double grants_per_s = 0;
  double mean_wait_ms = 0;
  wait_histogram waits;
};

reading read(mortise_client* client, int64_t wait_ms, mortise_error* error) {
  const listing seen(client, wait_ms, error);
  return {clock::now(), summaries_of(seen), seen.gaps(), seen.missing()};
}

// An unreachable server may reply at the next reading.
reading read_or_wait(mortise_client* client, int64_t wait_ms, mortise_error* error) try {
  return read(client, wait_ms, error);
} catch (const failure& problem) {
  if (problem.code() != exit_unavailable && problem.code() != exit_try_again) throw;
  return {clock::now(), {}, problem.what(), nlohmann::json::array()};
}

// Counts only clients in both readings. The counters of the others started at an unknown time.
lock_summary::traffic traffic_between(const lock_summary& before, const lock_summary& now) {
  lock_summary::traffic sum;
  for (const auto& [client, one] : now.traffic_of) {
    const auto known = before.traffic_of.find(client);
    if (known == before.traffic_of.end()) continue;
    sum.grants += std::max<int64_t>(0, one.grants - known->second.grants);
    sum.waited_total_ms +=
        std::max<int64_t>(0, one.waited_total_ms - known->second.waited_total_ms);
    sum.waits.add_since(known->second.waits, one.waits);
  }
  return sum;
}

std::vector<line> lines_of(const reading& before, const reading& now) {
  const std::chrono::duration<double> apart = now.at - before.at;
  std::vector<line> lines;
  for (const auto& [name, lock] : now.locks) {
    line one{name, lock, 0, 0, {}};
    if (const auto known = before.locks.find(name); known != before.locks.end()) {
      const auto traffic = traffic_between(known->second, lock);
      const auto grants = static_cast<double>(traffic.grants);
      if (apart.count() > 0) one.grants_per_s = grants / apart.count();
      one.waits = traffic.waits;
      if (traffic.grants > 0) {
        one.mean_wait_ms = static_cast<double>(traffic.waited_total_ms) / grants;
      }
    }
    if (lock.is_in_use() || one.grants_per_s > 0) lines.push_back(std::move(one));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const line& one, const line& other) {
    if (one.lock.waiters != other.lock.waiters) return one.lock.waiters > other.lock.waiters;
    return one.grants_per_s > other.grants_per_s;
  });
  return lines;
}

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, number < 10 ? "%.1f" : "%.0f", number);
  return text;
}

// Waits above the last bound, one minute, have no known length.
std::string percentile_text(const line& row, double part) {
  const auto found = row.waits.percentile_ms(part);
  if (!found) return "-";
  if (std::isinf(*found)) return ">1m";
  char text[32];
  const bool is_long = *found >= 1000;
  std::snprintf(text, sizeof text, "%g%s", is_long ? *found / 1000 : *found, is_long ? "s" : "ms");
  return text;
}

nlohmann::json percentile_json(const line& row, double part) {
  const auto found = row.waits.percentile_ms(part);
  return found && !std::isinf(*found) ? nlohmann::json(*found) : nlohmann::json();
}

text_table table_of(const std::vector<line>& lines) {
  text_table table({"NAME", "KIND", "HOLDER", "LEFT", "WAITERS", "LONGEST", "GRANTS/S", "MEAN WAIT",
                    "P50", "P99"});
  for (const auto& one : lines) {
    const auto& lock = one.lock;
    table.add({printable_of(one.name), lock.kind, lock.holder_text(),
               text_or_dash(lock.holders > 0, rough_text_of(lock.time_left_ms)),
               std::to_string(lock.waiters),
               text_or_dash(lock.waiters > 0, rough_text_of(lock.waited_ms)),
               short_number(one.grants_per_s), short_number(one.mean_wait_ms) + "ms",
               percentile_text(one, 0.5), percentile_text(one, 0.99)});
  }
  return table;
}

std::string json_of(const std::vector<line>& lines, const nlohmann::json& missing) {
  auto all = nlohmann::json::array();
  for (const auto& one : lines) {
    all.push_back({{"name", one.name},
                   {"kind", one.lock.kind},
                   {"holder", one.lock.holder},
                   {"holders", one.lock.holders},
                   {"time_left_ms", one.lock.time_left_ms},
                   {"waiters", one.lock.waiters},
                   {"waited_ms", one.lock.waited_ms},
                   {"grants_per_s", one.grants_per_s},
                   {"mean_wait_ms", one.mean_wait_ms},
                   {"p50_wait_ms", percentile_json(one, 0.5)},
                   {"p99_wait_ms", percentile_json(one, 0.99)}});
  }
  return nlohmann::json({{"locks", all}, {"missing", missing}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct top_request {
  std::string url;
  int64_t every_ms = 0;
  bool is_once = false;
  bool is_json = false;
};

// Waits for silent clients no longer than half the interval between readings.
int64_t patience_ms(const top_request& request) {
  return std::max<int64_t>(request.every_ms / 2, 50);
}

int show_once(mortise_client* client, const top_request& request, mortise_error* error) {
  const auto before = read(client, patience_ms(request), error);
  std::this_thread::sleep_for(std::chrono::milliseconds(request.every_ms));
  const auto now = read(client, patience_ms(request), error);
  const auto lines = lines_of(before, now);
  if (request.is_json) {
    std::puts(json_of(lines, now.missing).c_str());
  } else {
    table_of(lines).print();
  }
  if (!now.gaps.empty()) complain("top", now.gaps);
  return exit_code_without(now.missing, "top");
}

std::string page_of(const std::vector<line>& lines, const reading& now, size_t width) {
  auto title = std::to_string(lines.size()) + (lines.size() == 1 ? " lock" : " locks") +
               (now.gaps.empty() ? "" : "; " + now.gaps);
  for (const auto& text : texts_of_missing(now.missing)) title += "\n" + text;
  return title + "\n" + table_of(lines).text(width);
}

void show_on(mortise_client* client, const top_request& request, mortise_error* error) {
  auto before = read(client, patience_ms(request), error);
  auto now = before;
  screen terminal;
  auto next = clock::now();
  while (true) {
    const auto lines = lines_of(before, now);
    terminal.show(page_of(lines, now, terminal.width()));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - clock::now());
    const int key = terminal.await_key(std::max<int64_t>(left.count(), 0));
    if (key == 'q' || key == 'Q') return;
    if (clock::now() < next) continue;
    before = std::exchange(now, read_or_wait(client, patience_ms(request), error));
    next = clock::now() + std::chrono::milliseconds(request.every_ms);
  }
}

}  // namespace

int watch_locks(int argc, const char* const* argv) {
  CLI::App app;
  top_request request;
  std::string every = "2s";
  app.add_option("--every", every);
  app.add_flag("--once", request.is_once);
  app.add_flag("--json", request.is_json);
  app.add_option("--url", request.url);
  if (!read_arguments(app, "top", top_help, argc, argv)) return exit_ok;
  constexpr int64_t shortest_ms = 100;
  constexpr int64_t longest_ms = 60'000;
  request.every_ms = milliseconds_of("--every", every);
  if (request.every_ms < shortest_ms || request.every_ms > longest_ms) {
    throw failure(exit_usage, "--every " + every + " is out of range; give 100ms to 1m");
  }
  const bool has_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (!request.is_once && !request.is_json && !has_terminal) {
    throw failure(exit_usage, "no terminal; give --once");
  }
  const error_handle error(mortise_error_new());
  const auto client = connect_to_look(request.url, error.get());
  if (request.is_once || request.is_json) {
    return show_once(client.get(), request, error.get());
  }
  show_on(client.get(), request, error.get());
  return exit_ok;
}

}  // namespace mortise::cli
