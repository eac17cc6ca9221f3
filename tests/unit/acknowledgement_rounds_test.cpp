// The rounds of acknowledgements as traces: replies of a server in, notifications out.
#include "deployment/replication/rounds/acknowledgement_rounds.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "redis/resp/resp.hpp"

namespace mortise::deployment {
namespace {

using notifications = acknowledgement_rounds::notifications;

class waiting_reply final : public unacknowledged {
 private:
  void on_acknowledged(const outcome& /*result*/, time_ns /*now*/) noexcept override {}
  void on_server_lost(time_ns /*now*/) noexcept override {}
};

constexpr auto all = protocol::acknowledgement_terms::all;

class rounds_test : public testing::Test {
 protected:
  explicit rounds_test(std::int64_t replicas = 2, bool asks_cluster = false)
      : rounds_({replicas, false}, asks_cluster, {"client"}) {
    rounds_.begin({"a1", 2, 2}, "own");
  }

  [[nodiscard]] acknowledgement_rounds::context at(time_ns now) const {
    return {std::make_shared<const std::string>("server"), list_, now};
  }
  // Starts a poll, and returns its number of replies.
  int poll(time_ns now = 0) {
    bytes_.clear();
    return rounds_.next(bytes_, at(now), pending_);
  }
  void reply(const std::string& text) {
    redis::parser reader;
    reader.parse(text);
    is_complete_ = rounds_.take(reader.reply());
  }
  void reply_marked() {
    reply("+OK\r\n");
    reply(":0\r\n");
  }
  void reply_waited(int replicas) { reply(":" + std::to_string(replicas) + "\r\n"); }
  void reply_history(const std::string& history, int online = 2, int connected = 2) {
    std::string text = "role:master\r\nconnected_slaves:" + std::to_string(connected) + "\r\n";
    for (int i = 0; i < connected; ++i) {
      text += "slave" + std::to_string(i) +
              ":ip=::1,port=1,state=" + (i < online ? "online" : "wait_bgsave") +
              ",offset=1,lag=0\r\n";
    }
    text += "master_replid:" + history + "\r\n";
    reply("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  }
  notifications finish(time_ns now = 0) {
    EXPECT_TRUE(is_complete_);
    notifications result;
    rounds_.finish(at(now), result);
    return result;
  }

  acknowledgement_rounds rounds_;
  std::optional<listed_replicas> list_;
  notifications pending_;
  std::string bytes_;
  bool is_complete_ = false;
  waiting_reply first_;
  waiting_reply second_;
};

class rounds_of_all_test : public rounds_test {
 protected:
  rounds_of_all_test() : rounds_test(all) {}
};

class rounds_of_cluster_test : public rounds_test {
 protected:
  rounds_of_cluster_test() : rounds_test(all, true) {}
};

TEST_F(rounds_test, nothing_is_sent_while_nothing_waits) { EXPECT_EQ(0, poll()); }

TEST_F(rounds_test, a_poll_marks_waits_and_asks_for_the_history) {
  rounds_.add(first_);
  EXPECT_EQ(4, poll());
  EXPECT_NE(bytes_.npos, bytes_.find("WAIT"));
  reply_marked();
  reply_waited(2);
  EXPECT_FALSE(is_complete_);
  reply_history("a1");
  auto result = finish();
  EXPECT_EQ(&first_, result.acknowledged.pop());
}

TEST_F(rounds_test, a_reply_of_later_uses_the_next_mark) {
  rounds_.add(first_);
  EXPECT_EQ(4, poll());
  rounds_.add(second_);
  EXPECT_EQ(0, poll());
  reply_marked();
  reply_waited(2);
  reply_history("a1");
  auto result = finish();
  EXPECT_EQ(&first_, result.acknowledged.pop());
  EXPECT_TRUE(result.acknowledged.is_empty());
  EXPECT_EQ(4, poll());
}

TEST_F(rounds_test, hazard_8_too_few_replicas_are_waited_for_again_without_a_mark) {
  rounds_.add(first_);
  poll();
  reply_marked();
  reply_waited(1);
  reply_history("a1");
  auto result = finish(-1);
  EXPECT_TRUE(result.acknowledged.is_empty());
  EXPECT_TRUE(result.failed.is_empty());
  EXPECT_EQ(2, poll(-1));
  reply_waited(1);
  reply_history("a1");
  result = finish(0);
  EXPECT_EQ(&first_, result.failed.pop());
  EXPECT_NE(result.why.words().npos, result.why.words().find("1 of 2 replicas of server"));
}

TEST_F(rounds_test, hazard_7_another_history_sends_all_requests_again) {
  rounds_.add(first_);
  poll();
  rounds_.add(second_);
  reply_marked();
  reply_waited(2);
  reply_history("b2");
  auto result = finish();
  EXPECT_TRUE(result.acknowledged.is_empty());
  EXPECT_EQ(&first_, result.lost.pop());
  EXPECT_EQ(&second_, result.lost.pop());
  EXPECT_TRUE(result.is_ready_again);
  EXPECT_EQ("b2", rounds_.history());
}

TEST_F(rounds_test, a_mark_that_failed_fails_only_its_slot) {
  rounds_.add(first_);
  poll();
  reply("-MOVED 1 ::1:7\r\n");
  reply("-MOVED 1 ::1:7\r\n");
  reply_waited(2);
  reply_history("a1");
  auto result = finish();
  EXPECT_EQ(&first_, result.failed.pop());
  EXPECT_EQ(status::unreachable, result.why.code);
  EXPECT_TRUE(result.why.is_retryable);
}

TEST_F(rounds_test, a_server_that_has_become_a_replica_is_recognized) {
  rounds_.add(first_);
  poll();
  reply_marked();
  reply("-UNBLOCKED force unblock from blocking operation\r\n");
  reply_history("a1");
  EXPECT_TRUE(rounds_.is_of_replica());
}

TEST_F(rounds_test, a_poll_that_was_not_sent_fails_its_replies) {
  rounds_.add(first_);
  poll();
  rounds_.fail_poll(status::no_memory, pending_);
  EXPECT_EQ(&first_, pending_.failed.pop());
  rounds_.add(second_);
  EXPECT_EQ(4, poll());
}

TEST_F(rounds_of_all_test, hazard_8_a_replica_without_the_data_is_needed_too) {
  list_ = {2, 2, 0};
  rounds_.add(first_);
  poll();
  reply_marked();
  reply_waited(2);
  reply_history("a1", 2, 3);
  auto result = finish();
  EXPECT_TRUE(result.acknowledged.is_empty());
  EXPECT_TRUE(result.is_short);
}

TEST_F(rounds_of_all_test, hazard_8_a_discounted_replica_is_needed_again_after_a_while) {
  list_ = {3, 2, 0};
  rounds_.add(first_);
  poll();
  reply_marked();
  reply_waited(2);
  reply_history("a1");
  auto result = finish();
  EXPECT_EQ(&first_, result.acknowledged.pop());

  rounds_.add(second_);
  poll(ns_per_s);
  EXPECT_TRUE(pending_.is_short);
  reply_marked();
  reply_waited(2);
  reply_history("a1");
  result = finish(ns_per_s);
  EXPECT_TRUE(result.acknowledged.is_empty());
}

TEST_F(rounds_of_all_test, nothing_is_sent_before_the_list_of_replicas_is_known) {
  rounds_.add(first_);
  EXPECT_EQ(0, poll());
  EXPECT_EQ(&first_, pending_.failed.pop());
  EXPECT_TRUE(pending_.is_short);
  EXPECT_TRUE(pending_.why.is_retryable);
}

TEST_F(rounds_of_cluster_test, hazard_8_the_list_of_the_cluster_counts) {
  rounds_.add(first_);
  EXPECT_EQ(5, poll());
  reply_marked();
  reply_waited(2);
  reply_history("a1");
  reply(
      "*3\r\n"
      "+a ::1:1@2 slave m 0 1 1 connected\r\n"
      "+b ::1:1@2 slave m 0 1 1 connected\r\n"
      "+c ::1:1@2 slave m 0 1 1 disconnected\r\n");
  auto result = finish();
  EXPECT_TRUE(result.acknowledged.is_empty());
  EXPECT_TRUE(result.is_short);
}

}  // namespace
}  // namespace mortise::deployment
