// The state machine of one claim, phase by phase, with a scripted server and clock.
#include <gtest/gtest.h>

#include <list>

#include "lock/claim/claim.hpp"
#include "protocol/table.hpp"
#include "unit/scripted_lock_io.hpp"

namespace mortise::testing::claim_test {
namespace {

using lock::answer;
using lock::claim_event;
using lock::claim_phase;
using lock::step;

class claim_test : public ::testing::Test {
 protected:
  static lock::lease_terms terms(std::int64_t lease_ms = 30'000) {
    lock::lease_terms terms;
    terms.lease_ms = lease_ms;
    terms.renews = true;
    return terms;
  }
  lock::claim make(bool waits = true, std::int64_t lease_ms = 30'000) {
    return {1, "token", protocol::queued().facts, {}, terms(lease_ms), {.waits = waits}, io_};
  }
  // A claim that was granted by the cheap way at start_ns.
  lock::claim& make_held(std::int64_t lease_ms = 30'000) {
    auto& claim = claims_.emplace_back(1, "token", protocol::queued().facts, lock::amount{},
                                       terms(lease_ms), lock::wait_terms{.waits = true}, io_);
    claim.attempt()->start(false, nullptr, start_ns);
    EXPECT_EQ(claim.on_answer(1, granted(), start_ns + ms(1)), claim_event::granted);
    return claim;
  }

  scripted_lock_io io_;
  std::list<lock::claim> claims_;
};

TEST_F(claim_test, asks_the_cheap_way_first_and_enqueues_when_it_is_taken) {
  auto claim = make();
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(io_.last().what, step::try_take);
  EXPECT_EQ(claim.on_answer(1, result_of(answer::not_free), start_ns + ms(1)), claim_event::none);
  EXPECT_EQ(io_.last().what, step::acquire);
  EXPECT_EQ(claim.on_answer(2, queued(500, 0), start_ns + ms(2)), claim_event::none);
  EXPECT_EQ(claim.phase(), claim_phase::queued);
}

TEST_F(claim_test, asks_directly_when_it_is_likely_taken_but_never_enqueues_a_try) {
  auto waiting = make();
  waiting.attempt()->start(true, nullptr, start_ns);
  EXPECT_EQ(io_.last().what, step::acquire);
  auto trying = make(false);
  trying.attempt()->start(true, nullptr, start_ns);
  EXPECT_EQ(io_.last().what, step::try_take);
  EXPECT_EQ(trying.on_answer(1, result_of(answer::not_free), start_ns + ms(1)),
            claim_event::not_free);
  EXPECT_EQ(trying.phase(), claim_phase::over);
}

TEST_F(claim_test, the_server_gets_the_margin_and_the_user_the_lease) {
  auto& claim = make_held(30'000);
  EXPECT_EQ(io_.requests.front().ttl_ms, 30'302);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(30'000));
}

TEST_F(claim_test, the_margin_is_the_drift_for_every_step) {
  auto wide = terms();
  wide.drift_ppm = 20'000;  // twice the default
  lock::claim claim{1, "token", protocol::queued().facts, {}, wide, {.waits = true}, io_};
  claim.attempt()->start(true, nullptr, start_ns);
  EXPECT_EQ(io_.last().ttl_ms, 30'602);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  // 10.2 ms of a clock that is too fast by two hundredths are 10 of ours.
  EXPECT_EQ(claim.on_grant(first_token, 50'010'200, false, start_ns + ms(500)),
            claim_event::granted);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(10) + ms(lock::grant_lease_ms));
  EXPECT_NE(claim.hold()->renew(30'000, 0, nullptr, start_ns + ms(500)), 0U);
  EXPECT_EQ(io_.last().ttl_ms, 30'602);
}

TEST_F(claim_test, hazard_06_validity_counts_from_before_sending) {
  auto claim = make(true, 1000);
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, granted(), start_ns + ms(900)), claim_event::granted);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(1000));
}

TEST_F(claim_test, hazard_06_an_answer_after_its_lease_is_not_a_grant) {
  auto claim = make(true, 1000);
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, granted(), start_ns + ms(1000)), claim_event::lost);
}

TEST_F(claim_test, hazard_01_a_grant_counts_from_when_the_server_made_it) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  // Granted 10.1 ms after the request was carried out, and received much later. The lease does not
  // count from then.
  EXPECT_EQ(claim.on_grant(first_token, 50'010'100, false, start_ns + ms(500)),
            claim_event::granted);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(10) + ms(lock::grant_lease_ms));
}

TEST_F(claim_test, hazard_32_however_many_messages_about_the_head_delay_a_check_only_once) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0), start_ns + ms(1));
  const auto asked = io_.count();
  for (auto now = start_ns; now < start_ns + ms(3000); now += ms(100)) {
    claim.attempt()->on_head(60'000, now);
    if (now >= claim.next_timer()) claim.on_timer(now);
  }
  EXPECT_EQ(io_.count(), asked + 1);
}

TEST_F(claim_test, hazard_01_a_grant_that_is_mostly_over_is_asked_for_again) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  EXPECT_EQ(claim.on_grant(first_token, 50'000'000, false, start_ns + ms(2900)), claim_event::none);
  EXPECT_EQ(io_.last().what, step::reacquire);
  EXPECT_NE(claim.phase(), claim_phase::held);
}

TEST_F(claim_test, hazard_01_a_grant_older_than_a_later_answer_has_lapsed) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  EXPECT_EQ(claim.on_grant(first_token, 49'999'999, false, start_ns + ms(2)), claim_event::none);
  EXPECT_EQ(claim.phase(), claim_phase::queued);
}

TEST_F(claim_test, hazard_01_a_grant_never_counts_from_later_than_its_receipt) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  // The server's clock stepped an hour ahead.
  EXPECT_EQ(claim.on_grant(first_token, 3'650'000'000, false, start_ns + ms(20)),
            claim_event::granted);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(20) + ms(lock::grant_lease_ms));
}

TEST_F(claim_test, a_grant_gets_a_short_lease_that_the_first_renewal_makes_whole) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  claim.on_grant(first_token, 50'000'000, false, start_ns + ms(2));
  const auto renew_at = claim.next_timer();
  EXPECT_LE(renew_at, start_ns + ms(lock::grant_lease_ms / 3));
  claim.on_timer(renew_at);
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(claim.on_answer(2, result_of(answer::renewed), renew_at + ms(1)), claim_event::renewed);
  EXPECT_EQ(claim.hold()->valid_until(), renew_at + ms(30'000));
}

TEST_F(claim_test, hazard_15_a_broken_connection_makes_it_ask_again_with_the_same_token) {
  auto claim = make();
  claim.attempt()->start(false, nullptr, start_ns);
  io_.is_up = false;
  EXPECT_EQ(claim.on_answer(1, result_of(answer::broken), start_ns + ms(1)), claim_event::none);
  io_.is_up = true;
  claim.on_up(start_ns + ms(50));
  EXPECT_EQ(io_.last().what, step::reacquire);
  EXPECT_EQ(io_.last().token, "token");
  EXPECT_EQ(claim.on_answer(2, granted(first_token, 17), start_ns + ms(51)), claim_event::granted);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(50) + ms(30'000));
}

TEST_F(claim_test, hazard_15_a_try_asks_again_without_enqueueing) {
  auto claim = make(false);
  claim.attempt()->start(false, nullptr, start_ns);
  claim.on_answer(1, result_of(answer::broken), start_ns + ms(1));
  claim.on_up(start_ns + ms(2));
  EXPECT_EQ(io_.last().what, step::retake);
}

TEST_F(claim_test, hazard_24_a_waiting_claim_looks_again_by_itself) {
  auto head = make();
  head.attempt()->start(true, nullptr, start_ns);
  head.on_answer(1, queued(500, 0), start_ns);
  EXPECT_GT(head.next_timer(), start_ns + ms(500));
  EXPECT_LE(head.next_timer(), start_ns + ms(520));
  head.on_timer(head.next_timer());
  EXPECT_EQ(io_.last().what, step::reacquire);

  auto behind = make();
  behind.attempt()->start(true, nullptr, start_ns);
  behind.on_answer(1, queued(500, 3), start_ns);
  EXPECT_GT(behind.next_timer(), start_ns + ms(500));
  EXPECT_LT(behind.next_timer(), start_ns + ms(30'000));
  // A `W` message names the claim as head, so it looks when the present lease ends.
  behind.attempt()->on_head(100, start_ns + ms(10));
  EXPECT_LE(behind.next_timer(), start_ns + ms(130));
}

// The holder or the head may be silent, so a known lease is not relied on for long. The last of the
// first few looks finds even a grant whose message was lost.
TEST_F(claim_test, hazard_24_no_waiter_sleeps_on_an_old_holders_lease) {
  for (const auto chance : {chance_of::least, chance_of::most}) {
    io_.luck = chance;
    for (const auto place : {0, 1, 7}) {
      auto claim = make();
      claim.attempt()->start(true, nullptr, start_ns);
      claim.on_answer(1, queued(30'000, place), start_ns);
      EXPECT_LT(claim.next_timer(), start_ns + ms(lock::grant_lease_ms)) << place;
      claim.attempt()->on_head(30'000, start_ns + ms(5));
      EXPECT_LT(claim.next_timer(), start_ns + ms(5 + lock::grant_lease_ms)) << place;
    }
  }
}

TEST_F(claim_test, hazard_24_a_grant_to_the_silent_costs_those_behind_less_than_two_seconds) {
  io_.luck = chance_of::most;
  for (const auto place : {0, 1, 7}) {
    auto claim = make();
    claim.attempt()->start(true, nullptr, start_ns);
    auto now = start_ns;
    const auto ends = start_ns + ms(lock::server_ttl_ms(lock::grant_lease_ms));
    claim.on_answer(1, queued(30'000, place), now);
    while (now <= ends) {
      now = claim.next_timer();
      claim.on_timer(now);
      claim.on_answer(io_.last().serial, queued((ends - now) / ns_per_ms, place), now);
    }
    EXPECT_LE(now, start_ns + ms(2000)) << place;
  }
}

TEST_F(claim_test, many_waiters_cost_few_looks) {
  // Also when the present lease is short.
  for (const auto left_ms : {1000, 30'000}) {
    double looks_a_second = 0;
    for (int place = 0; place < 100; ++place) {
      auto claim = make();
      claim.attempt()->start(true, nullptr, start_ns);
      claim.on_answer(1, queued(left_ms, place), start_ns);
      const auto wait = claim.next_timer() - start_ns;
      EXPECT_LE(wait, ms(15'000));
      looks_a_second += static_cast<double>(ns_per_s) / static_cast<double>(wait);
    }
    EXPECT_LT(looks_a_second, 60) << left_ms;
  }
}

TEST_F(claim_test, hazard_27_a_forgotten_script_is_sent_as_text) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, result_of(answer::no_script), start_ns + ms(1));
  EXPECT_EQ(io_.last().what, step::acquire);
  EXPECT_TRUE(io_.last().with_text);
  auto& held = make_held();
  held.hold()->renew(30'000, 0, nullptr, start_ns + ms(10));
  EXPECT_EQ(held.on_answer(2, result_of(answer::no_script), start_ns + ms(11)), claim_event::none);
  EXPECT_TRUE(io_.last().with_text);
  held.release(nullptr, start_ns + ms(20));
  held.on_answer(4, result_of(answer::no_script), start_ns + ms(21));
  EXPECT_EQ(io_.last().what, step::release_alone);
  EXPECT_TRUE(io_.last().with_text);
}

TEST_F(claim_test, hazard_30_a_lost_fence_counter_is_repaired_before_the_grant_is_reported) {
  auto claim = make();
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, granted(7), start_ns + ms(1)), claim_event::none);
  EXPECT_EQ(io_.last().what, step::reacquire);
  EXPECT_EQ(claim.on_answer(2, granted(first_token, 17), start_ns + ms(2)), claim_event::granted);
  EXPECT_EQ(claim.hold()->take_token(), first_token - 16);
}

// No request repairs the counter of a server whose clock is before the year 2001.
TEST_F(claim_test, hazard_30_a_server_with_a_wrong_clock_is_asked_twice_and_no_more) {
  auto claim = make();
  claim.attempt()->start(false, nullptr, start_ns);
  EXPECT_EQ(claim.on_answer(1, granted(7), start_ns + ms(1)), claim_event::none);
  EXPECT_EQ(claim.on_answer(2, granted(8), start_ns + ms(2)), claim_event::refused);
  EXPECT_EQ(io_.count(), 2U);
  const auto& details = claim.requests().details();
  EXPECT_EQ(details.code, status::refused);
  EXPECT_NE(details.words().find("clock"), std::string::npos) << details.words();
  EXPECT_FALSE(claim.requests().is_refusal_passing());
}

TEST_F(claim_test, hazard_18_three_renewals_fit_before_the_last_third_of_the_lease) {
  auto& claim = make_held(9000);
  int tries = 0;
  auto now = start_ns;
  while (claim.phase() == claim_phase::held && claim.next_timer() <= start_ns + ms(6000)) {
    now = claim.next_timer();
    const auto count = io_.count();
    claim.on_timer(now);
    if (io_.count() == count) continue;
    ++tries;
    EXPECT_EQ(claim.on_answer(io_.last().serial, result_of(answer::broken), now + ms(1)),
              claim_event::none);
  }
  EXPECT_GE(tries, 3);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(9000));
}

// A timer that other timers bring forward renews within the slack, and not before it.
TEST_F(claim_test, hazard_18_a_renewal_may_be_early_but_never_late) {
  auto& claim = make_held(9000);
  const auto due = claim.next_timer();
  const auto slack = claim.hold()->timer_slack();
  EXPECT_EQ(slack, ms(9000) / 20);
  const auto count = io_.count();
  claim.on_timer(due - slack - 1);
  EXPECT_EQ(io_.count(), count);
  EXPECT_EQ(claim.next_timer(), due);
  claim.on_timer(due - slack);
  EXPECT_EQ(io_.count(), count + 1);
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_LE(due, start_ns + ms(9000) / 3 + ms(9000) / 30);
}

TEST_F(claim_test, a_deadline_has_no_slack) {
  auto& claim = make_held(9000);
  io_.is_up = false;
  while (claim.next_timer() < start_ns + ms(6000)) claim.on_timer(claim.next_timer());
  EXPECT_EQ(claim.next_timer(), start_ns + ms(6000));
  EXPECT_EQ(claim.hold()->timer_slack(), 0);
}

TEST_F(claim_test, hazard_18_a_refused_renewal_is_tried_again) {
  auto& claim = make_held(9000);
  int tries = 0;
  while (claim.phase() == claim_phase::held && claim.next_timer() <= start_ns + ms(6000)) {
    const auto now = claim.next_timer();
    const auto count = io_.count();
    claim.on_timer(now);
    if (io_.count() == count) continue;
    ++tries;
    EXPECT_EQ(claim.on_answer(io_.last().serial, refused("OOM"), now + ms(1)),
              claim_event::renew_failed);
  }
  EXPECT_GE(tries, 3);
}

TEST_F(claim_test, tells_of_the_risk_once_and_of_the_loss_at_the_deadline) {
  auto& claim = make_held(9000);
  io_.is_up = false;
  int risks = 0;
  auto what = claim_event::none;
  while (what != claim_event::lost) {
    const auto now = claim.next_timer();
    ASSERT_LE(now, start_ns + ms(9000));
    what = claim.on_timer(now);
    if (what == claim_event::at_risk) {
      ++risks;
      EXPECT_EQ(now, start_ns + ms(6000));
    }
  }
  EXPECT_EQ(risks, 1);
}

TEST_F(claim_test, hazard_17_a_renewal_that_finds_another_owner_is_a_loss) {
  auto& claim = make_held();
  claim.hold()->renew(30'000, 0, nullptr, start_ns + ms(10));
  EXPECT_EQ(claim.on_answer(2, result_of(answer::not_owner), start_ns + ms(11)), claim_event::lost);
}

TEST_F(claim_test, hazard_17_a_late_renewal_never_brings_a_hold_back) {
  auto& claim = make_held(1000);
  claim.hold()->renew(1000, 0, nullptr, start_ns + ms(900));
  EXPECT_EQ(claim.on_answer(2, result_of(answer::renewed), start_ns + ms(1000)), claim_event::lost);
}

TEST_F(claim_test, hazard_28_a_renewal_that_the_server_refused_prolongs_nothing) {
  auto& claim = make_held(1000);
  claim.hold()->renew(1000, 0, nullptr, start_ns + ms(400));
  EXPECT_EQ(claim.on_answer(2, refused("OOM"), start_ns + ms(401)), claim_event::renew_failed);
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(1000));
}

TEST_F(claim_test, a_renewal_never_asks_for_less_than_an_earlier_one) {
  auto& claim = make_held(1000);
  claim.hold()->renew(60'000, 0, nullptr, start_ns + ms(10));
  claim.hold()->renew(1000, 0, nullptr, start_ns + ms(20));
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(59'990));
  claim.on_answer(3, result_of(answer::renewed), start_ns + ms(21));
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(60'010));
}

// Another client may bring the script back between two renewals.
TEST_F(claim_test, hazard_27_a_renewal_that_is_sent_again_with_its_text_takes_nothing_back) {
  auto& claim = make_held(1000);
  claim.hold()->renew(1000, 0, nullptr, start_ns + ms(10));
  claim.hold()->renew(60'000, 0, nullptr, start_ns + ms(20));
  EXPECT_EQ(claim.on_answer(2, result_of(answer::no_script), start_ns + ms(30)), claim_event::none);
  EXPECT_TRUE(io_.last().with_text);
  EXPECT_GE(io_.last().ttl_ms, lock::server_ttl_ms(59'990));
  claim.on_answer(3, result_of(answer::renewed), start_ns + ms(31));
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(60'020));
  claim.on_answer(4, result_of(answer::renewed), start_ns + ms(32));
  EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(60'020));
}

TEST_F(claim_test, hazard_19_max_hold_ends_the_renewals) {
  auto& claim = make_held(3000);
  auto limited = terms(3000);
  limited.end.longest = start_ns + ms(10'000);
  claim.hold()->keep(limited, start_ns + ms(1));
  while (claim.phase() == claim_phase::held) {
    const auto now = claim.next_timer();
    const auto count = io_.count();
    claim.on_timer(now);
    if (io_.count() > count) {
      claim.on_answer(io_.last().serial, result_of(answer::renewed), now + ms(1));
    }
    ASSERT_LE(claim.hold()->valid_until(), limited.end.at());
  }
  EXPECT_GT(claim.hold()->valid_until(), start_ns + ms(9'000));
}

TEST_F(claim_test, hazard_19_nothing_is_renewed_after_leaving) {
  auto& claim = make_held();
  claim.release(nullptr, start_ns + ms(5));
  EXPECT_EQ(io_.last().what, step::release_alone);
  const auto count = io_.count();
  claim.on_timer(start_ns + ms(15'000));
  claim.on_timer(start_ns + ms(29'000));
  EXPECT_EQ(io_.count(), count);
}

TEST_F(claim_test, hazard_16_leaving_is_tried_again_after_a_broken_connection) {
  auto& claim = make_held();
  claim.release(nullptr, start_ns + ms(5));
  EXPECT_EQ(claim.on_answer(2, result_of(answer::broken), start_ns + ms(6)), claim_event::none);
  claim.on_up(start_ns + ms(50));
  EXPECT_EQ(io_.last().what, step::release_alone);
  // The first try had got through: that is a release too.
  EXPECT_EQ(claim.on_answer(3, result_of(answer::not_owner), start_ns + ms(51)),
            claim_event::released);
  EXPECT_EQ(claim.release_phase()->result(), answer::released);
}

TEST_F(claim_test, a_release_that_finds_another_owner_is_not_a_release) {
  auto& claim = make_held();
  claim.release(nullptr, start_ns + ms(5));
  EXPECT_EQ(claim.on_answer(2, result_of(answer::not_owner), start_ns + ms(6)),
            claim_event::released);
  EXPECT_EQ(claim.release_phase()->result(), answer::not_owner);
}

TEST_F(claim_test, a_wait_is_left_by_cancel_and_an_unsent_one_at_once) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(500, 0), start_ns + ms(1));
  claim.release(nullptr, start_ns + ms(2));
  EXPECT_EQ(io_.last().what, step::cancel);
  io_.is_up = false;
  auto unsent = make();
  unsent.attempt()->start(true, nullptr, start_ns);
  unsent.release(nullptr, start_ns + ms(2));
  EXPECT_EQ(unsent.phase(), claim_phase::over);
}

TEST_F(claim_test, a_release_hands_over_when_it_knows_of_waiters_or_finds_them) {
  auto claim = make();
  claim.attempt()->start(false, nullptr, start_ns);
  claim.on_answer(1, granted(first_token, 1, true), start_ns + ms(1));
  claim.release(nullptr, start_ns + ms(2));
  EXPECT_EQ(io_.last().what, step::release);

  auto& unaware = make_held();
  unaware.release(nullptr, start_ns + ms(2));
  EXPECT_EQ(io_.last().what, step::release_alone);
  EXPECT_EQ(unaware.on_answer(2, result_of(answer::others_waiting), start_ns + ms(3)),
            claim_event::none);
  EXPECT_EQ(io_.last().what, step::release);
  EXPECT_EQ(unaware.on_answer(3, result_of(answer::handed_over), start_ns + ms(4)),
            claim_event::released);
}

TEST_F(claim_test, a_reconnect_asks_at_once_whether_the_hold_has_survived) {
  auto& claim = make_held();
  claim.on_up(start_ns + ms(2000));
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(claim.on_answer(2, result_of(answer::not_owner), start_ns + ms(2001)),
            claim_event::lost);
}

TEST_F(claim_test, a_reconnect_asks_for_a_hold_that_is_not_renewed_and_changes_nothing) {
  for (const auto reply : {answer::renewed, answer::not_owner}) {
    auto& claim = make_held();
    auto fixed = terms();
    fixed.renews = false;
    fixed.end.longest = claim.hold()->valid_until();
    claim.hold()->keep(fixed, start_ns + ms(1));
    const auto count = io_.count();
    claim.on_up(start_ns + ms(2000));
    ASSERT_EQ(io_.count(), count + 1);
    EXPECT_EQ(io_.last().what, step::renew);
    EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(28'000));
    EXPECT_EQ(claim.on_answer(2, result_of(reply), start_ns + ms(2001)),
              reply == answer::renewed ? claim_event::renewed : claim_event::lost);
    EXPECT_EQ(claim.hold()->valid_until(), start_ns + ms(30'000));
  }
}

// An admin has deleted the lock after the grant. A look in flight then appended the claim to the
// queue.
TEST_F(claim_test, hazard_14_a_look_that_enqueues_the_holder_is_a_loss_and_is_taken_back) {
  const auto answer_late_look = [this](lock::claim& claim, const lock::step_result& result) {
    claim.attempt()->start(true, nullptr, start_ns);
    claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
    claim.on_timer(claim.next_timer());
    EXPECT_EQ(io_.last().what, step::reacquire);
    const auto look = io_.last().serial;
    EXPECT_EQ(claim.on_grant(first_token, 55'000'000, true, start_ns + ms(5000)),
              claim_event::granted);
    return claim.on_answer(look, result, start_ns + ms(5010));
  };
  auto older = make();
  EXPECT_EQ(answer_late_look(older, queued(0, 0, 54'999'000)), claim_event::none);
  EXPECT_EQ(older.phase(), claim_phase::held) << "carried out before the grant";
  auto claim = make();
  EXPECT_EQ(answer_late_look(claim, queued(1500, 1, 55'001'000)), claim_event::lost);
  claim.release(nullptr, start_ns + ms(5010));
  EXPECT_EQ(io_.last().what, step::cancel);
}

TEST_F(claim_test, hazard_14_a_look_of_a_holder_that_was_never_answered_is_taken_back) {
  auto claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
  claim.on_timer(claim.next_timer());
  const auto look = io_.last().serial;
  ASSERT_EQ(claim.on_grant(first_token, 55'000'000, true, start_ns + ms(5000)),
            claim_event::granted);
  EXPECT_EQ(claim.on_answer(look, result_of(answer::broken), start_ns + ms(5010)),
            claim_event::none);
  claim.release(nullptr, start_ns + ms(5020));
  EXPECT_EQ(io_.last().what, step::cancel);
  // To have been in the queue only is not to have held.
  claim.on_answer(io_.last().serial, result_of(answer::cancelled), start_ns + ms(5030));
  EXPECT_EQ(claim.release_phase()->result(), answer::not_owner);
}

}  // namespace
}  // namespace mortise::testing::claim_test
