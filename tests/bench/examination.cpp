// An examination over a link with a known latency, against a ping over the same: how many round
// trips it waits for.
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
  std::vector<double> examinations;
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    auto began = now_ns();
    check(mortise_client_ping(client.get(), nullptr), "mortise_client_ping");
    pings.push_back(static_cast<double>(now_ns() - began));
    began = now_ns();
    auto* const found = mortise_client_examine(client.get(), nullptr);
    examinations.push_back(static_cast<double>(now_ns() - began));
    require(mortise_examination_count(found) > 0, "mortise_client_examine");
    mortise_examination_free(found);
  }
  results.measured("examination.round_trips", median(examinations) / median(pings));
  results.raw("a ping %.1f ms, an examination %.1f ms", median(pings) / 1e6,
              median(examinations) / 1e6);
}

}  // namespace

const experiment& examination() {
  static const experiment instance{
      "examination",
      {{"examination.round_trips", "examination, in round trips", aim::at_most, 3, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
