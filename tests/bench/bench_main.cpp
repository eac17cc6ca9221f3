// bench: measures each figure that the library promises, each against its reference in the same
// run, and prints their table with a rating. Timings never make it fail. It fails if something does
// not run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "experiment.hpp"

namespace mortise::bench {

namespace {

std::vector<const experiment*> all_experiments() {
  std::vector<const experiment*> all{&uncontended(),
                                     &retention(),
                                     &readers(),
                                     &threads(),
                                     &async(),
                                     &server_cost(),
                                     &handoff(),
                                     &handoff_cost(),
                                     &local_gate(),
                                     &local_gate_waits(),
                                     &fence(),
                                     &death(),
                                     &dead_waiter(),
                                     &failover(),
                                     &sentinel(),
                                     &cluster(),
                                     &compare_and_delete(),
                                     &handshake(),
                                     &holds(),
                                     &memory(),
                                     &kinds(),
                                     &health(),
                                     &shard(),
                                     &redlock(),
                                     &redlock_faults(),
                                     &redlock_contention(),
                                     &acks(),
                                     &cxx(),
                                     &statistics_cost(),
                                     &command()};
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

int measure(const settings& chosen, const std::vector<std::string>& only, bool with_raw) {
  allow_many_files();
  table results(with_raw);
  results.print_head();
  int selected = 0;
  for (const auto* item : all_experiments()) {
    if (!is_wanted(*item, only)) continue;
    ++selected;
    results.expect(item->rows);
    try {
      item->run(chosen, results);
    } catch (const std::exception& problem) {
      results.failed(item->name, problem.what());
    }
  }
  if (selected == 0) {
    std::fprintf(stderr, "bench: no such row; `bench --list` shows them\n");
    return 2;
  }
  results.print_summary();
  return results.has_failed() ? 1 : 0;
}

int run(int argc, char** argv) {
  settings chosen;
  std::vector<std::string> only;
  std::string server;
  bool lists = false;
  bool with_raw = false;
  CLI::App line("Measures each figure against its reference and prints the table of them.",
                "bench");
  line.set_help_flag("--help", "this text");
  line.add_option("--only", only, "only this row, or all whose name begins so; may be repeated")
      ->type_name("ROW")
      ->allow_extra_args(false);
  line.add_flag("--list", lists, "the rows' names, without measuring");
  line.add_flag("--quick", chosen.is_quick, "fewer rounds: sooner done, and less exact");
  line.add_flag("--raw", with_raw, "the absolute numbers behind each row");
  line.add_option("--server", server,
                  "the server to start instead of redis-server, such as valkey-server")
      ->type_name("PROGRAM");
  line.add_flag("--tcp", chosen.over_tcp, "over loopback TCP instead of unix sockets");
  line.add_option("--url", chosen.url,
                  "a server that is there already (unix:///path or redis://host:port) and that "
                  "nobody else uses; the bench leaves keys there that expire")
      ->type_name("URL");
  try {
    line.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return line.exit(problem) == 0 ? 0 : 2;
  }
  if (!server.empty()) ::setenv("MORTISE_TEST_SERVER", server.c_str(), 1);
  if (lists) {
    list_rows();
    return 0;
  }
  return measure(chosen, only, with_raw);
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) { return mortise::bench::run(argc, argv); }
