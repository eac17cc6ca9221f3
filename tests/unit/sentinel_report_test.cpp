#include "deployment/sentinel/report.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/resp/resp.hpp"

namespace mortise::sentinel {
namespace {

// The reply of one of `all` Sentinels about a master with two replicas, of which `down` are down.
std::vector<std::string> answers_of_one(std::int64_t all, int down, std::int64_t epoch) {
  const auto others = std::to_string(all - 1);
  return {
      "*4\r\n+config-epoch\r\n+" + std::to_string(epoch) + "\r\n+num-other-sentinels\r\n+" +
          others + "\r\n",
      "*2\r\n+10.0.0.1\r\n+6379\r\n",
      "*2\r\n+sentinel\r\n*1\r\n+mymaster\r\n",
      std::string("*2\r\n*2\r\n+flags\r\n") + (down > 0 ? "+s_down,slave" : "+slave") +
          "\r\n*2\r\n+flags\r\n" + (down > 1 ? "+s_down,slave" : "+slave,disconnected") + "\r\n",
  };
}

sentinel_result reported_by_one(std::int64_t all, int down, std::int64_t epoch = 7) {
  sentinel_result one;
  for (const auto& answer : answers_of_one(all, down, epoch)) {
    redis::parser reader;
    EXPECT_EQ(redis::parse_result::complete, reader.parse(answer));
    one.content.take(reader.reply());
  }
  return one;
}

sentinel_result of_nobody() {
  sentinel_result one;
  one.problem = outcome::of(status::unreachable, "did not answer in time");
  return one;
}

std::int64_t up_of(const std::vector<sentinel_result>& results) {
  const auto count = most_replicas(results);
  return count ? count->up : -1;
}

TEST(replicas_of_sentinels, that_most_hold_to_be_down_do_not_count) {
  EXPECT_EQ(2, up_of({reported_by_one(3, 0), reported_by_one(3, 0), reported_by_one(3, 0)}));
  EXPECT_EQ(1, up_of({reported_by_one(3, 1), reported_by_one(3, 1), of_nobody()}));
  EXPECT_EQ(0, up_of({reported_by_one(1, 2)}));
  EXPECT_EQ(1, up_of({reported_by_one(3, 2), reported_by_one(3, 1), reported_by_one(3, 2)}));
}

TEST(replicas_of_sentinels, are_known_with_those_that_do_not_count) {
  EXPECT_EQ(2, most_replicas({reported_by_one(3, 2), reported_by_one(3, 2), of_nobody()})->all);
}

// The others may choose one of them meanwhile.
TEST(replicas_of_sentinels, hazard_7_count_when_those_who_say_otherwise_may_be_cut_off) {
  EXPECT_EQ(2, up_of({reported_by_one(3, 2), of_nobody(), of_nobody()}));
  EXPECT_EQ(2, up_of({reported_by_one(4, 1), reported_by_one(4, 1), of_nobody(), of_nobody()}));
  EXPECT_EQ(2, up_of({reported_by_one(3, 2)})) << "the URL has one of three";
  EXPECT_EQ(2, up_of({reported_by_one(3, 2), reported_by_one(3, 2, 6), of_nobody()}));
}

// A replica counts unless every Sentinel reports it as down (hazard 31).
TEST(replicas_of_sentinels, hazard_7_count_where_a_sentinel_gives_flags_twice) {
  const std::string twice = "*1\r\n*4\r\n+flags\r\n+slave\r\n+flags\r\n+s_down,slave\r\n";
  sentinel_result other;
  for (const auto& reply : answers_of_one(1, 0, 7)) {
    redis::parser reader;
    const auto& bytes = reply.find("flags") == std::string::npos ? reply : twice;
    EXPECT_EQ(redis::parse_result::complete, reader.parse(bytes));
    other.content.take(reader.reply());
  }
  EXPECT_EQ(1, up_of({other}));
}

TEST(replicas_of_sentinels, are_not_known_where_nobody_says_so) {
  EXPECT_FALSE(most_replicas({of_nobody(), of_nobody()}));
  EXPECT_FALSE(most_replicas({}));
}

}  // namespace
}  // namespace mortise::sentinel
