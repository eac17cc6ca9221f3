// What a health check finds about rights, commands and writes.
#include "health_server.hpp"

#include <set>
#include <string>

#include "support/pages.hpp"

namespace mortise::testing::health_rights_test {
namespace {

using namespace health_server;

TEST(health, rights) {
  for (const auto& refusal : {refusal_7, refusal_6}) {
    const auto found = server().refuse("GET", refusal).refuse("PUBSUB", refusal).check_health();
    EXPECT_TRUE(is(found, "rights", finding_severity::bad, "missing: +pubsub|numsub +get"));
    EXPECT_TRUE(is(server().refuse("PUBLISH", refusal).check_health(), "rights",
                   finding_severity::warn, "missing: +publish"));
    EXPECT_TRUE(is(server().reply("INFO", refusal).reply("CLIENT", refusal).check_health(),
                   "rights", finding_severity::warn, "missing: +info +client|kill"));
  }
  EXPECT_TRUE(is(
      server().refuse("PUBLISH", "-NOPERM No permissions to access a channel\r\n").check_health(),
      "rights", finding_severity::bad, "missing: &mortise:*"));
  EXPECT_TRUE(is(server()
                     .refuse("GET",
                             "-NOPERM this user has no permissions to access one of the "
                             "keys used as arguments\r\n")
                     .check_health(),
                 "rights", finding_severity::bad, "missing: ~{mortise:*"));
  // The name of a user decides nothing, and is never printed.
  const auto named = server()
                         .refuse("LREM",
                                 "-NOPERM User the-keys has no permissions to run the "
                                 "'lrem' command\r\n")
                         .check_health();
  EXPECT_TRUE(is(named, "rights", finding_severity::warn, "missing: +lrem"));
  EXPECT_EQ(named.json().find("the-keys"), std::string::npos);
  // Without MULTI nothing else is tried, because the server would execute it.
  const auto without = server().reply("MULTI", refusal_7).check_health();
  EXPECT_TRUE(is(without, "rights", finding_severity::bad, "missing: +multi"));
  EXPECT_EQ(of(without, "writes").severity, finding_severity::unknown);
}

TEST(health, the_rights_are_those_of_the_rule) {
  std::set<std::string> expected;
  for (const auto& word : rights_on_page("docs/server.md")) {
    if (word.starts_with('+')) expected.insert(word.substr(1));
  }
  std::set<std::string> used;
  for (const auto& right : protocol::used_rights()) used.emplace(right.name);
  EXPECT_EQ(used, expected);
}

TEST(health, commands_that_are_not_there) {
  const std::string unknown = "-ERR unknown command `LPOS`, with args beginning with: \r\n";
  EXPECT_TRUE(is(server().refuse("LPOS", unknown).check_health(), "commands", finding_severity::bad,
                 "missing: lpos"));
  EXPECT_TRUE(is(server().refuse("ZCOUNT", unknown).check_health(), "commands",
                 finding_severity::warn, "missing: zcount"));
  const std::string forbidden = "-ERR command not allowed by this service\r\n";
  const auto found = server().reply("EVAL", forbidden).reply("CLIENT", forbidden).check_health();
  EXPECT_TRUE(is(found, "eval", finding_severity::bad, "refused"));
  EXPECT_TRUE(is(found, "client_kill", finding_severity::warn, "refused"));
  EXPECT_TRUE(is(found, "commands", finding_severity::bad, "missing: eval client|kill"));
}

TEST(health, hazard_13_writes_that_are_refused) {
  for (const std::string word : {"OOM", "MISCONF", "NOREPLICAS", "READONLY"}) {
    const auto found =
        server().refuse("SET", "-" + word + " some words of the server\r\n").check_health();
    EXPECT_TRUE(is(found, "writes", finding_severity::bad, "refused with " + word));
    EXPECT_TRUE(is(found, "rights", finding_severity::ok, "none missing"));
    EXPECT_TRUE(is(found, "commands", finding_severity::ok, "none missing"));
  }
}

}  // namespace
}  // namespace mortise::testing::health_rights_test
