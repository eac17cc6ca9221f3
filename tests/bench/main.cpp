// bench: measures every figure that the library promises, each against its reference in the same
// run, and prints the table of them with a verdict. Timings never make it fail; it fails when
// something does not run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "experiment.hpp"

namespace mortise::bench {

namespace {

constexpr const char* usage =
    "usage: bench [OPTION]…\n"
    "Measures each figure against its reference and prints the table of them.\n"
    "\n"
    "  --only ROW        only this row, or all whose name begins so; may be repeated\n"
    "  --list            the rows' names, without measuring\n"
    "  --quick           fewer rounds: sooner done, and less exact\n"
    "  --raw             the absolute numbers behind each row\n"
    "  --server PROGRAM  the server to start instead of redis-server, such as valkey-server\n"
    "  --tcp             over loopback TCP instead of unix sockets\n"
    "  --url URL         a server that is there already (unix:///path or redis://host:port)\n"
    "                    and that nobody else uses; the bench leaves keys there that expire\n"
    "  --help            this text\n";

struct command_line {
  settings chosen;
  std::vector<std::string> only;
  bool with_raw = false;
  bool lists = false;
  bool wants_help = false;
  std::string problem;
};

command_line parse(int argc, char** argv) {
  command_line line;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 < argc) return argv[++i];
      line.problem = word + " needs a value";
      return {};
    };
    if (word == "--only") {
      line.only.push_back(value());
    } else if (word == "--list") {
      line.lists = true;
    } else if (word == "--quick") {
      line.chosen.is_quick = true;
    } else if (word == "--raw") {
      line.with_raw = true;
    } else if (word == "--server") {
      ::setenv("MORTISE_TEST_SERVER", value().c_str(), 1);
    } else if (word == "--tcp") {
      line.chosen.over_tcp = true;
    } else if (word == "--url") {
      line.chosen.url = value();
    } else if (word == "--help") {
      line.wants_help = true;
    } else {
      line.problem = word + " is no option of bench";
    }
  }
  return line;
}

std::vector<const experiment*> all_experiments() {
  std::vector<const experiment*> all{&uncontended(), &threads(),      &async(),      &server_cost(),
                                     &handoff(),     &handoff_cost(), &local_gate(), &fence(),
                                     &death(),       &dead_waiter(),  &memory(),     &kinds()};
  for (const auto& language : languages()) all.push_back(&language);
  return all;
}

bool is_wanted(const experiment& item, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  return std::any_of(item.rows.begin(), item.rows.end(), [&](const row& figure) {
    return std::any_of(only.begin(), only.end(), [&](const std::string& start) {
      return figure.id.compare(0, start.size(), start) == 0;
    });
  });
}

void list_rows() {
  for (const auto* item : all_experiments()) {
    for (const auto& figure : item->rows) {
      const auto start = figure.figure.find_first_not_of(' ');
      std::printf("%-22s %s\n", figure.id.c_str(), figure.figure.c_str() + start);
    }
  }
}

int run(const command_line& line) {
  allow_many_files();
  table results(line.with_raw);
  results.print_head();
  int wanted = 0;
  for (const auto* item : all_experiments()) {
    if (!is_wanted(*item, line.only)) continue;
    ++wanted;
    results.expect(item->rows);
    try {
      item->run(line.chosen, results);
    } catch (const std::exception& problem) {
      results.failed(item->name, problem.what());
    }
  }
  if (wanted == 0) {
    std::fprintf(stderr, "bench: no such row; `bench --list` shows them\n");
    return 2;
  }
  results.print_summary();
  return results.has_failed() ? 1 : 0;
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
  const auto line = mortise::bench::parse(argc, argv);
  if (!line.problem.empty()) {
    std::fprintf(stderr, "bench: %s\n%s", line.problem.c_str(), mortise::bench::usage);
    return 2;
  }
  if (line.wants_help) {
    std::fputs(mortise::bench::usage, stdout);
    return 0;
  }
  if (line.lists) {
    mortise::bench::list_rows();
    return 0;
  }
  return mortise::bench::run(line);
}
