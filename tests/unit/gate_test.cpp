// The holders and waiters among one client's handles, with a scripted server and clock.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_basics_test {
namespace {

using lock::answer;
using lock::owner;
using lock::owner_state;
using lock::step;

TEST_F(gate_test, one_waiter_stands_for_all_at_the_server) {
  hold_first();
  const auto count = io_.count();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  EXPECT_EQ(io_.count(), count);
  EXPECT_EQ(second_call_.finished, 0);
}

TEST_F(gate_test, a_try_behind_a_handle_of_this_client_does_not_ask_the_server) {
  hold_first();
  const auto count = io_.count();
  acquire_call attempt(second_, true);
  ASSERT_TRUE(gate_.acquire(attempt, start_ns + ms(2)).ok());
  EXPECT_EQ(attempt.result.code, status::not_acquired);
  EXPECT_EQ(io_.count(), count);
}

// Its request is in flight. The reply concerns the waiters behind it.
TEST_F(gate_test, a_waiter_behind_an_abandoned_try_goes_on_waiting) {
  acquire_call attempt(first_, true);
  ASSERT_TRUE(gate_.acquire(attempt, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(1)).ok());
  gate_.abandon(attempt, status::timed_out, start_ns + ms(2));
  EXPECT_EQ(attempt.result.code, status::unknown);
  EXPECT_EQ(io_.count(), 1U);
  answer_last(result_of(answer::not_free), start_ns + ms(3));
  EXPECT_EQ(second_call_.finished, 0);
  EXPECT_EQ(io_.last().what, step::acquire);
  answer_last(queued(1000, 0), start_ns + ms(4));
  gate_.on_grant(grant_to(io_.last()), start_ns + ms(5));
  EXPECT_EQ(second_call_.finished, 1);
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(5)));
}

TEST_F(gate_test, hazard_32_a_grant_by_message_needs_the_secret_of_the_claim) {
  gate_.acquire(first_call_, start_ns);
  const auto trying = io_.last();
  EXPECT_FALSE(gate_.on_grant(grant_to(trying), start_ns)) << "not queued yet";
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  const auto waiter = io_.last();
  ASSERT_FALSE(waiter.secret.empty());
  answer_last(queued(5000, 0), start_ns + ms(2));
  const auto asked = io_.count();
  auto forged = grant_to(waiter);
  for (const auto* secret : {"", "aaaaaaaaaaaaaaaaaaaaaa", "a"}) {
    forged.secret = secret == waiter.secret ? "b" : secret;
    EXPECT_FALSE(gate_.on_grant(forged, start_ns + ms(3)));
  }
  EXPECT_EQ(first_call_.finished, 0);
  EXPECT_EQ(io_.count(), asked + 1) << "one request finds out";
  EXPECT_EQ(io_.last().what, step::reacquire);
  EXPECT_TRUE(gate_.on_grant(grant_to(waiter), start_ns + ms(4)));
  EXPECT_EQ(first_call_.result.code, status::ok);
}

TEST_F(gate_test, hazard_32_a_secret_that_others_may_have_heard_is_not_believed) {
  for (const bool is_cut_off : {false, true}) {
    gate_.acquire(first_call_, start_ns);
    if (io_.last().what == step::try_take) answer_last(result_of(answer::not_free), start_ns);
    const auto waiter = io_.last();
    answer_last(queued(5000, 0, 50'000'000), start_ns + ms(1));
    // Its lease is nearly over, or it was sent while the client was not connected.
    const auto late = start_ns + ms(1000);
    if (is_cut_off) gate_.on_up(late);
    if (!is_cut_off) {
      EXPECT_TRUE(gate_.on_grant(grant_to(waiter, 50'000'000), late));
    }
    EXPECT_EQ(io_.last().what, step::reacquire);
    answer_last(queued(5000, 0, 51'000'000), late + ms(1));
    EXPECT_FALSE(gate_.on_grant(grant_to(waiter, 51'001'000), late + ms(2)));
    EXPECT_EQ(first_.state(), owner_state::acquiring);
    EXPECT_EQ(io_.last().what, step::reacquire);
    answer_last(granted(), late + ms(3));
    EXPECT_EQ(first_call_.result.code, status::ok);
    ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, late + ms(4)).ok());
    answer_last(result_of(answer::released), late + ms(5));
  }
}

// Which saves a round trip where a lock is mostly taken.
TEST_F(gate_test, who_had_to_wait_asks_for_a_place_until_the_lock_is_found_free) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  ASSERT_EQ(io_.last().what, step::try_take);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(1000, 0), start_ns + ms(2));
  gate_.on_grant(grant_to(io_.last()), start_ns + ms(3));
  const auto leave = [&](owner& holder, int at) {
    ASSERT_TRUE(gate_.unlock(holder, lock::hold_mode::exclusive, nullptr, start_ns + ms(at)).ok());
    answer_last(result_of(answer::released), start_ns + ms(at));
  };
  leave(first_, 4);
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(5)).ok());
  EXPECT_EQ(io_.last().what, step::acquire);
  answer_last(granted(first_token + 1), start_ns + ms(6));
  leave(second_, 7);
  acquire_call third(first_);
  ASSERT_TRUE(gate_.acquire(third, start_ns + ms(8)).ok());
  EXPECT_EQ(io_.last().what, step::try_take);
}

TEST_F(gate_test, who_has_tried_in_vain_asks_for_a_place) {
  acquire_call attempt(first_, true);
  ASSERT_TRUE(gate_.acquire(attempt, start_ns).ok());
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  ASSERT_EQ(attempt.result.code, status::not_acquired);
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  EXPECT_EQ(io_.last().what, step::acquire);
}

// The reverse: a handle that only tries does not wait in the place of an earlier waiter.
TEST_F(gate_test, a_waiter_that_gives_up_takes_nobody_along) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(1)).ok());
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(2));
  EXPECT_EQ(first_call_.result.code, status::unknown);
  answer_last(granted(), start_ns + ms(3));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(3)));
  EXPECT_EQ(io_.count(), 1U);
}

TEST_F(gate_test, passing_on_draws_tokens_first_and_each_hold_has_its_own) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(3)).ok());
  EXPECT_EQ(unlocked.result.code, status::ok);
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_GT(io_.last().reserve, 0);
  EXPECT_EQ(second_call_.finished, 0);
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1000;
  answer_last(drawn, start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_GT(second_call_.given, first_call_.given);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(4)));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(4)));
}

// One handle passes the lock on to the next, for so many times; draws tokens as it is asked to.
// A load that passes on once and gives back.
TEST_F(gate_test, passes_at_most_sixteen_times_while_others_wait) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  // Far more tokens than passes, so that the passes do not end for lack of tokens.
  answer_last(granted(first_token, many_tokens, true), start_ns);
  auto* holder = &first_;
  auto* next = &second_;
  int passes = 0;
  std::int64_t token = first_call_.given;
  for (; passes < 100; ++passes) {
    acquire_call call(*next);
    gate_.acquire(call, start_ns + 1);
    other_call unlocked;
    gate_.unlock(*holder, lock::hold_mode::exclusive, &unlocked, start_ns + 1);
    if (call.finished == 0) {
      gate_.abandon(call, status::cancelled, start_ns + 1);
      break;
    }
    EXPECT_GT(call.given, token);
    token = call.given;
    std::swap(holder, next);
  }
  EXPECT_EQ(passes, lock::batch_passes);
}

// The first of a batch holds for so long; whether it is passed on then.
struct batch_case {
  const char* name;
  time_ns trip_ns;
  time_ns held_ns;
  bool is_passed;
};

class gate_batch_test : public gate_test, public ::testing::WithParamInterface<batch_case> {};

TEST_P(gate_batch_test, passes_last_for_eight_round_trips_within_bounds_while_others_wait) {
  const auto& given = GetParam();
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  const auto granted_at = start_ns + given.trip_ns;
  answer_last(granted(first_token, many_tokens, true), granted_at);
  gate_.acquire(second_call_, granted_at);
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, granted_at + given.held_ns);
  EXPECT_EQ(second_call_.finished, given.is_passed ? 1 : 0);
  if (given.is_passed) return;
  // A release, and then a new request.
  const auto requests = io_.requests;
  EXPECT_EQ(requests[requests.size() - 2].what, step::release);
  EXPECT_NE(requests.back().token, requests[requests.size() - 2].token);
}

INSTANTIATE_TEST_SUITE_P(
    all, gate_batch_test,
    ::testing::Values(batch_case{"a_short_trip", ns_per_us * 20, ms(2) - 1, true},
                      batch_case{"beyond_a_short_trip", ns_per_us * 20, ms(2), false},
                      batch_case{"a_trip_between", ns_per_us * 500, ms(4) - 1, true},
                      batch_case{"beyond_a_trip_between", ns_per_us * 500, ms(4), false},
                      batch_case{"a_long_trip", ms(40), ms(10) - 1, true},
                      batch_case{"beyond_a_long_trip", ms(40), ms(10), false}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(gate_test, a_waiter_of_another_client_ends_an_endless_batch) {
  hold_first();
  gate_.on_waiter(io_.last().token, start_ns + ms(5));
  gate_.acquire(second_call_, start_ns + ms(6));
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(20));
  EXPECT_EQ(io_.requests[io_.count() - 2].what, step::release);
}

TEST_F(gate_test, does_not_pass_on_to_another_lease_or_from_an_unrenewed_hold) {
  hold_first();
  second_.lease_ms = 5000;
  gate_.acquire(second_call_, start_ns + ms(2));
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(3));
  EXPECT_EQ(io_.requests[io_.count() - 2].what, step::release_alone);
}

TEST_F(gate_test, does_not_pass_on_the_last_third_of_a_lease) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, many_tokens), start_ns);
  gate_.acquire(second_call_, start_ns + ms(20'000));
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(20'001));
  EXPECT_EQ(second_call_.finished, 0);
  EXPECT_EQ(io_.requests[io_.count() - 2].what, step::release_alone);
}

TEST_F(gate_test, hazard_16_a_new_attempt_has_a_new_token_once_a_release_was_sent) {
  hold_first();
  const auto token = io_.last().token;
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(2));
  acquire_call again(first_);
  EXPECT_EQ(gate_.acquire(again, start_ns + ms(3)).code, status::busy);
  answer_last(result_of(answer::released), start_ns + ms(4));
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(5)).ok());
  EXPECT_NE(io_.last().token, token);
}

TEST_F(gate_test, hazard_01_the_hold_ends_by_the_clock_without_any_call) {
  hold_first();
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(29'999)));
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(30'000)));
  EXPECT_EQ(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(60'000)).code,
            status::lost);
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(60'001)).code,
            status::not_owner);
}

TEST_F(gate_test, lost_is_terminal_and_cannot_release_the_successors_hold) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  gate_.on_timer(start_ns + ms(30'000));
  EXPECT_EQ(lost_, &first_);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(30'001)));
  answer_last(granted(first_token + 50), start_ns + ms(30'001));
  EXPECT_EQ(second_call_.result.code, status::ok);
  const auto count = io_.count();
  EXPECT_EQ(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(30'002)).code,
            status::lost);
  EXPECT_EQ(io_.count(), count);
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(30'002)));
}

TEST_F(gate_test, hazard_20_the_risk_is_reported_before_the_loss_however_late_the_clock_is_read) {
  hold_first();
  io_.is_up = false;
  gate_.on_timer(start_ns + ms(40'000));
  EXPECT_EQ(at_risk_, &first_);
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(risks_, 1);
}

TEST_F(gate_test, the_risk_is_reported_once_and_then_the_loss) {
  hold_first();
  io_.is_up = false;
  gate_.on_timer(start_ns + ms(25'000));
  EXPECT_EQ(risks_, 1);
  EXPECT_EQ(lost_, nullptr);
  gate_.on_timer(start_ns + ms(31'000));
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(risks_, 1);
}

TEST_F(gate_test, hazard_24_word_of_a_waiter_may_overtake_the_answer_that_does_not_know_of_it) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  gate_.on_waiter(io_.last().token, start_ns + ms(1));
  answer_last(granted(), start_ns + ms(2));
  gate_.acquire(second_call_, start_ns + ms(3));
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(50));
  EXPECT_EQ(io_.requests[io_.count() - 2].what, step::release);
}

TEST_F(gate_test, hazard_14_a_renewal_that_finds_nothing_is_a_loss_at_once) {
  hold_first();
  gate_.on_timer(gate_.next_timer());
  ASSERT_EQ(io_.last().what, step::renew);
  answer_last(result_of(answer::not_owner), start_ns + ms(10'001));
  EXPECT_EQ(lost_, &first_);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(10'002)));
}

TEST_F(gate_test, hazard_24_word_of_force_is_asked_about_at_once_and_the_answer_counts) {
  hold_first();
  const auto token = io_.last().token;
  const auto count = io_.count();
  gate_.on_forced(token, start_ns + ms(2));
  ASSERT_EQ(io_.count(), count + 1);
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(2)));
  answer_last(result_of(answer::renewed), start_ns + ms(3));
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(3))) << "it was not true";

  gate_.on_timer(gate_.next_timer());
  answer_last(result_of(answer::not_owner), start_ns + ms(10'001));
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::server_lost) << "and does not explain what happens later";
}

// The reply to an earlier request may be older than the forced release.
TEST_F(gate_test, hazard_24_word_of_force_amid_a_renewal_is_asked_about_behind_it) {
  hold_first();
  gate_.on_timer(gate_.next_timer());
  const auto count = io_.count();
  gate_.on_forced(io_.last().token, start_ns + ms(10'001));
  EXPECT_EQ(io_.count(), count);
  answer_last(result_of(answer::renewed), start_ns + ms(10'002));
  ASSERT_EQ(io_.count(), count + 1);
  answer_last(result_of(answer::not_owner), start_ns + ms(10'003));
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::forced);
}

TEST_F(gate_test, word_of_force_against_another_hold_is_left) {
  hold_first();
  const auto count = io_.count();
  gate_.on_forced("m1:another:1.1::500", start_ns + ms(2));
  EXPECT_EQ(io_.count(), count);
}

TEST_F(gate_test, reentrancy_is_counted_locally) {
  first_.is_reentrant = {true, true};
  hold_first();
  const auto count = io_.count();
  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(2)).ok());
  EXPECT_EQ(again.given, first_call_.given);
  EXPECT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(3)).ok());
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(3)));
  EXPECT_EQ(io_.count(), count);
  EXPECT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(4)).ok());
  EXPECT_EQ(io_.last().what, step::release_alone);
}

TEST_F(gate_test, without_reentrancy_a_second_acquire_is_refused) {
  hold_first();
  acquire_call again(first_);
  EXPECT_EQ(gate_.acquire(again, start_ns + ms(2)).code, status::already_held);
  EXPECT_EQ(again.finished, 0);
}

TEST_F(gate_test, a_cancelled_wait_takes_its_place_back) {
  gate_.acquire(first_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(5000, 0), start_ns + ms(2));
  gate_.abandon(first_call_, status::cancelled, start_ns + ms(3));
  EXPECT_EQ(first_call_.result.code, status::cancelled);
  EXPECT_EQ(io_.last().what, step::cancel);
  gate_.abandon(first_call_, status::cancelled, start_ns + ms(4));
  EXPECT_EQ(first_call_.finished, 1);
}

TEST_F(gate_test, the_next_waiter_takes_over_a_cancelled_place) {
  gate_.acquire(first_call_, start_ns);
  gate_.acquire(second_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  const auto waiter = io_.last();
  answer_last(queued(5000, 0, 50'000'000), start_ns + ms(2));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(3));
  EXPECT_EQ(first_call_.result.code, status::timed_out);
  gate_.on_grant(grant_to(waiter, 50'001'000), start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(first_.state(), owner_state::idle);
}

// The lease of a lock is that of its holding handle, not that of the first waiter. The server has
// the shorter lease. If the lease counted from the earliest possible grant, a tenth of the wait
// would be missing.
TEST_F(gate_test, outcomes_stay_apart_when_the_time_is_up) {
  // Sent, without a reply.
  gate_.acquire(first_call_, start_ns);
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(100));
  EXPECT_EQ(first_call_.result.code, status::unknown);
  EXPECT_TRUE(first_call_.result.is_ambiguous);
  EXPECT_EQ(io_.last().what, step::cancel);
  // Never sent.
  io_.is_up = false;
  gate_.acquire(second_call_, start_ns + ms(200));
  gate_.abandon(second_call_, status::timed_out, start_ns + ms(300));
  EXPECT_EQ(second_call_.result.code, status::unreachable);
}

TEST_F(gate_test, what_was_sent_before_the_connection_broke_is_unknown_not_unreachable) {
  gate_.acquire(first_call_, start_ns);
  io_.is_up = false;
  answer_last(result_of(answer::broken), start_ns + ms(50));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(100));
  EXPECT_EQ(first_call_.result.code, status::unknown);
  EXPECT_TRUE(first_call_.result.is_ambiguous);
}

TEST_F(gate_test, a_deadline_of_its_own_ends_an_asynchronous_wait) {
  first_call_.deadline = start_ns + ms(50);
  gate_.acquire(first_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(5000, 0), start_ns + ms(2));
  EXPECT_EQ(gate_.next_timer(), start_ns + ms(50));
  gate_.on_timer(start_ns + ms(50));
  EXPECT_EQ(first_call_.result.code, status::timed_out);
  EXPECT_EQ(first_call_.finished, 1);
}

TEST_F(gate_test, hazard_28_a_passing_refusal_is_tried_on_and_another_reported) {
  gate_.acquire(first_call_, start_ns);
  answer_last(refused("BUSY Redis is busy running a script."), start_ns + ms(1));
  EXPECT_EQ(first_call_.finished, 0);
  gate_.on_timer(gate_.next_timer());
  answer_last(refused("BUSY Redis is busy running a script."), start_ns + ms(60));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(70));
  EXPECT_EQ(first_call_.result.code, status::refused);

  gate_.acquire(second_call_, start_ns + ms(80));
  answer_last(refused("NOPERM this user has no permissions"), start_ns + ms(81));
  EXPECT_EQ(second_call_.result.code, status::refused);
  EXPECT_EQ(second_call_.result.server_text, "NOPERM this user has no permissions");
}

TEST_F(gate_test, hazard_31_what_was_not_understood_is_unknown_and_is_taken_back) {
  gate_.acquire(first_call_, start_ns);
  answer_last(result_of(answer::unknown), start_ns + ms(1));
  EXPECT_EQ(first_call_.result.code, status::unknown);
  EXPECT_TRUE(first_call_.result.is_ambiguous);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(1)));
  EXPECT_EQ(io_.last().what, step::cancel);
}

TEST_F(gate_test, hazard_23_an_unlock_without_an_answer_is_unknown_and_tried_on) {
  hold_first();
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(2));
  answer_last(result_of(answer::broken), start_ns + ms(3));
  gate_.abandon(unlocked, status::timed_out, start_ns + ms(100));
  EXPECT_EQ(unlocked.result.code, status::unknown);
  EXPECT_TRUE(unlocked.result.is_ambiguous);
  EXPECT_FALSE(gate_.is_idle());
  gate_.on_up(start_ns + ms(200));
  EXPECT_EQ(io_.last().what, step::release_alone);
  answer_last(result_of(answer::released), start_ns + ms(201));
  EXPECT_TRUE(gate_.is_idle());
  EXPECT_EQ(unlocked.finished, 1);
}

TEST_F(gate_test, an_extension_is_reported_when_the_server_has_confirmed_it) {
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10)).ok());
  EXPECT_EQ(extended.finished, 0);
  answer_last(result_of(answer::renewed), start_ns + ms(11));
  EXPECT_EQ(extended.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(first_), start_ns + ms(60'010));
}

TEST_F(gate_test, an_extension_of_a_lost_hold_says_lost) {
  hold_first();
  other_call extended;
  gate_.extend(first_, 60'000, extended, start_ns + ms(10));
  answer_last(result_of(answer::not_owner), start_ns + ms(11));
  EXPECT_EQ(extended.result.code, status::lost);
  EXPECT_EQ(lost_, &first_);
}

TEST_F(gate_test, forgetting_a_handle_gives_back_and_ends_its_wait) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  gate_.forget(second_, start_ns + ms(3));
  EXPECT_EQ(second_call_.result.code, status::closed);
  gate_.forget(first_, start_ns + ms(4));
  EXPECT_EQ(io_.last().what, step::release_alone);
  answer_last(result_of(answer::released), start_ns + ms(5));
  EXPECT_TRUE(gate_.is_idle());
}

TEST_F(gate_test, a_closed_gate_accepts_nothing_and_knows_no_handle) {
  hold_first();
  other_call unlocked;
  gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(2));
  gate_.close(start_ns + ms(3));
  EXPECT_EQ(unlocked.result.code, status::closed);
  first_.enter(owner_state::acquiring);  // as if another gate used the handle by now
  answer_last(result_of(answer::not_owner), start_ns + ms(4));
  EXPECT_EQ(first_.state(), owner_state::acquiring);
  EXPECT_TRUE(gate_.is_idle());
  acquire_call late(second_);
  EXPECT_EQ(gate_.acquire(late, start_ns + ms(5)).code, status::closed);
  EXPECT_EQ(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(5)).code,
            status::closed);
  EXPECT_EQ(gate_.extend(first_, 0, unlocked, start_ns + ms(5)).code, status::closed);
}

TEST_F(gate_test, closing_finishes_everything_once) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  gate_.close(start_ns + ms(3));
  EXPECT_EQ(second_call_.result.code, status::closed);
  EXPECT_EQ(second_call_.finished, 1);
}

// A waiter that is still unknown to this client would wait until the lease ends, because a closing
// connection takes no second request.
TEST_F(gate_test, closing_hands_over_also_to_who_waits_unseen) {
  hold_first();
  gate_.close(start_ns + ms(2));
  EXPECT_EQ(io_.last().what, step::release);
}

TEST_F(gate_test, closing_hands_over_what_is_being_released_as_if_nobody_waited) {
  hold_first();
  gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(2));
  ASSERT_EQ(io_.last().what, step::release_alone);
  const auto alone = io_.last();
  gate_.close(start_ns + ms(3));
  EXPECT_EQ(io_.last().what, step::release);
  gate_.on_answer(alone.claim_id, alone.serial, result_of(answer::others_waiting),
                  start_ns + ms(4));
  EXPECT_FALSE(gate_.is_idle());
  answer_last(result_of(answer::handed_over), start_ns + ms(5));
  EXPECT_TRUE(gate_.is_idle());
}

}  // namespace
}  // namespace mortise::testing::gate_basics_test
