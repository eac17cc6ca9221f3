// A claim that stays with its client after an unlock (`retain`), and its ends.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_retention_test {
namespace {

using lock::answer;
using lock::hold_mode;
using lock::step;

constexpr std::int64_t lease_ms = 30'000;
constexpr std::int64_t retain_ms = 100;

class gate_retention_test : public gate_test {
 protected:
  explicit gate_retention_test(const protocol::table& rules = protocol::queued())
      : gate_test(rules) {
    first_.lease_ms = second_.lease_ms = lease_ms;
    first_.retain_ms = second_.retain_ms = retain_ms;
  }
  // The first has acquired, with so many tokens, and unlocked 2 ms after the start.
  void retain_first(std::int64_t tokens = many_tokens) {
    ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
    answer_last(granted(first_token + tokens - 1, tokens), start_ns + ms(1));
    ASSERT_EQ(first_call_.given, first_token);
    unlock(first_, start_ns + ms(2));
    ASSERT_TRUE(gate_.is_retained());
  }
  void unlock(lock::owner& who, time_ns now) {
    other_call unlocked;
    unlocked.deadline = time_never;
    ASSERT_TRUE(gate_.unlock(who, hold_mode::exclusive, &unlocked, now).ok());
    ASSERT_EQ(unlocked.finished, 1);
    ASSERT_EQ(unlocked.result.code, status::ok);
  }
  // Which step gave back what was retained, or nothing.
  void expect_given_back(step by) {
    EXPECT_FALSE(gate_.is_retained());
    ASSERT_EQ(io_.count(), 2U);
    EXPECT_EQ(io_.last().what, by);
    answer_last(result_of(answer::released), start_ns + ms(200));
    EXPECT_TRUE(gate_.is_idle());
  }
};

TEST_F(gate_retention_test, an_unlock_ends_without_a_question_and_the_hold_is_over) {
  retain_first();
  EXPECT_TRUE(io_.says_retain) << "so that a waiter notifies this client";
  EXPECT_EQ(io_.count(), 1U);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(2)));
  EXPECT_FALSE(gate_.is_idle());
  other_call again;
  EXPECT_EQ(gate_.unlock(first_, hold_mode::exclusive, &again, start_ns + ms(3)).code,
            status::not_owner);
}

TEST_F(gate_retention_test, the_next_acquire_has_a_hold_of_its_own_and_asks_nothing) {
  retain_first();
  for (const auto is_try : {true, false}) {
    acquire_call next(second_, is_try);
    ASSERT_TRUE(gate_.acquire(next, start_ns + ms(3)).ok());
    ASSERT_EQ(next.result.code, status::ok);
    EXPECT_EQ(next.given, first_token + (is_try ? 1 : 2));
    EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(3)));
    EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(3)));
    unlock(second_, start_ns + ms(4));
  }
  EXPECT_EQ(io_.count(), 1U);
}

// A claim of another kind cannot take over. Its try is sent directly after the release, which the
// server repeats for its text.
class gate_of_modes_retention_test : public gate_test {
 protected:
  gate_of_modes_retention_test() : gate_test(protocol::queued_rw()) {
    first_.lease_ms = second_.lease_ms = lease_ms;
    first_.retain_ms = second_.retain_ms = retain_ms;
    first_.capacity = second_.capacity = lock::exclusive_permits;
    read_.amount = {hold_mode::shared, 1};
    write_.amount = {hold_mode::exclusive, lock::exclusive_permits};
    EXPECT_TRUE(gate_.acquire(read_, start_ns).ok());
    answer_last(granted(), start_ns + ms(1));
    other_call unlocked;
    unlocked.deadline = time_never;
    EXPECT_TRUE(gate_.unlock(first_, hold_mode::shared, &unlocked, start_ns + ms(2)).ok());
    EXPECT_TRUE(gate_.is_retained());
    EXPECT_TRUE(gate_.acquire(write_, start_ns + ms(3)).ok());
  }
  void answer(std::size_t index, const lock::step_result& result, time_ns now) {
    const auto request = io_.requests.at(index);
    gate_.on_answer(request.claim_id, request.serial, result, now);
  }
  void expect_last(step what, std::size_t count) {
    EXPECT_EQ(io_.last().what, what);
    EXPECT_EQ(io_.count(), count);
  }

  acquire_call read_{first_};
  acquire_call write_{first_, true};
};

TEST_F(gate_of_modes_retention_test, a_release_that_lacked_its_script_does_not_fail_the_try) {
  expect_last(step::try_take, 3);
  answer(1, result_of(answer::no_script), start_ns + ms(4));
  expect_last(step::release_alone, 4);
  answer(2, result_of(answer::not_free), start_ns + ms(4));
  EXPECT_EQ(write_.finished, 0);
  expect_last(step::try_take, 5);
  answer(3, result_of(answer::released), start_ns + ms(5));
  answer(4, granted(), start_ns + ms(5));
  EXPECT_EQ(write_.finished, 1);
  EXPECT_EQ(write_.result.code, status::ok);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(5)));
}

TEST_F(gate_of_modes_retention_test, a_try_is_repeated_once_only) {
  answer(1, result_of(answer::no_script), start_ns + ms(4));
  answer(2, result_of(answer::not_free), start_ns + ms(4));
  answer(4, result_of(answer::not_free), start_ns + ms(5));
  EXPECT_EQ(write_.result.code, status::not_acquired);
}

TEST_F(gate_of_modes_retention_test, a_try_that_was_refused_after_the_release_is_not_repeated) {
  answer(1, result_of(answer::released), start_ns + ms(4));
  answer(2, result_of(answer::not_free), start_ns + ms(4));
  EXPECT_EQ(write_.result.code, status::not_acquired);
  EXPECT_EQ(io_.count(), 3U);
}

TEST_F(gate_of_modes_retention_test, a_new_connection_gets_the_release_before_the_try) {
  answer(1, result_of(answer::broken), start_ns + ms(4));
  answer(2, result_of(answer::broken), start_ns + ms(4));
  gate_.on_up(start_ns + ms(5));
  ASSERT_EQ(io_.count(), 5U);
  EXPECT_EQ(io_.requests[3].what, step::release_alone);
  EXPECT_EQ(io_.requests[4].what, step::retake);
}

TEST_F(gate_retention_test, hazard_30_without_a_token_the_next_acquire_draws_one) {
  retain_first(1);
  acquire_call next(second_, true);
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(3)).ok());
  ASSERT_EQ(next.finished, 0);
  ASSERT_EQ(io_.last().what, step::renew);
  ASSERT_EQ(io_.last().reserve, 1);
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 7;
  answer_last(drawn, start_ns + ms(4));
  EXPECT_EQ(next.result.code, status::ok);
  EXPECT_EQ(next.given, first_token + 7);
}

TEST_F(gate_retention_test, hazard_30_tokens_are_not_drawn_faster_than_the_servers_clock_goes) {
  retain_first(1);
  std::int64_t counter = first_token;
  auto now = start_ns + ms(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto count = io_.count();
    acquire_call next(first_);
    now += ns_per_us / 2;  // a pair takes less than a microsecond
    ASSERT_TRUE(gate_.acquire(next, now).ok());
    if (io_.count() > count) {
      now += 40 * ns_per_us;
      auto drawn = result_of(answer::renewed);
      drawn.last_token = counter += io_.last().reserve;
      answer_last(drawn, now);
    }
    ASSERT_EQ(next.finished, 1);
    unlock(first_, now);
  }
  EXPECT_LT(counter - first_token, (now - start_ns) / ns_per_us);
}

TEST_F(gate_retention_test, it_ends_by_itself) {
  retain_first();
  EXPECT_EQ(gate_.next_timer(), start_ns + ms(2 + retain_ms));
  gate_.on_timer(start_ns + ms(2 + retain_ms));
  expect_given_back(step::release_alone);
}

TEST_F(gate_retention_test, hazard_24_the_next_acquire_asks_when_no_timer_has_ended_it) {
  retain_first();
  acquire_call next(first_);
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(2 + retain_ms)).ok());
  EXPECT_EQ(next.finished, 0);
  ASSERT_EQ(io_.count(), 3U);
  EXPECT_EQ(io_.requests[1].what, step::release_alone);
  EXPECT_EQ(io_.requests[2].what, step::try_take);
}

TEST_F(gate_retention_test, somebody_who_waits_is_handed_it_at_once) {
  retain_first();
  EXPECT_TRUE(gate_.awaits_message()) << "it is read when it comes";
  gate_.on_waiter(io_.last().token, start_ns + ms(3));
  expect_given_back(step::release);
}

TEST_F(gate_retention_test, whoever_waits_has_it_after_the_unlock_of_who_took_it_up) {
  retain_first();
  acquire_call next(second_);
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(3)).ok());
  gate_.on_waiter(io_.last().token, start_ns + ms(4));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(4)));
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(second_, hold_mode::exclusive, &unlocked, start_ns + ms(5)).ok());
  EXPECT_FALSE(gate_.is_retained());
  EXPECT_EQ(io_.last().what, step::release);
}

TEST_F(gate_retention_test, an_unlock_that_somebody_waits_for_retains_nothing) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, 1, true), start_ns + ms(1));
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(2)).ok());
  EXPECT_FALSE(gate_.is_retained());
  EXPECT_EQ(io_.last().what, step::release);
}

TEST_F(gate_retention_test, hazard_18_it_is_never_renewed_and_ends_with_half_of_its_lease) {
  first_.retain_ms = 10 * lease_ms;
  retain_first();
  const auto ends = start_ns + ms(lease_ms / 2);
  EXPECT_EQ(gate_.next_timer(), ends);
  gate_.on_timer(start_ns + ms(lease_ms / 3 + lease_ms / 20));
  EXPECT_EQ(io_.count(), 1U);
  gate_.on_timer(ends);
  expect_given_back(step::release_alone);
  EXPECT_EQ(risks_, 0);
}

TEST_F(gate_retention_test, whoever_takes_it_up_renews_it) {
  first_.retain_ms = lease_ms;
  retain_first();
  acquire_call next(second_);
  const auto late = start_ns + ms(lease_ms / 2 - 1);
  ASSERT_TRUE(gate_.acquire(next, late).ok());
  ASSERT_EQ(next.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(lease_ms));
  ASSERT_EQ(io_.count(), 2U);
  EXPECT_EQ(io_.last().what, step::renew);
  answer_last(result_of(answer::renewed), late + ms(1));
  EXPECT_EQ(gate_.valid_until(second_), late + ms(lease_ms));
}

TEST_F(gate_retention_test, hazard_1_after_a_suspension_nobody_takes_it_up) {
  retain_first();
  acquire_call next(second_);
  const auto after = start_ns + ms(2 * lease_ms);
  ASSERT_TRUE(gate_.acquire(next, after).ok());
  EXPECT_EQ(next.finished, 0);
  EXPECT_EQ(io_.last().what, step::try_take);
  EXPECT_EQ(lost_, nullptr);
}

TEST_F(gate_retention_test, a_renewal_that_was_on_its_way_does_not_bring_others) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, 2), start_ns + ms(1));
  const auto due = start_ns + ms(lease_ms / 3 + lease_ms / 20);
  gate_.on_timer(due);
  const auto renewal = io_.last();
  ASSERT_EQ(renewal.what, step::renew);
  first_.retain_ms = lease_ms;
  unlock(first_, due + ms(1));
  ASSERT_TRUE(gate_.is_retained());
  gate_.on_answer(renewal.claim_id, renewal.serial, result_of(answer::renewed), due + ms(2));
  const auto count = io_.count();
  gate_.on_timer(start_ns + ms(lease_ms / 2) - 1);
  EXPECT_EQ(io_.count(), count);
}

TEST_F(gate_retention_test, hazard_24_a_renewal_that_tells_of_others_gives_it_back) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, 2), start_ns + ms(1));
  const auto due = start_ns + ms(lease_ms / 3 + lease_ms / 20);
  gate_.on_timer(due);
  const auto renewal = io_.last();
  ASSERT_EQ(renewal.what, step::renew);
  unlock(first_, due + ms(1));
  ASSERT_TRUE(gate_.is_retained());
  auto others = result_of(answer::renewed);
  others.others_wait = true;
  gate_.on_answer(renewal.claim_id, renewal.serial, others, due + ms(2));
  EXPECT_FALSE(gate_.is_retained());
  EXPECT_EQ(io_.last().what, step::release);
}

TEST_F(gate_retention_test, hazard_24_it_is_given_back_when_words_may_have_been_missed) {
  retain_first();
  gate_.on_up(start_ns + ms(3));
  expect_given_back(step::release_alone);
}

TEST_F(gate_retention_test, without_a_connection_nothing_is_retained) {
  hold_first();
  io_.is_up = false;
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(2)).ok());
  EXPECT_FALSE(gate_.is_retained());
  gate_.close(start_ns + ms(3));
}

TEST_F(gate_retention_test, hazard_7_what_is_in_doubt_is_not_taken_up) {
  retain_first();
  gate_.on_unacknowledged();
  acquire_call next(second_);
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(3)).ok());
  EXPECT_EQ(next.finished, 0);
  EXPECT_EQ(io_.last().what, step::try_take);
}

TEST_F(gate_retention_test, what_was_ended_by_force_is_not_taken_up) {
  retain_first();
  gate_.on_forced(io_.last().token, start_ns + ms(3));
  expect_given_back(step::release_alone);
}

TEST_F(gate_retention_test, the_end_of_a_handle_or_of_the_client_is_its_end) {
  retain_first();
  gate_.forget(second_, start_ns + ms(3));
  expect_given_back(step::release_alone);
}

TEST_F(gate_retention_test, the_end_of_a_handle_retains_nothing) {
  hold_first();
  gate_.forget(first_, start_ns + ms(3));
  expect_given_back(step::release_alone);
}

TEST_F(gate_retention_test, a_closed_client_gives_it_back_to_whoever_waits) {
  retain_first();
  gate_.close(start_ns + ms(3));
  expect_given_back(step::release);
}

struct other_terms {
  const char* name;
  void (*differ)(acquire_call&);
};

class gate_retention_terms_test : public gate_retention_test,
                                  public ::testing::WithParamInterface<other_terms> {};

TEST_P(gate_retention_terms_test, whoever_wants_another_hold_asks_behind_its_release) {
  retain_first();
  acquire_call next(second_, true);
  GetParam().differ(next);
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(3)).ok());
  EXPECT_EQ(next.finished, 0);
  ASSERT_EQ(io_.count(), 3U);
  EXPECT_EQ(io_.requests[1].what, step::release_alone);
  EXPECT_EQ(io_.requests[2].what, step::try_take);
}

INSTANTIATE_TEST_SUITE_P(
    all, gate_retention_terms_test,
    ::testing::Values(other_terms{"lease", [](acquire_call& next) { next.owner->lease_ms = 1000; }},
                      other_terms{"renewal",
                                  [](acquire_call& next) { next.owner->renews = false; }},
                      other_terms{"permits", [](acquire_call& next) { next.amount.permits = 2; }}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(gate_retention_test, a_hold_that_is_not_renewed_is_given_back) {
  first_.renews = false;
  hold_first();
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(2)).ok());
  EXPECT_FALSE(gate_.is_retained());
}

// Its max_hold counts from when it took the claim up. A `W` message while it draws a token does not
// change that.
TEST_F(gate_retention_test, max_hold_counts_for_each_hold_by_itself) {
  first_.retain_ms = lease_ms;
  second_.max_hold_ms = 40'000;
  retain_first(1);
  acquire_call next(second_);
  const auto later = start_ns + ms(14'000);
  ASSERT_TRUE(gate_.acquire(next, later).ok());
  const auto refill = io_.last();
  gate_.on_waiter(refill.token, later);
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1;
  gate_.on_answer(refill.claim_id, refill.serial, drawn, later + ms(1));
  ASSERT_EQ(next.result.code, status::ok);
  const auto renewed_at = later + ms(12'000);
  gate_.on_timer(renewed_at);
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(40'000 + 1 - 12'000));
}

class gate_retention_polling_test : public gate_retention_test {
 protected:
  gate_retention_polling_test() : gate_retention_test(protocol::ballot()) {}
};

TEST_F(gate_retention_polling_test, where_nobody_tells_of_those_who_wait_nothing_is_retained) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(), start_ns + ms(1));
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(2)).ok());
  EXPECT_FALSE(gate_.is_retained());
}

}  // namespace
}  // namespace mortise::testing::gate_retention_test
