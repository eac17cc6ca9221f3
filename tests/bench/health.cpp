// The number of round trips of a health check. It is measured over a link with a known latency,
// against a ping.
#include <mortise/mortise.h>

#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "fleet.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t one_way_ns = 5'000'000;

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  const auto client = open_client(link.url());
  std::vector<double> pings;
  std::vector<double> durations;
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    auto began = now_ns();
    check(mortise_client_ping(client.get(), nullptr), "mortise_client_ping");
    pings.push_back(static_cast<double>(now_ns() - began));
    began = now_ns();
    auto* const found = mortise_client_check_health(client.get(), nullptr);
    durations.push_back(static_cast<double>(now_ns() - began));
    require(mortise_health_count(found) > 0, "mortise_client_check_health");
    mortise_health_free(found);
  }
  results.measured("health.round_trips", median(durations) / median(pings));
  results.raw("a ping %.1f ms, a health check %.1f ms", median(pings) / 1e6,
              median(durations) / 1e6);
}

}  // namespace

const experiment& health() {
  static const experiment instance{
      "health",
      {{"health.round_trips", "health check, in round trips", aim::at_most, 3, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
