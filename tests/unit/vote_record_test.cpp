// Which servers are owed a release, and when they are sent it.
#include "deployment/redlock/votes/vote_record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "deployment/redlock/votes/delivery.hpp"

namespace mortise::quorum {
namespace vote_record_test {
namespace {

using lock::answer;
using lock::step;
using lock::step_result;

step_result result_of(answer what, bool is_retryable = false) {
  step_result result;
  result.what = what;
  result.details.is_retryable = is_retryable;
  return result;
}

TEST(vote_records, a_vote_may_be_there_from_the_request_to_an_answer_that_says_no) {
  vote_record votes;
  EXPECT_TRUE(votes.may_know(0)) << "no request is known";
  EXPECT_TRUE(votes.is_empty());
  votes.note_sent(1, step::try_take);
  EXPECT_TRUE(votes.may_know(1));
  EXPECT_FALSE(votes.may_know(0));
  EXPECT_TRUE(votes.may_have(1));
  EXPECT_FALSE(votes.may_have(0));
  for (const auto no : {answer::not_free, answer::refused, answer::no_script, answer::unsent}) {
    votes.note_answer(1, step::try_take, result_of(no));
    EXPECT_TRUE(votes.is_empty()) << "nothing was left there";
    votes.note_sent(1, step::try_take);
  }
  // It is not known whether it was carried out (hazard 15).
  votes.note_answer(1, step::try_take, result_of(answer::broken));
  EXPECT_TRUE(votes.may_have(1));
  votes.note_sent(1, step::release);
  votes.note_answer(1, step::release, result_of(answer::broken));
  EXPECT_TRUE(votes.lacks_release(1));
  votes.note_sent(1, step::release);
  EXPECT_FALSE(votes.lacks_release(1)) << "it is on its way";
  votes.note_answer(1, step::release, result_of(answer::released));
  EXPECT_TRUE(votes.is_empty());
}

TEST(vote_records, an_upgrade_that_is_refused_leaves_the_vote) {
  vote_record votes;
  votes.note_sent(0, step::try_take);
  votes.note_answer(0, step::try_take, result_of(answer::granted));
  votes.note_answer(0, step::raise, result_of(answer::not_free));
  EXPECT_TRUE(votes.may_have(0));
  auto weaker = result_of(answer::not_owner);
  weaker.is_weaker = true;
  votes.note_answer(0, step::renew, weaker);
  EXPECT_TRUE(votes.may_have(0)) << "a writer asked, and the vote is a reader's";
  votes.note_answer(0, step::raise, result_of(answer::not_owner));
  EXPECT_FALSE(votes.may_have(0));
}

TEST(vote_records, only_a_final_refusal_ends_what_is_owed) {
  vote_record votes;
  votes.note_sent(0, step::acquire);
  votes.note_answer(0, step::acquire, result_of(answer::granted));
  const std::array<step_result, 4> passing{result_of(answer::refused, true),
                                           result_of(answer::no_script), result_of(answer::unknown),
                                           result_of(answer::unsent)};
  for (const auto& no : passing) {
    votes.note_sent(0, step::release);
    votes.note_answer(0, step::release, no);
    EXPECT_TRUE(votes.lacks_release(0));
  }
  votes.note_sent(0, step::release);
  votes.note_answer(0, step::release, result_of(answer::refused));
  EXPECT_TRUE(votes.is_empty());
}

// The release of the round before takes nothing of this one, whenever it is answered (hazard 16).
TEST(vote_records, a_release_of_an_earlier_proposal_says_nothing_of_a_later_vote) {
  vote_record votes;
  votes.note_sent(0, step::acquire);
  votes.note_sent(0, step::release);
  votes.note_sent(0, step::acquire);
  votes.note_answer(0, step::acquire, result_of(answer::not_free));
  votes.note_answer(0, step::acquire, result_of(answer::granted));
  votes.note_answer(0, step::release, result_of(answer::not_owner), false);
  EXPECT_TRUE(votes.may_have(0));
}

TEST(deliveries, come_at_once_and_then_later_and_later) {
  delivery owed;
  EXPECT_FALSE(owed.is_due(1));
  owed.begin();
  EXPECT_TRUE(owed.is_due(1));
  time_ns now = 1;
  time_ns longest = 0;
  for (int i = 0; i < 20; ++i) {
    owed.postpone(now, 0);
    EXPECT_FALSE(owed.is_due(now));
    owed.postpone(now, 0);
    EXPECT_LE(longest, owed.due_at() - now);
    longest = owed.due_at() - now;
    now = owed.due_at();
    EXPECT_TRUE(owed.is_due(now));
  }
  EXPECT_EQ(delivery::most_delay_ns / 2, longest);
  owed.end();
  EXPECT_FALSE(owed.is_due(now + 60 * ns_per_s));
}

TEST(deliveries, come_a_batch_at_a_time) {
  delivery owed;
  owed.begin();
  for (std::size_t i = 0; i < delivery::batch; ++i) {
    EXPECT_FALSE(owed.is_full());
    owed.note_sent();
  }
  EXPECT_TRUE(owed.is_full());
  for (std::size_t i = 0; i < delivery::batch; ++i) {
    EXPECT_FALSE(owed.is_due(1));
    owed.note_answered();
  }
  EXPECT_TRUE(owed.is_due(1));
}

TEST(deliveries, delays_double_up_to_a_limit_and_half_of_them_is_by_chance) {
  EXPECT_EQ(25, spread_delay(50, 0, 1000, 0));
  EXPECT_EQ(50, spread_delay(50, 0, 1000, 25));
  EXPECT_EQ(100, spread_delay(50, 2, 1000, 0));
  EXPECT_EQ(500, spread_delay(50, 60, 1000, 0));
  EXPECT_EQ(25, spread_delay(50, 60, 10, 0)) << "never less than the first";
}

}  // namespace
}  // namespace vote_record_test
}  // namespace mortise::quorum
