// What a health check finds about the clock, the fence counter and other times.
#include "health_server.hpp"

#include <string>

namespace mortise::testing::health_clock_test {
namespace {

using namespace health_server;

TEST(health, hazard_4_the_clock) {
  EXPECT_TRUE(is(server().check_health(10 * ns_per_ms, now_us + 999'000), "clock_offset",
                 finding_severity::ok, "-999.000 ms"));
  EXPECT_TRUE(is(server().check_health(10 * ns_per_ms, now_us - 1'006'000), "clock_offset",
                 finding_severity::warn, "1006.000 ms"));
  // On a long way the half of it is not known.
  EXPECT_EQ(of(server().check_health(2 * ns_per_s, now_us + 1'900'000), "clock_offset").severity,
            finding_severity::ok);
  const auto since = [](std::int64_t seconds, std::int64_t moved_us) {
    auto client = server::a_client();
    const auto boot_ns = now_ns - ns_per_ms / 2 - seconds * ns_per_s;
    client.earlier = {now_us - seconds * 1'000'000 - moved_us, boot_ns};
    return of(server().check_health(ns_per_ms, now_us, client), "clock_step");
  };
  EXPECT_EQ(since(60, 900'000).severity, finding_severity::ok);
  EXPECT_EQ(since(60, 900'000).value, "none in 60 s");
  EXPECT_EQ(since(60, 2'000'000).severity, finding_severity::warn);  // within the drift of 10 %
  EXPECT_EQ(since(60, 8'000'000).severity, finding_severity::bad);
  EXPECT_EQ(since(60, -3'600'000'000).severity, finding_severity::bad);
  EXPECT_EQ(since(60, -3'600'000'000).value, "moved -3600000.000 ms in 60 s");
  EXPECT_TRUE(is(server().fence(now_us + 5'000'000).check_health(), "clock_step",
                 finding_severity::warn, "the fencing tokens are 5000.000 ms ahead of the clock"));
}

TEST(health, hazard_4_an_answer_that_came_late_says_less) {
  const auto moved = [](time_ns round_trip_ns) {
    auto client = server::a_client();
    client.earlier = {now_us - 61'900'000, now_ns - round_trip_ns / 2 - 60 * ns_per_s};
    return of(server().check_health(round_trip_ns, now_us, client), "clock_step").severity;
  };
  EXPECT_EQ(moved(ns_per_ms), finding_severity::warn);
  EXPECT_EQ(moved(4 * ns_per_s), finding_severity::ok);
  // The counter is looked at later than the clock.
  auto drawn = server().fence(now_us + 4'000'000);
  EXPECT_EQ(of(drawn.check_health(ns_per_ms), "clock_step").severity, finding_severity::warn);
  EXPECT_EQ(of(drawn.check_health(4 * ns_per_s), "clock_step").severity, finding_severity::ok);
}

TEST(health, hazard_30_tokens_are_lifted_to_the_end_of_a_quarantine) {
  auto client = server::a_client();
  client.quarantine_ms = 60'000;
  const auto of_quorum = [&](std::int64_t ahead_us) {
    return of(server().fence(now_us + ahead_us).check_health(ns_per_ms, now_us, client),
              "clock_step");
  };
  EXPECT_EQ(of_quorum(60'998'000).severity, finding_severity::ok);
  EXPECT_EQ(of_quorum(63'000'000).severity, finding_severity::warn);
}

TEST(health, hazard_30_other_writers_of_the_fence) {
  EXPECT_TRUE(is(server().check_health(), "fence", finding_severity::ok, "as this client left it"));
  EXPECT_TRUE(is(server()
                     .reply("TYPE mortise:fence", "+none\r\n")
                     .reply("GET mortise:fence", "$-1\r\n")
                     .check_health(),
                 "fence", finding_severity::warn, "deleted since this client connected"));
  EXPECT_TRUE(is(server().reply("TYPE mortise:fence", "+list\r\n").check_health(), "fence",
                 finding_severity::bad, "the key is a list"));
  EXPECT_TRUE(
      is(server().fence(5).check_health(), "fence", finding_severity::bad, "the counter is 5"));
  EXPECT_TRUE(is(server().reply("GET mortise:fence", bulk("abc")).check_health(), "fence",
                 finding_severity::bad, "the counter is abc"));
  EXPECT_TRUE(is(server().fence(std::int64_t{1} << 53U).check_health(), "fence",
                 finding_severity::bad, "the counter is 9007199254740992"));
  EXPECT_TRUE(is(server().fence((std::int64_t{1} << 53U) - 1).check_health(), "fence",
                 finding_severity::bad, "the counter is 9007199254740991"));
  EXPECT_EQ(of(server().fence((std::int64_t{1} << 53U) - 2).check_health(), "fence").severity,
            finding_severity::ok);
  // This client connected a second ago, and lifted it to the clock.
  EXPECT_EQ(of(server().fence(now_us - 60'000'000).check_health(), "fence").severity,
            finding_severity::bad);
  EXPECT_TRUE(is(server().reply("PTTL mortise:fence", ":-1\r\n").check_health(), "fence",
                 finding_severity::warn, "the counter was set without a TTL"));
  EXPECT_EQ(
      of(server().reply("PTTL mortise:fence", ":8776000000\r\n").check_health(), "fence").severity,
      finding_severity::warn);
  // A grace period is noted there.
  EXPECT_EQ(
      of(server().reply("PTTL mortise:fence", ":7776005000\r\n").check_health(), "fence").severity,
      finding_severity::ok);
}

// In a cluster a client keeps up the counters in the slots of its locks.
TEST(health, hazard_30_a_counter_that_this_client_has_not_kept_up) {
  auto unused = server().not_lifted().reply("TYPE mortise:fence", "+none\r\n");
  EXPECT_TRUE(is(unused.check_health(), "fence", finding_severity::ok, "not used by this client"));
  EXPECT_EQ(of(server().not_lifted().fence(now_us - 60'000'000).check_health(), "fence").severity,
            finding_severity::ok);
  EXPECT_EQ(of(server().not_lifted().fence(5).check_health(), "fence").severity,
            finding_severity::bad);
  auto moved = server().reply("TYPE mortise:fence", "-MOVED 1 127.0.0.1:1\r\n");
  EXPECT_TRUE(is(moved.check_health(), "fence", finding_severity::ok, "in a slot that has moved"));
}

TEST(health, times_of_the_server) {
  for (const auto* limit : {"0", "-1", "99", "60001"}) {
    EXPECT_EQ(of(server().configure("lua-time-limit", limit).check_health(), "script_time_limit")
                  .severity,
              finding_severity::warn);
  }
  EXPECT_TRUE(is(server().check_health(), "script_time_limit", finding_severity::ok, "5000 ms"));
  EXPECT_TRUE(
      is(server().check_health(100 * ns_per_ms), "round_trip", finding_severity::ok, "100.000 ms"));
  EXPECT_TRUE(is(server().check_health(101 * ns_per_ms), "round_trip", finding_severity::warn,
                 "101.000 ms"));
}

}  // namespace
}  // namespace mortise::testing::health_clock_test
