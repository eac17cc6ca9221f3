// The value of a hold: set by its owner, repeated with each renewal, and gone with the hold.
#include <vector>

#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_value_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::step;

class gate_value_test : public gate_test {
 protected:
  explicit gate_value_test(const protocol::table& rules = protocol::queued()) : gate_test(rules) {}
  outcome set(lock::owner& holder, const char* text, time_ns now) {
    return gate_.set_value(holder, text, set_, now);
  }
  // `first_` holds and has a value at the servers.
  void hold_with_value() {
    hold_first();
    ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
    answer_last(result_of(answer::value_set), start_ns + ms(3));
    ASSERT_EQ(set_.finished, 1);
  }
  [[nodiscard]] std::vector<step> steps(std::size_t from) const {
    std::vector<step> all;
    for (auto i = from; i < io_.requests.size(); ++i) all.push_back(io_.requests[i].what);
    return all;
  }

  other_call set_;
  other_call unlocked_;
};

TEST_F(gate_value_test, a_value_is_sent_and_its_reply_ends_the_call) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  EXPECT_EQ(io_.last().what, step::set_value);
  EXPECT_EQ(io_.last().value, "here");
  EXPECT_EQ(io_.last().token, io_.requests[0].token);
  EXPECT_EQ(set_.finished, 0);
  answer_last(result_of(answer::value_set), start_ns + ms(3));
  EXPECT_EQ(set_.finished, 1);
  EXPECT_TRUE(set_.result.ok());
}

TEST_F(gate_value_test, only_a_hold_has_a_value) {
  EXPECT_EQ(set(first_, "here", start_ns).code, status::not_owner);
  hold_first();
  EXPECT_EQ(set(first_, "here", start_ns + ms(40'000)).code, status::lost);
  EXPECT_EQ(set_.finished, 0);
}

TEST_F(gate_value_test, each_renewal_is_followed_by_the_value) {
  hold_with_value();
  gate_.on_timer(start_ns + ms(11'000));
  ASSERT_EQ(io_.last().what, step::renew);
  const auto before = io_.count();
  answer_last(result_of(answer::renewed), start_ns + ms(11'001));
  ASSERT_EQ(steps(before), std::vector{step::set_value});
  EXPECT_EQ(io_.last().value, "here");
}

TEST_F(gate_value_test, hazard_17_a_server_without_the_hold_is_asked_and_the_hold_is_lost) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  answer_last(result_of(answer::not_owner), start_ns + ms(3));
  EXPECT_EQ(set_.finished, 0);
  ASSERT_EQ(io_.last().what, step::renew);
  answer_last(result_of(answer::not_owner), start_ns + ms(4));
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(set_.result.code, status::lost);
}

TEST_F(gate_value_test, a_refusal_ends_the_call_and_the_next_renewal_tries_again) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  answer_last(refused("OOM command not allowed when used memory > 'maxmemory'."), start_ns + ms(3));
  EXPECT_EQ(set_.result.code, status::refused);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(3)));
  gate_.on_timer(start_ns + ms(11'000));
  answer_last(result_of(answer::renewed), start_ns + ms(11'001));
  EXPECT_EQ(io_.last().value, "here");
}

TEST_F(gate_value_test, an_unlock_removes_the_value_before_it_releases) {
  hold_with_value();
  const auto before = io_.count();
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(4)).ok());
  ASSERT_EQ(steps(before), (std::vector{step::set_value, step::release_alone}));
  EXPECT_EQ(io_.requests[before].value, "");
  answer_last(result_of(answer::released), start_ns + ms(5));
  EXPECT_TRUE(unlocked_.result.ok());
}

TEST_F(gate_value_test, a_hold_without_a_value_sends_no_more_than_before) {
  hold_first();
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(4)).ok());
  EXPECT_EQ(steps(1), std::vector{step::release_alone});
}

TEST_F(gate_value_test, a_removed_value_is_not_sent_again) {
  hold_with_value();
  other_call removed;
  ASSERT_TRUE(gate_.set_value(first_, "", removed, start_ns + ms(4)).ok());
  answer_last(result_of(answer::value_set), start_ns + ms(5));
  EXPECT_TRUE(removed.result.ok());
  const auto before = io_.count();
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(6)).ok());
  EXPECT_EQ(steps(before), std::vector{step::release_alone});
}

// Otherwise the servers would show the value of the first holder as that of the second.
TEST_F(gate_value_test, hazard_16_a_hold_with_a_value_is_not_passed_on) {
  hold_with_value();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(4)).ok());
  const auto before = io_.count();
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(5)).ok());
  EXPECT_EQ(steps(before), (std::vector{step::set_value, step::release_alone, step::try_take}));
  EXPECT_NE(io_.last().token, io_.requests[0].token);
}

TEST_F(gate_value_test, hazard_16_a_hold_with_a_value_is_not_retained) {
  first_.retain_ms = 5'000;
  hold_with_value();
  const auto before = io_.count();
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(5)).ok());
  EXPECT_EQ(steps(before), (std::vector{step::set_value, step::release_alone}));
}

TEST_F(gate_value_test, the_value_of_a_handle_follows_each_grant) {
  first_.value = "always";
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(), start_ns + ms(1));
  EXPECT_EQ(io_.last().what, step::set_value);
  EXPECT_EQ(io_.last().value, "always");
}

TEST_F(gate_value_test, a_second_call_at_a_time_is_busy) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  other_call second;
  EXPECT_EQ(gate_.set_value(first_, "there", second, start_ns + ms(3)).code, status::busy);
}

TEST_F(gate_value_test, an_unlock_ends_a_call_that_waits) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked_, start_ns + ms(3)).ok());
  EXPECT_EQ(set_.result.code, status::not_owner);
  EXPECT_EQ(io_.last().what, step::release_alone) << "the open request is no attempt to acquire";
}

TEST_F(gate_value_test, hazard_28_a_value_without_a_reply_may_have_been_stored) {
  hold_first();
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  io_.is_up = false;
  gate_.abandon(set_, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(set_.result.code, status::unknown);
  EXPECT_TRUE(set_.result.is_ambiguous);
}

TEST_F(gate_value_test, a_value_that_was_not_sent_was_not_stored) {
  hold_first();
  io_.is_up = false;
  ASSERT_TRUE(set(first_, "here", start_ns + ms(2)).ok());
  gate_.abandon(set_, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(set_.result.code, status::unreachable);
}

class quorum_value_test : public gate_value_test {
 protected:
  quorum_value_test() : gate_value_test(protocol::ballot()) {}
};

TEST_F(quorum_value_test, a_quorum_stores_no_values) {
  hold_first();
  EXPECT_EQ(set(first_, "here", start_ns + ms(2)).code, status::unsupported);
}

class shared_value_test : public gate_value_test {
 protected:
  shared_value_test() : gate_value_test(protocol::queued_rw()) {
    first_.capacity = second_.capacity = exclusive_permits;
    for (auto* const call : {&first_call_, &second_call_}) call->amount = {hold_mode::shared, 1};
  }
};

TEST_F(shared_value_test, readers_that_share_a_hold_have_no_value) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  ASSERT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(set(first_, "here", start_ns + ms(3)).code, status::unsupported);
}

TEST_F(shared_value_test, hazard_16_no_reader_joins_a_hold_with_a_value) {
  hold_with_value();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(4)).ok());
  EXPECT_EQ(second_call_.finished, 0);
  EXPECT_NE(io_.last().token, io_.requests[0].token);
}

TEST_F(shared_value_test, readers_with_a_value_of_their_handle_do_not_share) {
  first_.value = "always";
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns).ok());
  EXPECT_EQ(io_.count(), 2U);
}

}  // namespace
}  // namespace mortise::testing::gate_value_test
