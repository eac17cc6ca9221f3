#include "protocol/native/acknowledgement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "redis/resp/resp.hpp"

namespace mortise::protocol {
namespace {

TEST(replication, is_reported_by_a_master) {
  const auto parsed = read_replication(
      "# Replication\r\nrole:master\r\nconnected_slaves:3\r\n"
      "slave0:ip=::1,port=1,state=online,offset=14,lag=0\r\n"
      "slave1:ip=::1,port=2,state=wait_bgsave,offset=0,lag=0\r\n"
      "slave2:ip=::1,port=3,state=online,offset=14,lag=1\r\n"
      "master_replid:a1\r\nmaster_replid2:0\r\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ("a1", parsed->history);
  EXPECT_EQ(2, parsed->online);
  EXPECT_EQ(3, parsed->connected);
}

TEST(replication, is_nothing_of_a_replica_or_of_who_hides_it) {
  EXPECT_FALSE(read_replication("role:slave\r\nmaster_replid:a1\r\n"));
  EXPECT_FALSE(read_replication("role:master\r\n"));
  EXPECT_FALSE(read_replication(""));
}

struct parsed {
  explicit parsed(std::string text) : bytes(std::move(text)) { reader.parse(bytes); }
  [[nodiscard]] const redis::value& value() const { return reader.reply(); }
  const std::string bytes;
  redis::parser reader;
};

TEST(replicas_of_a_cluster, are_those_that_are_not_gone) {
  const parsed found(
      "*5\r\n"
      "+a ::1:1@2 slave m 0 1 1 connected\r\n"
      "+b ::1:1@2 slave,fail? m 0 1 1 connected\r\n"
      "+c ::1:1@2 slave,fail m 0 1 1 disconnected\r\n"
      "+d :0@0 slave,noaddr m 0 1 1 disconnected\r\n"
      "+e ::1:1@2 myself,slave m 0 1 1 connected\r\n");
  EXPECT_EQ(3, count_replicas(found.value()));
}

TEST(replicas_of_a_cluster, are_unknown_where_the_answer_is_none) {
  EXPECT_FALSE(count_replicas(parsed("-ERR Unknown node a\r\n").value()));
  EXPECT_EQ(0, count_replicas(parsed("*0\r\n").value()));
  EXPECT_EQ(2, count_replicas(parsed("*2\r\n+\r\n+no flags\r\n").value()));
}

TEST(acknowledgement_by_fsync, counts_replicas_once_the_server_has_it) {
  const acknowledgement_terms terms{.replicas = 1, .is_fsynced = true};
  EXPECT_EQ(2, read_wait(terms, parsed("*2\r\n:1\r\n:2\r\n").value()));
  EXPECT_EQ(-1, read_wait(terms, parsed("*2\r\n:0\r\n:2\r\n").value()));
  std::string out;
  write_wait(out, terms, 1, 50);
  EXPECT_EQ("*4\r\n$7\r\nWAITAOF\r\n$1\r\n1\r\n$1\r\n1\r\n$2\r\n50\r\n", out);
}

TEST(acknowledgement_in_memory, counts_replicas) {
  const acknowledgement_terms terms{.replicas = 1};
  EXPECT_EQ(2, read_wait(terms, parsed(":2\r\n").value()));
  std::string out;
  write_wait(out, terms, 1, 50);
  EXPECT_EQ("*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$2\r\n50\r\n", out);
}

// A newer server waits for the last write of its connection, and does not wait without a write
// (hazard 9). One of these steps always writes.
TEST(mark, is_a_write) {
  std::string out;
  write_mark(out, {"client"}, "{slot}");
  EXPECT_EQ(
      "*6\r\n$3\r\nSET\r\n$25\r\nmortise:acks:client{slot}\r\n$0\r\n\r\n$2\r\nPX\r\n$5\r\n60000\r\n"
      "$2\r\nNX\r\n*3\r\n$7\r\nPEXPIRE\r\n$25\r\nmortise:acks:client{slot}\r\n$5\r\n60000\r\n",
      out);
}

TEST(mark, is_made_or_prolonged) {
  const parsed ok("+OK\r\n");
  const parsed null("_\r\n");
  const parsed one(":1\r\n");
  const parsed none(":0\r\n");
  const parsed full("-OOM command not allowed\r\n");
  EXPECT_TRUE(is_marked(ok.value(), one.value()));
  EXPECT_TRUE(is_marked(null.value(), one.value()));
  EXPECT_TRUE(is_marked(full.value(), one.value()));
  EXPECT_FALSE(is_marked(null.value(), none.value()));
  EXPECT_FALSE(is_marked(full.value(), none.value()));
}

}  // namespace
}  // namespace mortise::protocol
