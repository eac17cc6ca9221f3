// The simulation's own parts: a checker that finds nothing proves nothing.
#include <gtest/gtest.h>

#include <sstream>

#include "simulation/lock/run.hpp"
#include "support/history.hpp"

namespace mortise::simulation::simulation_test {
namespace {

using testing::check_history;
using testing::hold_record;

hold_record hold(std::int64_t token, std::int64_t start, std::int64_t end,
                 const std::string& name = "n") {
  return {name, "holder " + std::to_string(token), token, start, end};
}

TEST(history, accepts_what_is_right) {
  EXPECT_TRUE(check_history({}).empty());
  EXPECT_TRUE(check_history({hold(5, 10, 20)}).empty());
  EXPECT_TRUE(check_history({hold(7, 20, 30), hold(5, 10, 20)}).empty())
      << "one may follow at once";
  EXPECT_TRUE(check_history({hold(5, 10, 20, "a"), hold(5, 10, 20, "b")}).empty());
  EXPECT_TRUE(check_history({hold(5, 10, 10), hold(6, 10, 10), hold(7, 10, 12)}).empty());
}

TEST(history, finds_holds_at_the_same_time) {
  EXPECT_FALSE(check_history({hold(5, 10, 20), hold(6, 19, 30)}).empty());
  EXPECT_FALSE(check_history({hold(5, 10, 90), hold(6, 20, 30)}).empty());
  // The first outlives the second, which hides nothing from the third.
  EXPECT_FALSE(check_history({hold(5, 0, 50), hold(6, 50, 51), hold(7, 49, 50)}).empty());
  EXPECT_FALSE(check_history({hold(5, 10, 20), hold(6, 10, 20)}).empty());
  // Over when its holder first looked.
  EXPECT_TRUE(check_history({hold(6, 10, 20), hold(5, 15, 15)}).empty());
}

TEST(history, finds_tokens_that_fall_or_are_given_twice) {
  EXPECT_FALSE(check_history({hold(6, 10, 20), hold(5, 20, 30)}).empty());
  EXPECT_FALSE(check_history({hold(9, 0, 1), hold(5, 10, 20), hold(7, 20, 30)}).empty());
  EXPECT_FALSE(check_history({hold(5, 10, 20), hold(5, 20, 30)}).empty());
  EXPECT_FALSE(check_history({hold(0, 10, 20)}).empty());
  EXPECT_FALSE(check_history({hold(5, 20, 10)}).empty());
}

hold_record part(std::int64_t token, std::int64_t start, std::int64_t end, std::int64_t permits) {
  auto made = hold(token, start, end);
  made.permits = permits;
  made.capacity = 3;
  return made;
}

TEST(history, lets_parts_overlap_as_far_as_there_is_room) {
  EXPECT_TRUE(check_history({part(5, 10, 30, 1), part(6, 15, 20, 2), part(7, 20, 40, 2)}).empty());
  EXPECT_TRUE(check_history({part(5, 10, 30, 1), part(5, 15, 20, 1)}).empty()) << "let in together";
  EXPECT_TRUE(check_history({part(6, 10, 20, 1), part(5, 20, 30, 1)}).empty()) << "told late";
  EXPECT_FALSE(check_history({part(5, 10, 30, 1), part(6, 15, 20, 2), part(7, 19, 40, 1)}).empty());
  EXPECT_FALSE(check_history({part(5, 10, 30, 1), part(6, 29, 40, 3)}).empty());
}

TEST(history, finds_tokens_of_whole_holds_that_fall_or_are_given_twice) {
  EXPECT_TRUE(check_history({part(5, 10, 20, 1), part(6, 20, 30, 3), part(7, 30, 40, 1)}).empty());
  EXPECT_FALSE(check_history({part(6, 10, 20, 1), part(5, 20, 30, 3)}).empty());
  EXPECT_FALSE(check_history({part(6, 10, 20, 3), part(5, 20, 30, 1)}).empty());
  // Only a writer reads on with the same token.
  auto writer = part(5, 10, 20, 3);
  auto reader = part(5, 20, 30, 1);
  EXPECT_TRUE(check_history({writer, reader}).empty());
  reader.holder = "another";
  EXPECT_FALSE(check_history({writer, reader}).empty());
}

TEST(history, without_exclusion_only_asks_that_tokens_differ) {
  testing::history_rules rules;
  rules.is_exclusive = false;
  EXPECT_TRUE(check_history({hold(6, 10, 20), hold(5, 15, 30)}, rules).empty());
  EXPECT_FALSE(check_history({hold(6, 10, 20), hold(6, 15, 30)}, rules).empty());
}

TEST(history, names_at_most_so_many_violations) {
  std::vector<hold_record> all;
  for (int i = 1; i <= 100; ++i) all.push_back(hold(i, 0, 100));
  EXPECT_EQ(check_history(all, {}, 3).size(), 3U);
}

TEST(history, is_written_and_read_unchanged) {
  const std::vector<hold_record> all{{"a b%\n\xC3\xB6", "", 5, -7, 1'800'000'000'000'000'000},
                                     {"", "c1 user 2", 6, 8, 9},
                                     {"n", "a part", 7, 8, 9, 2, 3}};
  std::stringstream text;
  testing::write_history(text, all);
  std::vector<hold_record> read;
  EXPECT_TRUE(testing::read_history(text, read));
  EXPECT_EQ(read, all);
  for (const auto* bad : {"hold a b 1 2", "held a b 1 2 3", "hold a b 1 2 3 4", "hold %zz b 1 2 3",
                          "hold a% b 1 2 3"}) {
    std::istringstream line(bad);
    EXPECT_FALSE(testing::read_history(line, read)) << bad;
  }
}

TEST(drifting_clock, shows_a_reading_first_at_the_truth_of_it) {
  for (const std::int64_t ppm : {-25'000, -1, 0, 3, 25'000}) {
    const drifting_clock clock(1'790'000'000 * ns_per_s, ppm);
    for (const time_ns truth : {time_ns{0}, time_ns{1}, 999'999 * ns_per_ms, 77 * ns_per_s + 13}) {
      const auto reading = clock.read(truth);
      const auto found = clock.truth_of(reading);
      EXPECT_LE(found, truth);
      EXPECT_GE(clock.read(found), reading);
      EXPECT_LT(clock.read(found - 1), reading);
    }
  }
}

TEST(simulation, lives_through_a_run_the_same_way_each_time) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    run first(make_plan(seed), false);
    run second(make_plan(seed), false);
    EXPECT_EQ(first.go(), std::vector<std::string>()) << "lock_simulation --seed " << seed;
    second.go();
    EXPECT_EQ(first.seen().values, second.seen().values) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mortise::simulation::simulation_test
