// The lease of a lock that passes between the handles of a client, and the source of its tokens.
// Server and clock are scripted.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_terms_test {
namespace {

using lock::answer;
using lock::owner;
using lock::owner_state;
using lock::step;

TEST_F(gate_test, hazard_30_who_passes_on_without_an_end_soon_draws_many_tokens_at_once) {
  hold_first();
  auto* holder = &first_;
  auto* next = &second_;
  std::int64_t drawn = 1;
  std::int64_t counter = first_token;
  auto token = first_call_.given;
  int handed_out = 1;
  auto now = start_ns + ms(2);
  for (; handed_out < 2000; ++handed_out) {
    now += 10 * ns_per_us;
    const auto count = io_.count();
    acquire_call call(*next);
    ASSERT_TRUE(gate_.acquire(call, now).ok());
    ASSERT_TRUE(gate_.unlock(*holder, lock::hold_mode::exclusive, nullptr, now).ok());
    if (io_.count() > count) {
      ASSERT_EQ(io_.last().what, step::renew);
      drawn += io_.last().reserve;
      auto renewal = result_of(answer::renewed);
      renewal.last_token = counter += io_.last().reserve;
      answer_last(renewal, now);
    }
    ASSERT_EQ(call.finished, 1);
    EXPECT_EQ(call.given, token + 1) << "none of them is wasted";
    token = call.given;
    std::swap(holder, next);
  }
  EXPECT_LE(io_.count(), 25U);
  EXPECT_LE(drawn, 2 * handed_out);
}

TEST_F(gate_test, hazard_30_no_more_tokens_are_drawn_than_the_grants_account_for) {
  std::int64_t counter = first_token;
  std::int64_t drawn = 0;
  constexpr int rounds = 500;
  for (int i = 0; i < rounds; ++i) {
    acquire_call first(first_);
    acquire_call second(second_);
    ASSERT_TRUE(gate_.acquire(first, start_ns).ok());
    ++drawn;
    answer_last(granted(++counter), start_ns);
    ASSERT_TRUE(gate_.acquire(second, start_ns).ok());
    ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns).ok());
    ASSERT_EQ(io_.last().what, step::renew);
    ASSERT_GE(io_.last().reserve, 1);
    drawn += io_.last().reserve;
    auto renewal = result_of(answer::renewed);
    renewal.last_token = counter += io_.last().reserve;
    answer_last(renewal, start_ns);
    ASSERT_EQ(second.finished, 1);
    ASSERT_TRUE(gate_.unlock(second_, lock::hold_mode::exclusive, nullptr, start_ns).ok());
    answer_last(result_of(answer::released), start_ns);
  }
  EXPECT_LE(drawn, 2 * 2 * rounds);
}

TEST_F(gate_test, hazard_30_while_others_wait_no_more_tokens_are_drawn_than_may_be_passed_on) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, many_tokens), start_ns);
  auto* holder = &first_;
  auto* next = &second_;
  for (int i = 1; i < many_tokens; ++i) {
    acquire_call call(*next);
    gate_.acquire(call, start_ns);
    gate_.unlock(*holder, lock::hold_mode::exclusive, nullptr, start_ns);
    ASSERT_EQ(call.finished, 1);
    std::swap(holder, next);
  }
  const auto later = start_ns + ms(1);
  gate_.on_waiter(io_.last().token, later);
  acquire_call last(*next);
  gate_.acquire(last, later);
  gate_.unlock(*holder, lock::hold_mode::exclusive, nullptr, later);
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().reserve, lock::batch_passes);
  gate_.abandon(last, status::cancelled, later);
}

TEST_F(gate_test, who_takes_over_a_place_asks_with_its_own_lease) {
  second_.lease_ms = 200;
  gate_.acquire(first_call_, start_ns);
  gate_.acquire(second_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  answer_last(queued(500, 0), start_ns + ms(2));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(3));
  gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.last().what, step::reacquire);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(200));
}

TEST_F(gate_test, who_takes_over_a_place_shortens_a_longer_grant_at_once) {
  second_.lease_ms = 200;
  gate_.acquire(first_call_, start_ns);
  gate_.acquire(second_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  const auto waiter = io_.last();
  answer_last(queued(5000, 0, 50'000'000), start_ns + ms(2));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(3));
  gate_.on_grant(grant_to(waiter, 50'003'000), start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_LE(gate_.valid_until(second_), start_ns + ms(204));
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(200));
}

TEST_F(gate_test, who_takes_over_an_open_question_shortens_the_lease_that_it_asked_for) {
  second_.lease_ms = 200;
  gate_.acquire(first_call_, start_ns);
  gate_.acquire(second_call_, start_ns);
  gate_.abandon(first_call_, status::cancelled, start_ns + ms(3));
  answer_last(granted(), start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(200));
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(200));
}

TEST_F(gate_test, hazard_17_who_takes_over_a_place_is_promised_no_more_than_the_server_keeps) {
  first_.lease_ms = 200;
  gate_.acquire(first_call_, start_ns);
  gate_.acquire(second_call_, start_ns);
  gate_.abandon(first_call_, status::cancelled, start_ns + ms(3));
  answer_last(granted(), start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(200));
  gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(30'000));
}

TEST_F(gate_test, a_lock_is_not_passed_on_to_another_lease_when_its_next_holder_gives_up) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  owner third;
  third.lease_ms = 200;
  acquire_call third_call(third);
  gate_.acquire(third_call, start_ns + ms(2));
  gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(3));
  const auto drawing = io_.last();
  ASSERT_EQ(drawing.what, step::renew);
  gate_.abandon(second_call_, status::cancelled, start_ns + ms(4));
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1000;
  gate_.on_answer(drawing.claim_id, drawing.serial, drawn, start_ns + ms(5));
  EXPECT_EQ(third_call.finished, 0);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(200));
  EXPECT_NE(io_.last().token, drawing.token);
  gate_.forget(third, start_ns + ms(6));
}

TEST_F(gate_test, a_hold_that_was_waited_for_gets_its_lease_also_without_renewal) {
  first_.renews = false;
  first_.lease_ms = 1000;
  first_.drift_ppm = 100'000;
  gate_.acquire(first_call_, start_ns);
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  const auto waiter = io_.last();
  answer_last(queued(5000, 0, 50'000'000), start_ns + ms(2));
  const auto granted_at = start_ns + ms(4500);
  gate_.on_grant(grant_to(waiter, 54'500'000), granted_at);
  ASSERT_EQ(first_call_.result.code, status::ok);
  EXPECT_LT(gate_.valid_until(first_), granted_at + ms(600)) << "no more than is certain";
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(1000, 100'000));
  answer_last(result_of(answer::renewed), granted_at + ms(10));
  EXPECT_EQ(gate_.valid_until(first_), granted_at + ms(1000));
  // Nothing else is sent. Without a renewal the claim ends with its lease.
  const auto count = io_.count();
  while (gate_.next_timer() < granted_at + ms(1000)) gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.count(), count);
}

TEST_F(gate_test, hazard_28_a_refused_extension_leaves_the_lease_and_its_end) {
  first_.max_hold_ms = 60'000;
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 3'600'000, extended, start_ns + ms(10)).ok());
  answer_last(refused("NOPERM"), start_ns + ms(11));
  ASSERT_EQ(extended.result.code, status::refused);
  gate_.on_timer(start_ns + ms(12'000));
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(30'000));
  for (auto now = start_ns + ms(12'000); lost_ == nullptr; now = gate_.next_timer()) {
    const auto count = io_.count();
    gate_.on_timer(now);
    answer_last(result_of(answer::renewed), now + ms(io_.count() > count ? 1 : 0));
  }
  EXPECT_EQ(first_.loss, reason::max_hold);
}

TEST_F(gate_test, an_extension_stays_the_lease_of_later_renewals) {
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10)).ok());
  answer_last(result_of(answer::renewed), start_ns + ms(11));
  ASSERT_TRUE(extended.result.ok());
  gate_.on_timer(start_ns + ms(25'000));
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(60'000));
}

TEST_F(gate_test, hazard_19_a_lock_is_not_passed_on_with_the_extension_of_the_holder_before) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token, many_tokens), start_ns);
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(1)).ok());
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 3'600'000, extended, start_ns + ms(10)).ok());
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(11)).ok());
  EXPECT_EQ(extended.result.code, status::not_owner);
  EXPECT_EQ(second_call_.finished, 0) << "the server may keep it for an hour";
  answer_last(granted(first_token + 1000), start_ns + ms(12));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(30'011));
}

// The request of the call itself is still open, and decides.
TEST_F(gate_test, hazard_28_a_refused_renewal_fails_no_extension_that_was_sent_after_it) {
  hold_first();
  gate_.on_timer(start_ns + ms(12'000));
  const auto automatic = io_.last();
  ASSERT_EQ(automatic.what, step::renew);
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(12'001)).ok());
  const auto own = io_.last();
  ASSERT_NE(own.serial, automatic.serial);
  gate_.on_answer(automatic.claim_id, automatic.serial, refused("NOPERM"), start_ns + ms(12'002));
  EXPECT_EQ(extended.finished, 0);
  gate_.on_answer(own.claim_id, own.serial, result_of(answer::renewed), start_ns + ms(12'003));
  EXPECT_EQ(extended.finished, 1);
  EXPECT_EQ(extended.result.code, status::ok);
}

// The later renewal asks for as long a hold.
TEST_F(gate_test, a_refused_extension_waits_for_a_later_renewal_that_is_open) {
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(11'999)).ok());
  const auto own = io_.last();
  gate_.on_timer(start_ns + ms(12'000));
  const auto automatic = io_.last();
  ASSERT_NE(own.serial, automatic.serial);
  gate_.on_answer(own.claim_id, own.serial, refused("NOPERM"), start_ns + ms(12'002));
  EXPECT_EQ(extended.finished, 0);
  gate_.on_answer(automatic.claim_id, automatic.serial, refused("NOPERM"), start_ns + ms(12'003));
  EXPECT_EQ(extended.finished, 1);
  EXPECT_EQ(extended.result.code, status::refused);
}

}  // namespace
}  // namespace mortise::testing::gate_terms_test
