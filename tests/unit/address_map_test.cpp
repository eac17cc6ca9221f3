// The pairs of an announced address and the one that the client reaches.
#include "base/address_map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/options.hpp"

namespace mortise::address_map_test {
namespace {

std::string reached(const address_map& map, std::string_view host, int port) {
  const auto* const other = map.find(host, port);
  return other == nullptr ? "" : other->first + " " + std::to_string(other->second);
}

TEST(address_map, an_address_is_found_in_each_of_its_notations) {
  const address_map map(
      "10.0.0.5:6379>localhost:7001,DB-1.example:6379>127.0.0.1:7002,"
      "[FD00:0::5]:6379>[::1]:7003");
  EXPECT_EQ("localhost 7001", reached(map, "10.0.0.5", 6379));
  EXPECT_EQ("127.0.0.1 7002", reached(map, "db-1.Example", 6379));
  EXPECT_EQ("::1 7003", reached(map, "fd00::5", 6379));
  EXPECT_EQ("::1 7003", reached(map, "fd00:0:0:0:0:0:0:5", 6379));
  EXPECT_EQ("", reached(map, "10.0.0.5", 6380)) << "another port is another server";
  EXPECT_EQ("", reached(map, "10.0.0.6", 6379));
  EXPECT_EQ("", reached(address_map(""), "10.0.0.5", 6379));
}

// A server may be announced by its name and by its number.
TEST(address_map, two_addresses_may_lead_to_one_server) {
  EXPECT_EQ("", address_map::fault("10.0.0.5:6379>localhost:7001,db-1:6379>localhost:7001"));
}

TEST(address_map, a_message_names_the_wrong_pair_and_the_remedy) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "has an empty pair"},
      {"a:1>b:1,", "has an empty pair"},
      {"a:1", R"(has a pair without a '>': "a:1")"},
      {"a>b:1", R"(has an address without a port: "a")"},
      {"a:1>[::1]", R"(has an address without a port: "[::1]")"},
      {"a:1>b:0", R"(has a port that is not 1 to 65535: "b:0")"},
      {"a:65536>b:1", R"(has a port that is not 1 to 65535: "a:65536")"},
      {"a:1>b:+1", R"(has a port that is not 1 to 65535: "b:+1")"},
      {"a:>b:1", R"(has a port that is not 1 to 65535: "a:")"},
      {"::1:6379>b:1", R"(has an IPv6 address without brackets: "::1:6379")"},
      {"[10.0.0.5]:1>b:1", R"(has a host that is neither a name nor an address: "[10.0.0.5]:1")"},
      {"a b:1>b:1", R"(has a host that is neither a name nor an address: "a b:1")"},
      {":1>b:1", R"(has a host that is neither a name nor an address: ":1")"},
      {"a:1>b:1>c:1", R"(has an IPv6 address without brackets: "b:1>c:1")"},
      {"a:1>b:1,A:1>c:1", R"(has two pairs for "A:1")"}};
  for (const auto& [text, fault] : wrong) {
    settings values;
    const auto result = set_option(values, "address_map", text);
    EXPECT_EQ(result.code, status::invalid_argument) << text;
    EXPECT_EQ(result.message,
              std::string("address_map: the value ") + fault +
                  "; give announced>reachable addresses such as 10.0.0.5:6379>localhost:7001, "
                  "separated by commas");
  }
}

}  // namespace
}  // namespace mortise::address_map_test
