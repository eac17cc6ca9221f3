// simulation --seeds N [--first-seed S]     runs N seeds
// simulation --seconds N [--first-seed S]   runs seeds for N seconds
// simulation --seed S [--verbose]           runs one seed again
// Of the first two, --kind K runs only the seeds whose plan is of that kind, such as silent.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "simulation/run.hpp"

namespace {

using namespace mortise::simulation;

struct request {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1000;
  double seconds = 0;  // 0: no limit
  std::string kind;    // only these, if not empty
  bool is_verbose = false;
  bool is_understood = true;
};

// Of the runs of one kind. A stall is the time for which somebody healthy waits and nobody holds.
struct kind_facts {
  long long runs = 0;
  mortise::time_ns worst_stall = 0;
  std::uint64_t worst_seed = 0;
};

request read_arguments(int count, char** values) {
  request wanted;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    if (name == "--verbose") {
      wanted.is_verbose = true;
      continue;
    }
    if (i + 1 == count) {
      wanted.is_understood = false;
      break;
    }
    if (name == "--kind") {
      wanted.kind = values[++i];
      continue;
    }
    const auto value = std::strtoull(values[++i], nullptr, 10);
    if (name == "--seeds") {
      wanted.seeds = value;
    } else if (name == "--first-seed") {
      wanted.first_seed = value;
    } else if (name == "--seconds") {
      wanted.seconds = static_cast<double>(value);
      wanted.seeds = UINT64_MAX / 4;
    } else if (name == "--seed") {
      wanted.first_seed = value;
      wanted.seeds = 1;
    } else {
      wanted.is_understood = false;
    }
  }
  return wanted;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = read_arguments(argc, argv);
  if (!wanted.is_understood) {
    std::fprintf(stderr,
                 "usage: simulation [--seeds N | --seconds N | --seed S] [--first-seed S] "
                 "[--kind K] [--verbose]\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  counters seen;
  std::map<std::string, kind_facts> kinds;
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  for (; runs < wanted.seeds && failed == 0; ++runs) {
    if (wanted.seconds > 0 && seconds_since(start) > wanted.seconds) break;
    const auto seed = wanted.first_seed + runs;
    if (!wanted.kind.empty() && make_plan(seed).kind != wanted.kind) continue;
    run one(make_plan(seed), wanted.is_verbose);
    const auto& violations = one.go();
    seen.add(one.seen());
    auto& kind = kinds[make_plan(seed).kind];
    ++kind.runs;
    if (one.worst_stall() >= kind.worst_stall) {
      kind.worst_stall = one.worst_stall();
      kind.worst_seed = seed;
    }
    if (violations.empty()) continue;
    ++failed;
    std::printf("seed %llu (%s) failed:\n", static_cast<unsigned long long>(seed),
                make_plan(seed).kind.c_str());
    for (const auto& what : violations) std::printf("  %s\n", what.c_str());
    std::printf("  again: simulation --seed %llu --verbose\n",
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);
  }
  for (const auto& [kind, facts] : kinds) {
    std::printf("%-16s %7lld runs, longest stall %lld ms (seed %llu)\n", kind.c_str(), facts.runs,
                static_cast<long long>(facts.worst_stall / mortise::ns_per_ms),
                static_cast<unsigned long long>(facts.worst_seed));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count::size); ++i) {
    const auto which = static_cast<mortise::simulation::count>(i);
    std::printf("%-16s %9lld\n", count_name(which), static_cast<long long>(seen[which]));
  }
  std::printf("%llu runs, %llu failed, %.1f s\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(failed), seconds_since(start));
  return failed == 0 ? 0 : 1;
}
