// A holder is notified that others wait, once per hold, if its handle asks for that.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_contention_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::step;

using owners = std::vector<lock::owner*>;

class gate_contention_test : public gate_test {
 protected:
  explicit gate_contention_test(const protocol::table& rules = protocol::queued())
      : gate_test(rules) {
    first_.reports_contention = second_.reports_contention = true;
  }
  void message_of_waiter(time_ns now) { gate_.on_waiter(io_.requests[0].token, now); }
};

TEST_F(gate_contention_test, a_message_of_a_waiter_is_reported_once) {
  hold_first();
  EXPECT_TRUE(contended_.empty());
  message_of_waiter(start_ns + ms(2));
  EXPECT_EQ(contended_, owners{&first_});
  message_of_waiter(start_ns + ms(3));
  EXPECT_EQ(contended_, owners{&first_});
}

TEST_F(gate_contention_test, nothing_is_reported_without_a_request) {
  first_.reports_contention = false;
  hold_first();
  message_of_waiter(start_ns + ms(2));
  EXPECT_TRUE(contended_.empty());
}

TEST_F(gate_contention_test, a_local_waiter_is_reported_and_a_try_is_not) {
  hold_first();
  acquire_call tries(second_, true);
  ASSERT_TRUE(gate_.acquire(tries, start_ns + ms(2)).ok());
  EXPECT_TRUE(contended_.empty());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(3)).ok());
  EXPECT_EQ(contended_, owners{&first_});
  EXPECT_EQ(io_.count(), 1U) << "without a request to the server";
}

TEST_F(gate_contention_test, each_hold_has_its_own_report) {
  hold_first();
  message_of_waiter(start_ns + ms(2));
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(3)).ok());
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(4)).ok());
  ASSERT_EQ(io_.last().what, step::renew) << "the pass draws a token";
  auto renewed = result_of(answer::renewed);
  renewed.last_token = first_token + 1;
  renewed.others_wait = true;
  answer_last(renewed, start_ns + ms(5));
  ASSERT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(contended_, (owners{&first_, &second_}));
}

TEST_F(gate_contention_test, a_grant_with_waiters_behind_it_is_reported_after_the_acquire) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(60'000, 0), start_ns + ms(2));
  auto grant = grant_to(io_.last());
  grant.others_wait = true;
  EXPECT_TRUE(gate_.on_grant(grant, start_ns + ms(3)));
  ASSERT_EQ(first_call_.result.code, status::ok);
  EXPECT_EQ(contended_, owners{&first_});
}

TEST_F(gate_contention_test, hazard_24_a_renewal_reports_waiters_whose_message_was_lost) {
  hold_first();
  gate_.on_timer(start_ns + ms(11'000));
  ASSERT_EQ(io_.last().what, step::renew);
  auto renewed = result_of(answer::renewed);
  renewed.others_wait = true;
  answer_last(renewed, start_ns + ms(11'001));
  EXPECT_EQ(contended_, owners{&first_});
}

TEST_F(gate_contention_test, a_new_watch_gets_the_report_again) {
  hold_first();
  gate_.repeat_contention(first_);
  EXPECT_TRUE(contended_.empty());
  message_of_waiter(start_ns + ms(2));
  gate_.repeat_contention(first_);
  EXPECT_EQ(contended_, (owners{&first_, &first_}));
}

class quorum_contention_test : public gate_contention_test {
 protected:
  quorum_contention_test() : gate_contention_test(protocol::ballot()) {}
};

TEST_F(quorum_contention_test, a_grant_that_shows_no_waiters_is_no_report) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, 1, true), start_ns + ms(1));
  ASSERT_EQ(first_call_.result.code, status::ok);
  EXPECT_TRUE(io_.says_shared) << "so that servers notify this client";
  EXPECT_TRUE(contended_.empty());
  message_of_waiter(start_ns + ms(2));
  EXPECT_EQ(contended_, owners{&first_});
}

TEST_F(quorum_contention_test, a_message_before_the_grant_is_reported_after_it) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  message_of_waiter(start_ns + ms(1));
  EXPECT_TRUE(contended_.empty());
  answer_last(granted(first_token, 1, true), start_ns + ms(2));
  EXPECT_EQ(contended_, owners{&first_});
}

class shared_contention_test : public gate_contention_test {
 protected:
  shared_contention_test() : gate_contention_test(protocol::queued_rw()) {
    first_.capacity = second_.capacity = third_.capacity = exclusive_permits;
    for (auto* const call : {&first_call_, &second_call_}) call->amount = {hold_mode::shared, 1};
    third_call_.amount = {hold_mode::exclusive, exclusive_permits};
  }
  lock::owner third_;
  acquire_call third_call_{third_};
};

TEST_F(shared_contention_test, a_local_writer_is_reported_to_all_readers) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  ASSERT_EQ(second_call_.result.code, status::ok);
  EXPECT_TRUE(contended_.empty());
  ASSERT_TRUE(gate_.acquire(third_call_, start_ns + ms(3)).ok());
  EXPECT_EQ(contended_, (owners{&second_, &first_}));
}

TEST_F(shared_contention_test, readers_that_start_together_are_no_waiters) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns).ok());
  answer_last(granted(), start_ns + ms(1));
  ASSERT_EQ(second_call_.result.code, status::ok);
  EXPECT_TRUE(contended_.empty());
}

TEST_F(shared_contention_test, a_writer_asks_waiters_for_a_message) {
  third_.reports_contention = true;
  ASSERT_TRUE(gate_.acquire(third_call_, start_ns).ok());
  EXPECT_TRUE(io_.says_shared);
}

}  // namespace
}  // namespace mortise::testing::gate_contention_test
