// Renewals of many locks as one request, and the result of each.
#include "protocol/renewal_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol::renewal_list_test {
namespace {

using lock::answer;
using lock::step;

lock::step_request renewal(std::string_view token, std::int64_t ttl_ms) {
  lock::step_request request;
  request.what = step::renew;
  request.token = token;
  request.ttl_ms = ttl_ms;
  return request;
}

// The results of three renewals with this reply.
std::vector<lock::step_result> read(const std::string& bytes) {
  redis::parser parser;
  EXPECT_EQ(parser.parse(bytes), redis::parse_result::complete) << bytes;
  std::vector<lock::step_result> results;
  for (std::size_t i = 0; i < 3; ++i) results.push_back(renewal_list::read(parser.reply(), i, 3));
  return results;
}

TEST(renewal_list, takes_only_renewals_that_ask_for_nothing_else) {
  auto request = renewal("owner", 1000);
  EXPECT_TRUE(renewal_list::admits(queued(), request));
  EXPECT_FALSE(renewal_list::admits(queued_rw(), request));
  EXPECT_FALSE(renewal_list::admits(ballot(), request));
  request.reserve = 16;
  EXPECT_FALSE(renewal_list::admits(queued(), request));
  request = renewal("owner", 1000);
  request.with_text = true;
  EXPECT_FALSE(renewal_list::admits(queued(), request));
  request = renewal("owner", 1000);
  request.what = step::release;
  EXPECT_FALSE(renewal_list::admits(queued(), request));
}

TEST(renewal_list, writes_all_locks_and_then_the_owner_and_the_lease_of_each) {
  renewal_list list;
  list.add(renewal("first", 1000), {"a", "fence", "a:q"});
  list.add(renewal("second", 20), {"b", "fence", "b:q"});
  std::string bytes;
  list.write(bytes, scripts::queued_renew_many, false);
  redis::parser parser;
  ASSERT_EQ(parser.parse(bytes), redis::parse_result::complete);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < parser.reply().size(); ++i) {
    words.emplace_back(parser.reply().at(i).text());
  }
  EXPECT_EQ(words,
            (std::vector<std::string>{"EVALSHA", std::string(scripts::queued_renew_many.sha1), "2",
                                      "a", "b", "first", "1000", "second", "20"}));
  bytes.clear();
  list.write(bytes, scripts::queued_renew_many, true);
  EXPECT_NE(bytes.find(scripts::queued_renew_many.text), std::string::npos);
}

TEST(renewal_list, hazard_17_each_lock_has_the_result_of_its_own) {
  auto results = read("*3\r\n:1\r\n:0\r\n:2\r\n");
  EXPECT_EQ(results[0].what, answer::renewed);
  EXPECT_FALSE(results[0].others_wait);
  EXPECT_EQ(results[1].what, answer::not_owner);
  EXPECT_FALSE(results[1].is_replaced);
  EXPECT_EQ(results[2].what, answer::renewed);
  EXPECT_TRUE(results[2].others_wait);
  results = read("*3\r\n:-1\r\n:-2\r\n:1\r\n");
  EXPECT_EQ(results[0].what, answer::not_owner);
  EXPECT_TRUE(results[0].is_replaced);
  EXPECT_EQ(results[1].what, answer::no_script) << "a renewal of its own follows";
}

TEST(renewal_list, hazard_31_an_unreadable_reply_renews_nothing) {
  for (const auto* bytes :
       {"*2\r\n:1\r\n:1\r\n", "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", ":1\r\n", "$-1\r\n",
        "*3\r\n+OK\r\n$1\r\n1\r\n:3\r\n", "*3\r\n*1\r\n:1\r\n:-3\r\n_\r\n"}) {
    for (const auto& result : read(bytes)) {
      EXPECT_EQ(result.what, answer::unknown) << bytes;
      EXPECT_EQ(result.details.code, status::unknown);
    }
  }
}

// The server has executed none, or the claim asks again about its own lock.
TEST(renewal_list, hazard_28_a_refused_request_is_repeated_for_each_lock) {
  for (const auto* bytes : {"-NOSCRIPT No matching script.\r\n", "-NOPERM No permissions\r\n",
                            "-ERR bad lua script for redis cluster\r\n"}) {
    for (const auto& result : read(bytes)) EXPECT_EQ(result.what, answer::no_script) << bytes;
  }
  for (const auto& result : read("-READONLY You can't write against a read only replica.\r\n")) {
    EXPECT_EQ(result.what, answer::unsent);
    EXPECT_EQ(result.details.code, status::refused);
  }
}

}  // namespace
}  // namespace mortise::protocol::renewal_list_test
