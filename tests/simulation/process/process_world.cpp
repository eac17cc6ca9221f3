#include "simulation/process/process_world.hpp"

#include <algorithm>
#include <cstdio>

#include "redis/resp/resp.hpp"

namespace mortise::process_simulation {

void world::violate(const std::string& what) {
  log("VIOLATION: " + what);
  violations.push_back(what);
}

void world::log(const std::string& what) {
  if (is_verbose) std::printf("%12.6f %s\n", static_cast<double>(time.now()) / 1e9, what.c_str());
}

time_ns world::delivery_time(time_ns& last) {
  last = std::max(last, time.now() + latency_ns / 2 + dice.below(latency_ns + 1));
  return last;
}

std::vector<simulation::arguments> commands_of(std::string_view bytes) {
  std::vector<simulation::arguments> all;
  redis::parser parser;
  while (!bytes.empty() && parser.parse(bytes) == redis::parse_result::complete) {
    auto& words = all.emplace_back();
    for (std::size_t i = 0; i < parser.reply().size(); ++i) {
      words.emplace_back(parser.reply().at(i).text());
    }
    bytes.remove_prefix(parser.consumed());
    parser.reset();
  }
  return all;
}

std::string describe(const simulation::arguments& words, const std::string& reply) {
  std::string line;
  for (const auto& word : words) line += " " + (word.size() > 100 ? "…" : word);
  line += " ->";
  for (const char each : reply) line += each == '\r' ? ' ' : each == '\n' ? ' ' : each;
  return line;
}

}  // namespace mortise::process_simulation
