#include <gtest/gtest.h>

#include "protocol/health/health.hpp"

namespace mortise::testing {
namespace {

using protocol::finding_severity;

// The finding for a client with this lease, and a drift of 1 %.
protocol::finding lease_of(std::int64_t lease_ms, time_ns round_trip_ns) {
  protocol::checking_client client;
  client.lease_ms = lease_ms;
  client.drift_ppm = 10'000;
  protocol::server_facts facts;
  facts.round_trip_ns = round_trip_ns;
  protocol::health found;
  protocol::judge(facts, client, "db:6379", found);
  for (const auto& item : found.findings) {
    if (item.name == std::string_view("lease")) return item;
  }
  return {};
}

TEST(health_lease, shows_the_cost_of_a_crash_and_the_pause_that_costs_nothing) {
  const auto found = lease_of(15'000, ns_per_ms);
  EXPECT_EQ(found.severity, finding_severity::ok);
  EXPECT_EQ(found.value,
            "15000 ms; a crash costs up to 15152 ms, and a pause of 9500 ms costs no hold");
}

TEST(health_lease, hazard_18_a_lease_below_a_second_or_20_round_trips_is_short) {
  const auto severity = [](std::int64_t lease_ms, time_ns round_trip_ns) {
    return lease_of(lease_ms, round_trip_ns).severity;
  };
  EXPECT_EQ(severity(999, 0), finding_severity::warn);
  EXPECT_EQ(severity(1000, 50 * ns_per_ms), finding_severity::ok);
  EXPECT_EQ(severity(1000, 51 * ns_per_ms), finding_severity::warn);
  EXPECT_EQ(severity(2000, 51 * ns_per_ms), finding_severity::ok);
}

}  // namespace
}  // namespace mortise::testing
