#include "deployment/cluster/routing/topology.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mortise::testing::cluster_topology_test {
namespace {

using cluster::endpoint;
using cluster::read_moved;
using cluster::slot_range;

const endpoint seed{"seed.example", 7000};

class topology : public ::testing::Test {
 protected:
  bool read(const std::string& reply) {
    EXPECT_EQ(redis::parse_result::complete, parser_.parse(reply));
    return cluster::read_slots(parser_.reply(), seed, epochs, ranges);
  }
  std::vector<slot_range> ranges;
  cluster::config_epochs epochs;

 private:
  redis::parser parser_;
};

// [first, last, [host, port, id, besides] …]
std::string range(int first, int last, const std::string& servers, int count) {
  return "*" + std::to_string(2 + count) + "\r\n:" + std::to_string(first) +
         "\r\n:" + std::to_string(last) + "\r\n" + servers;
}
std::string server(const std::string& host, int port, const std::string& besides = "*0\r\n") {
  return "*4\r\n" + host + ":" + std::to_string(port) + "\r\n$2\r\nid\r\n" + besides;
}

TEST_F(topology, ranges_have_a_master_and_replicas) {
  ASSERT_TRUE(read("*2\r\n" + range(0, 99, server("$1\r\na\r\n", 1) + server("$1\r\nb\r\n", 2), 2) +
                   range(100, 16383, server("$3\r\n::1\r\n", 3), 1)));
  ASSERT_EQ(2U, ranges.size());
  EXPECT_EQ((endpoint{"a", 1}), ranges[0].master);
  EXPECT_EQ((std::vector<endpoint>{{"b", 2}}), ranges[0].replicas);
  EXPECT_EQ(99, ranges[0].last);
  EXPECT_EQ("[::1]:3", ranges[1].master.text());
}

// Each slot is a range, as after many migrations, and each server reports a host name.
TEST(topology_limits, the_most_fragmented_cluster_is_read) {
  const auto metadata = "*2\r\n$8\r\nhostname\r\n$60\r\n" + std::string(60, 'h') + "\r\n";
  std::string servers;
  for (const int port : {1, 2, 3}) {
    servers += "*4\r\n$10\r\n10.10.0.10\r\n:" + std::to_string(port) + "\r\n$40\r\n" +
               std::string(40, 'i') + "\r\n" + metadata;
  }
  std::string reply = "*16384\r\n";
  for (int slot = 0; slot < 16384; ++slot) reply += range(slot, slot, servers, 3);
  redis::parser parser(cluster::reply_limits);
  ASSERT_EQ(redis::parse_result::complete, parser.parse(reply)) << parser.problem();
  std::vector<slot_range> ranges;
  ASSERT_TRUE(cluster::read_slots(parser.reply(), seed, {}, ranges));
  EXPECT_EQ(16384U, ranges.size());
}

TEST_F(topology, a_range_has_the_epoch_of_its_master) {
  const auto reply = "*1\r\n" + range(0, 99, server("$1\r\na\r\n", 1), 1);
  ASSERT_TRUE(read(reply));
  EXPECT_EQ(0, ranges[0].epoch) << "unknown";
  epochs = cluster::read_epochs("id 10.0.0.1:1@2,host master - 0 1 17 connected 0-99\n");
  ASSERT_TRUE(read(reply));
  EXPECT_EQ(17, ranges[0].epoch);
}

TEST(config_epochs, are_the_seventh_word_of_a_line) {
  const auto epochs = cluster::read_epochs(
      "a 10.0.0.1:1@2 myself,master - 0 0 3 connected 0-5460 [7->-b]\n"
      "b :0@0 slave,noaddr a 0 0 4 disconnected\r\n"
      "short line\n"
      "\n"
      "c 10.0.0.3:1@2 master - 0 0 many connected\n"
      "d 10.0.0.4:1@2 master - 0 0 -1 connected\n"
      "e 10.0.0.5:1@2 master - 0 0 0 connected\n"
      "f 10.0.0.6:1@2 master - 0 0 9223372036854775808 connected\n"
      "g 10.0.0.7:1@2 master - 0 0 5");
  EXPECT_EQ((cluster::config_epochs{{"a", 3}, {"b", 4}, {"g", 5}}), epochs);
  EXPECT_TRUE(cluster::read_epochs("").empty());
}

// For an unknown host of its own Redis replies null, "" or "?".
TEST_F(topology, a_server_without_a_name_is_the_one_that_was_asked) {
  ASSERT_TRUE(read("*2\r\n" + range(0, 99, server("$-1\r\n", 1), 1) +
                   range(100, 199, server("$0\r\n\r\n", 2), 1)));
  EXPECT_EQ((endpoint{"seed.example", 1}), ranges[0].master);
  EXPECT_EQ((endpoint{"seed.example", 2}), ranges[1].master);
}

TEST_F(topology, a_host_without_a_name_has_an_address) {
  ASSERT_TRUE(read("*2\r\n" +
                   range(0, 99, server("$1\r\n?\r\n", 1, "*2\r\n$2\r\nip\r\n$3\r\n1.2\r\n"), 1) +
                   range(100, 199, server("$1\r\n?\r\n", 2), 1)));
  EXPECT_EQ((endpoint{"1.2", 1}), ranges[0].master);
  EXPECT_EQ((endpoint{"seed.example", 2}), ranges[1].master);
}

// Neither of two addresses is believed (hazard 31): the server that was asked has one that is
// right.
TEST_F(topology, a_host_with_two_addresses_has_none) {
  ASSERT_TRUE(
      read("*1\r\n" +
           range(0, 99, server("$1\r\n?\r\n", 1, "*4\r\n+ip\r\n+1.2\r\n+ip\r\n+1.3\r\n"), 1)));
  EXPECT_EQ((endpoint{"seed.example", 1}), ranges[0].master);
}

TEST_F(topology, what_makes_no_sense_is_not_taken) {
  ranges.resize(7);
  EXPECT_FALSE(read(":1\r\n"));
  EXPECT_FALSE(read("*1\r\n" + range(0, 16384, server("$1\r\na\r\n", 1), 1)));
  EXPECT_FALSE(read("*1\r\n" + range(5, 4, server("$1\r\na\r\n", 1), 1)));
  EXPECT_FALSE(read("*1\r\n" + range(0, 1, server("$1\r\na\r\n", 0), 1)));
  EXPECT_FALSE(read("*1\r\n" + range(0, 1, "", 0)));
  EXPECT_EQ(7U, ranges.size());
}

TEST(moved, says_where_a_slot_has_gone) {
  const auto plain = read_moved("MOVED 3999 127.0.0.1:6381", seed);
  ASSERT_TRUE(plain);
  EXPECT_EQ(3999, plain->slot);
  EXPECT_EQ((endpoint{"127.0.0.1", 6381}), plain->target);
  EXPECT_EQ((endpoint{"::1", 6381}), read_moved("MOVED 1 ::1:6381", seed)->target);
  EXPECT_EQ((endpoint{"seed.example", 7}), read_moved("MOVED 1 :7", seed)->target);
  EXPECT_EQ((endpoint{"seed.example", 7}), read_moved("MOVED 1 ?:7", seed)->target);
  EXPECT_TRUE(read_moved("EXECABORT Transaction discarded because of: MOVED 1 a:7", seed));
}

TEST(moved, another_error_says_nothing) {
  for (const auto* text : {"ASK 1 a:7", "ERR MOVED", "MOVED", "MOVED 1", "MOVED x a:7",
                           "MOVED 16384 a:7", "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 a"}) {
    EXPECT_FALSE(read_moved(text, seed)) << text;
  }
}

TEST(moved, a_slot_on_its_way_is_something_else) {
  EXPECT_TRUE(cluster::is_migration_error("ASK 1 a:7"));
  EXPECT_TRUE(
      cluster::is_migration_error("TRYAGAIN Multiple keys request during rehashing of slot"));
  EXPECT_FALSE(cluster::is_migration_error("MOVED 1 a:7"));
  EXPECT_FALSE(cluster::is_migration_error("CLUSTERDOWN The cluster is down"));
}

TEST(moved, a_key_that_has_gone_ahead_of_its_slot_has_an_address) {
  const auto ask = cluster::read_ask("ASK 3999 127.0.0.1:6381", seed);
  ASSERT_TRUE(ask);
  EXPECT_EQ((endpoint{"127.0.0.1", 6381}), ask->target);
  EXPECT_FALSE(cluster::read_ask("MOVED 3999 127.0.0.1:6381", seed));
  EXPECT_FALSE(cluster::read_ask("ASK", seed));
  EXPECT_FALSE(cluster::read_ask("TRYAGAIN Multiple keys request", seed));
}

TEST(moved, a_script_that_a_move_has_cut_short_is_distinguished) {
  EXPECT_TRUE(
      cluster::is_cut_short("ERR Script attempted to access a non local key in a cluster node "
                            "script: 3f, on @user_script:7."));
  EXPECT_FALSE(cluster::is_cut_short("ERR Script attempted to access a key"));
  EXPECT_FALSE(cluster::is_cut_short("TRYAGAIN Multiple keys request"));
}

}  // namespace
}  // namespace mortise::testing::cluster_topology_test
