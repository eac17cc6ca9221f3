// Runs seeds of the simulation until one fails; `lock_simulation --help` lists its options.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "simulation/lock/run.hpp"

namespace {

using namespace mortise::simulation;

struct request {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1000;
  double seconds = 0;  // 0: no limit
  std::string kind;    // only these, if not empty
  std::string trace;   // a file
  bool is_verbose = false;
};

// Of the runs of one kind. A stall is the time for which a healthy waiter waits without a holder.
struct kind_facts {
  long long runs = 0;
  mortise::time_ns worst_stall = 0;
  std::uint64_t worst_seed = 0;
};

// Of all runs.
struct totals {
  counters seen;
  std::map<std::string, kind_facts> kinds;
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_failure(std::uint64_t seed, const std::string& kind,
                   const std::vector<std::string>& violations) {
  std::printf("seed %llu (%s) failed:\n", static_cast<unsigned long long>(seed), kind.c_str());
  for (const auto& what : violations) std::printf("  %s\n", what.c_str());
  std::printf("  again: lock_simulation --seed %llu --verbose\n",
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

void run_seed(std::uint64_t seed, const request& expected, totals& all) {
  const auto plan = make_plan(seed);
  if (!expected.kind.empty() && plan.kind != expected.kind) return;
  run one(plan, expected.is_verbose, expected.trace);
  const auto& violations = one.go();
  all.seen.add(one.seen());
  auto& kind = all.kinds[plan.kind];
  ++kind.runs;
  if (one.worst_stall() >= kind.worst_stall) {
    kind.worst_stall = one.worst_stall();
    kind.worst_seed = seed;
  }
  if (violations.empty()) return;
  ++all.failed;
  print_failure(seed, plan.kind, violations);
}

int run_seeds(const request& expected) {
  const auto start = std::chrono::steady_clock::now();
  totals all;
  for (; all.runs < expected.seeds && all.failed == 0; ++all.runs) {
    if (expected.seconds > 0 && seconds_since(start) > expected.seconds) break;
    run_seed(expected.first_seed + all.runs, expected, all);
  }
  for (const auto& [kind, facts] : all.kinds) {
    std::printf("%-16s %7lld runs, longest stall %lld ms (seed %llu)\n", kind.c_str(), facts.runs,
                static_cast<long long>(facts.worst_stall / mortise::ns_per_ms),
                static_cast<unsigned long long>(facts.worst_seed));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count::size); ++i) {
    const auto which = static_cast<count>(i);
    std::printf("%-16s %9lld\n", count_name(which), static_cast<long long>(all.seen[which]));
  }
  std::printf("%llu runs, %llu failed, %.1f s\n", static_cast<unsigned long long>(all.runs),
              static_cast<unsigned long long>(all.failed), seconds_since(start));
  return all.failed == 0 ? 0 : 1;
}

// CLI11 would take -1 for the largest number.
std::string is_number(const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos) return {};
  return text + " is not a whole number from 0 on";
}

}  // namespace

int main(int argc, char** argv) {
  request expected;
  std::uint64_t seed = 0;
  CLI::App line("Runs histories, each made from a seed, until one breaks a promise.",
                "lock_simulation");
  const auto add_number = [&](const char* name, auto& value, const char* what) {
    return line.add_option(name, value, what)->check(is_number)->type_name("N");
  };
  auto* seeds = add_number("--seeds", expected.seeds, "how many; default 1000");
  auto* seconds = add_number("--seconds", expected.seconds, "how long, in place of how many");
  auto* first = add_number("--first-seed", expected.first_seed, "where to begin; default 1");
  auto* single = add_number("--seed", seed, "this one again");
  seconds->excludes(seeds);
  single->excludes(seeds)->excludes(seconds)->excludes(first);
  line.add_option("--kind", expected.kind, "only seeds whose plan is of that kind, such as silent");
  line.add_flag("--verbose", expected.is_verbose, "tell all that happens");
  line.add_option("--trace", expected.trace, "write what happens to the mutexes to this file")
      ->needs(single);
  try {
    line.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return line.exit(problem) == 0 ? 0 : 2;
  }
  if (!single->empty()) {
    expected.first_seed = seed;
    expected.seeds = 1;
  }
  if (!seconds->empty()) expected.seeds = UINT64_MAX / 4;
  return run_seeds(expected);
}
