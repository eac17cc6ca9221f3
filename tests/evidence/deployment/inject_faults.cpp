// inject_faults KIND SEED LOCK…: starts a deployment of this kind, and injects faults on demand.
// Prints one JSON object when the servers are ready:
//
//   {"exclusive": true, "semaphores": true, "entrances": [{"url": …, "host": …}],
//    "faults": [{"kind": "server", "fault": "server stops"}]}
//
// A line that it reads is the number of a fault. It answers {"injected": true, "call_ns": …,
// "return_ns": …} when that fault is over. The line "end" is answered with {"leftovers": […]}.
// It ends with its input.
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "evidence/deployment/slice_deployment.hpp"

namespace mortise::evidence {
namespace {

using nlohmann::json;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

json description_of(slice_deployment& deployment) {
  json text{{"exclusive", deployment.is_exclusive()},
            {"semaphores", deployment.has_semaphores()},
            {"entrances", json::array()},
            {"faults", json::array()}};
  for (const auto& one : deployment.entrances()) {
    text["entrances"].push_back({{"url", one.url}, {"host", one.host}});
  }
  for (const auto& one : deployment.faults()) {
    text["faults"].push_back(
        {{"kind", one.of == fault::part::server ? "server" : "network"}, {"fault", one.name}});
  }
  return text;
}

json inject(const fault& one) {
  const auto call_ns = now_ns();
  const bool is_injected = one.inject();
  return {{"injected", is_injected}, {"call_ns", call_ns}, {"return_ns", now_ns()}};
}

void serve(slice_deployment& deployment) {
  std::cout << description_of(deployment).dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto reply = line == "end" ? json{{"leftovers", deployment.leftovers()}}
                                     : inject(deployment.faults().at(std::stoul(line)));
    std::cout << reply.dump() << std::endl;
  }
}

}  // namespace
}  // namespace mortise::evidence

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: inject_faults KIND SEED LOCK...\n";
    return 2;
  }
  try {
    const auto deployment = mortise::evidence::open_deployment(
        {arguments[1],
         static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10)),
         {arguments + 3, arguments + count}});
    mortise::evidence::serve(*deployment);
  } catch (const std::exception& error) {
    std::cerr << "inject_faults: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
