// The counters, and their report.
#include "statistics/snapshot.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "statistics/connection_statistics.hpp"
#include "statistics/series_set.hpp"
#include "unit/gate_fixture.hpp"

namespace mortise::testing::statistics_test {
namespace {

using lock::answer;
using statistics::snapshot;

// The value of a sample, by its name and labels as Prometheus' text has them; -1 for none.
double value_of(const snapshot& of, const std::string& expected) {
  const auto text = of.prometheus();
  const auto at = text.find("\n" + expected + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + expected.size() + 2));
}

// ---- what a gate counts ---------------------------------------------------------------------

class gate_statistics_test : public gate_test {
 protected:
  gate_statistics_test() {
    for (auto* const owner : {&first_, &second_}) owner->counts = {&counts_, &counts_};
  }
  double count(const std::string& name) {
    snapshot now;
    counts_.add_to(now, {{"kind", "mutex"}});
    return value_of(now, "mortise_" + name);
  }
  statistics::lock_statistics counts_;
};

TEST_F(gate_statistics_test, an_acquire_is_timed_from_its_beginning_to_its_end) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  EXPECT_EQ(count("waiters{kind=\"mutex\"}"), 1);
  answer_last(granted(), start_ns + ms(3));
  EXPECT_EQ(count("waiters{kind=\"mutex\"}"), 0);
  EXPECT_EQ(count("holds{kind=\"mutex\"}"), 1);
  const std::string acquired = "{kind=\"mutex\",outcome=\"acquired\"";
  EXPECT_EQ(count("acquire_seconds_bucket" + acquired + ",le=\"0.0025\"}"), 0);
  EXPECT_EQ(count("acquire_seconds_bucket" + acquired + ",le=\"0.005\"}"), 1);
  EXPECT_EQ(count("acquire_seconds_sum" + acquired + "}"), 0.003);
  EXPECT_EQ(count("contended_total{kind=\"mutex\"}"), 0);
}

// A thread that waits for the unlock may look as soon as it ends.
struct looking_call final : other_call {
  explicit looking_call(std::function<double()> look_there) : look(std::move(look_there)) {}
  void finish(const outcome& final_result, std::int64_t token) noexcept override {
    seen = look();
    other_call::finish(final_result, token);
  }
  std::function<double()> look;
  double seen = -1;
};

TEST_F(gate_statistics_test, a_release_is_counted_before_its_unlock_ends) {
  hold_first();
  looking_call done([this] { return count("release_total{kind=\"mutex\",outcome=\"released\"}"); });
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &done, start_ns + ms(2)).ok());
  answer_last(result_of(answer::released), start_ns + ms(3));
  EXPECT_EQ(done.finished, 1);
  EXPECT_EQ(done.seen, 1);
}

TEST_F(gate_statistics_test, a_hold_is_timed_until_its_unlock) {
  hold_first();
  other_call done;
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &done, start_ns + ms(41)).ok());
  EXPECT_EQ(count("holds{kind=\"mutex\"}"), 0);
  EXPECT_EQ(count("hold_seconds_sum{kind=\"mutex\"}"), 0.04);
  EXPECT_EQ(count("release_total{kind=\"mutex\",outcome=\"released\"}"), 0) << "not answered yet";
  answer_last(result_of(answer::released), start_ns + ms(42));
  EXPECT_EQ(count("release_total{kind=\"mutex\",outcome=\"released\"}"), 1);
}

TEST_F(gate_statistics_test, who_finds_the_lock_taken_is_counted_once) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  EXPECT_EQ(count("contended_total{kind=\"mutex\"}"), 1);
  gate_.abandon(second_call_, status::timed_out, start_ns + ms(9));
  EXPECT_EQ(count("contended_total{kind=\"mutex\"}"), 1);
  EXPECT_EQ(count("acquire_seconds_sum{kind=\"mutex\",outcome=\"timed_out\"}"), 0.007);
}

TEST_F(gate_statistics_test, a_try_that_asks_nobody_is_counted_too) {
  hold_first();
  acquire_call attempt(second_, true);
  ASSERT_TRUE(gate_.acquire(attempt, start_ns + ms(2)).ok());
  EXPECT_EQ(count("acquire_seconds_count{kind=\"mutex\",outcome=\"not_acquired\"}"), 1);
  EXPECT_EQ(count("contended_total{kind=\"mutex\"}"), 1);
  EXPECT_EQ(count("waiters{kind=\"mutex\"}"), 0);
}

TEST_F(gate_statistics_test, a_queued_acquire_is_handed_the_lock_by_the_server) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(1000, 0), start_ns + ms(2));
  EXPECT_EQ(count("contended_total{kind=\"mutex\"}"), 1);
  gate_.on_grant(grant_to(io_.last()), start_ns + ms(5));
  EXPECT_EQ(count("handoffs_total{kind=\"mutex\",path=\"server\"}"), 1);
  EXPECT_EQ(count("handoffs_total{kind=\"mutex\",path=\"local\"}"), 0);
}

TEST_F(gate_statistics_test, a_loss_is_counted_by_why_and_ends_the_hold) {
  hold_first();
  first_.renews = false;
  answer_last(granted(), start_ns + ms(2));
  gate_.on_timer(gate_.valid_until(first_));
  EXPECT_EQ(count("losses_total{kind=\"mutex\",reason=\"expired\"}"), 1);
  EXPECT_EQ(count("losses_total{kind=\"mutex\",reason=\"server\"}"), 0);
  EXPECT_EQ(count("holds{kind=\"mutex\"}"), 0);
  EXPECT_EQ(count("hold_seconds_count{kind=\"mutex\"}"), 1);
}

TEST_F(gate_statistics_test, a_loss_by_force_is_counted_as_such) {
  hold_first();
  gate_.on_forced(io_.last().token, start_ns + ms(2));
  answer_last(result_of(answer::not_owner), start_ns + ms(3));
  EXPECT_EQ(count("losses_total{kind=\"mutex\",reason=\"forced\"}"), 1);
  EXPECT_EQ(count("losses_total{kind=\"mutex\",reason=\"unknown\"}"), 0);
  EXPECT_EQ(count("release_total{kind=\"mutex\",outcome=\"released\"}"), 0);
}

TEST_F(gate_statistics_test, an_unlock_that_retains_is_counted_as_such) {
  first_.retain_ms = 1000;
  hold_first();
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(2)).ok());
  EXPECT_EQ(count("release_total{kind=\"mutex\",outcome=\"retained\"}"), 1);
  EXPECT_EQ(count("holds{kind=\"mutex\"}"), 0);
}

TEST_F(gate_statistics_test, whoever_waits_when_the_client_closes_has_ended) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  gate_.close(start_ns + ms(3));
  EXPECT_EQ(count("waiters{kind=\"mutex\"}"), 0);
  EXPECT_EQ(count("holds{kind=\"mutex\"}"), 0);
  EXPECT_EQ(count("acquire_seconds_count{kind=\"mutex\",outcome=\"closed\"}"), 1);
}

// ---- names ----------------------------------------------------------------------------------

TEST(series_set, has_so_many_names_and_then_counts_as_other) {
  statistics::series_set all("name");
  for (int i = 0; i < 1000; ++i) {
    all.of("lock " + std::to_string(i), "", statistics::lock_use::mutex).hold_began();
  }
  snapshot now;
  all.add_to(now);
  std::size_t names = 0;
  for (const auto& family : now.families()) {
    if (std::string(family.name) == "mortise_holds") names = family.entries.size();
  }
  EXPECT_EQ(names, statistics::series_set::longest + 1);
  EXPECT_EQ(value_of(now, R"(mortise_holds{kind="mutex",name="other"})"),
            1000 - statistics::series_set::longest);
}

TEST(series_set, has_no_names_unless_asked_for) {
  statistics::series_set all("off");
  all.of("a", "b", statistics::lock_use::reader).hold_began();
  snapshot now;
  all.add_to(now);
  EXPECT_EQ(value_of(now, R"(mortise_holds{kind="reader"})"), 1);
}

TEST(series_set, a_pattern_stands_for_all_that_match_it) {
  using statistics::matches;
  EXPECT_TRUE(matches("a*c", "abbc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-c-b"));
  EXPECT_FALSE(matches("abc", "abcd"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("a**", "a"));
}

// ThreadSanitizer looks on; and what was counted meanwhile is all there in the end.
TEST(series_set, is_read_while_others_count) {
  statistics::series_set all("name");
  constexpr int rounds = 2000;
  const auto count = [&](const std::string& name) {
    for (int i = 0; i < rounds; ++i) {
      auto& counts = all.of(name + std::to_string(i % 50), "", statistics::lock_use::mutex);
      counts.acquire_began();
      counts.acquire_ended(status::ok, i);
    }
  };
  std::thread first([&] { count("a"); });
  std::thread second([&] { count("b"); });
  for (int i = 0; i < 20; ++i) {
    snapshot now;
    all.add_to(now);
    for (const auto& one : now.samples()) EXPECT_GE(one.value, 0) << one.name;
  }
  first.join();
  second.join();
  snapshot now;
  all.add_to(now);
  double acquired = 0;
  for (const auto& one : now.samples()) {
    if (one.name == "mortise_acquire_seconds_count") acquired += one.value;
  }
  EXPECT_EQ(acquired, 2 * rounds);
}

// ---- a connection ---------------------------------------------------------------------------

TEST(connection_statistics, a_reconnect_is_counted_by_why_the_one_before_ended) {
  statistics::connection_statistics counts;
  const auto count = [&](const std::string& name) {
    snapshot now;
    counts.add_to(now, "localhost:6379");
    return value_of(now, "mortise_" + name);
  };
  const auto reconnects = [&](const std::string& why) {
    return count("reconnects_total{server=\"localhost:6379\",reason=\"" + why + "\"}");
  };
  EXPECT_EQ(count(R"(connections{server="localhost:6379",state="away"})"), 1);
  counts.came_up();
  EXPECT_EQ(count(R"(connections{server="localhost:6379",state="up"})"), 1);
  EXPECT_EQ(reconnects("gone"), 0) << "the first is none";
  auto why = outcome::of(status::unreachable, "no answer");
  why.cause = "silent";
  counts.went_down(why);
  EXPECT_EQ(reconnects("silent"), 0) << "it is not there again";
  counts.came_up();
  EXPECT_EQ(reconnects("silent"), 1);
  counts.went_down(outcome::of(status::unreachable, "closed by the server"));
  counts.came_up();
  EXPECT_EQ(reconnects("gone"), 1);
  why.cause = "a replica now";
  counts.went_down(why);
  counts.came_up();
  EXPECT_EQ(reconnects("refused"), 1);
}

// ---- texts ----------------------------------------------------------------------------------

TEST(statistics_snapshot, a_label_of_any_bytes_is_reported_safely) {
  statistics::series_set all("label");
  all.of("", "a\"b\\c\nd\xFF", statistics::lock_use::mutex).hold_began();
  snapshot now;
  all.add_to(now);
  EXPECT_EQ(value_of(now,
                     "mortise_holds{kind=\"mutex\",name=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD"
                     "FF\"}"),
            1);
  EXPECT_NE(now.json().find("\"name\":\"a\\\"b\\\\c\\u000ad\xEF\xBF\xBD"
                            "FF\""),
            std::string::npos);
}

TEST(statistics_snapshot, names_that_differ_have_labels_that_differ) {
  using namespace std::string_view_literals;
  constexpr std::string_view names[] = {"a\xFF"sv,
                                        "a\xFE"sv,
                                        "a\0b"sv,
                                        "a\0c"sv,
                                        "a"sv,
                                        "a\xEF\xBF\xBD"sv,
                                        "a\xEF\xBF\xBD"
                                        "FF"sv};
  statistics::series_set all("name");
  for (const auto name : names) all.of(name, "", statistics::lock_use::mutex).hold_began();
  snapshot now;
  all.add_to(now);
  const auto text = now.prometheus();
  EXPECT_EQ(text.find('\0'), std::string::npos);
  std::set<std::string> lines;
  std::istringstream all_lines(text);
  for (std::string line; std::getline(all_lines, line);) {
    const bool is_wanted = line.starts_with("mortise_holds{kind=\"mutex\"");
    EXPECT_TRUE(!is_wanted || lines.insert(line).second) << line;
  }
  EXPECT_EQ(lines.size(), std::size(names));
}

TEST(statistics_snapshot, the_samples_are_those_of_the_text) {
  statistics::series_set all("off");
  auto& counts = all.of("a", "", statistics::lock_use::mutex);
  counts.acquire_began();
  counts.acquire_ended(status::ok, 2 * ns_per_s);
  snapshot now;
  all.add_to(now);
  const auto text = now.prometheus();
  const auto samples = now.samples();
  const auto is_sample = [](const std::string& line) { return !line.empty() && line[0] != '#'; };
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (is_sample(text.substr(at, end - at))) ++lines;
    at = end + 1;
  }
  EXPECT_EQ(samples.size(), lines);
  const auto found = std::find_if(samples.begin(), samples.end(), [](const auto& one) {
    return one.name == "mortise_acquire_seconds_sum";
  });
  ASSERT_NE(found, samples.end());
  EXPECT_EQ(found->value, 2);
  EXPECT_STREQ(found->type, "histogram");
}

}  // namespace
}  // namespace mortise::testing::statistics_test
