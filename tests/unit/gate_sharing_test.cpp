// Readers of one client that share one reader at the server.
#include <list>

#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_sharing_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::step;

class gate_sharing_test : public gate_test {
 protected:
  gate_sharing_test() : gate_test(protocol::queued_rw()) {
    first_.capacity = second_.capacity = third_.capacity = exclusive_permits;
    for (auto* const call : {&first_call_, &second_call_, &third_call_}) {
      call->amount = {hold_mode::shared, 1};
    }
  }
  void acquire(acquire_call& call, time_ns now) { ASSERT_TRUE(gate_.acquire(call, now).ok()); }
  // `first_` reads since 1 ms after the start.
  void read_first(bool others_wait = false) {
    acquire(first_call_, start_ns);
    answer_last(granted(first_token, 1, others_wait), start_ns + ms(1));
    ASSERT_EQ(first_call_.result.code, status::ok);
  }
  outcome unlock(lock::owner& who, time_ns now, hold_mode mode = hold_mode::shared) {
    auto& unlocked = unlocks_.emplace_back();
    const auto accepted = gate_.unlock(who, mode, &unlocked, now);
    return accepted.ok() && unlocked.finished == 1 ? unlocked.result : accepted;
  }
  // Whether the call went to the server, and so is not finished.
  [[nodiscard]] bool asks(acquire_call& call, time_ns now) {
    const auto before = io_.count();
    EXPECT_TRUE(gate_.acquire(call, now).ok());
    return io_.count() == before + 1 && call.finished == 0;
  }

  std::list<other_call> unlocks_;
  lock::owner third_;
  acquire_call third_call_{third_};
};

TEST_F(gate_sharing_test, a_reader_joins_who_reads_and_asks_nothing) {
  read_first();
  EXPECT_TRUE(io_.says_shared) << "so that a waiter notifies this client";
  for (const auto is_try : {false, true}) {
    acquire_call joins(second_, is_try);
    joins.amount = {hold_mode::shared, 1};
    acquire(joins, start_ns + ms(2));
    EXPECT_EQ(joins.result.code, status::ok);
    EXPECT_EQ(joins.given, first_token) << "as readers have who are let in together";
    EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(2)) &&
                gate_.is_held(second_, start_ns + ms(2)));
    EXPECT_TRUE(unlock(second_, start_ns + ms(3)).ok());
    EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(3)));
  }
  EXPECT_EQ(io_.count(), 1U);
}

TEST_F(gate_sharing_test, the_last_one_gives_it_back) {
  read_first();
  acquire(second_call_, start_ns + ms(2));
  EXPECT_TRUE(unlock(first_, start_ns + ms(3)).ok());
  EXPECT_EQ(io_.count(), 1U);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(3)));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(3)));
  EXPECT_TRUE(unlock(second_, start_ns + ms(4)).ok());
  EXPECT_EQ(io_.last().what, step::release_alone);
  answer_last(result_of(answer::released), start_ns + ms(5));
  EXPECT_TRUE(gate_.is_idle());
}

TEST_F(gate_sharing_test, nobody_joins_when_somebody_waits) {
  read_first();
  gate_.on_waiter(io_.last().token, start_ns + ms(2));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(3)));
  EXPECT_NE(io_.requests[0].token, io_.last().token) << "by a claim of its own";
  EXPECT_TRUE(unlock(first_, start_ns + ms(4)).ok());
  EXPECT_EQ(io_.last().what, step::release) << "and it drains";
}

TEST_F(gate_sharing_test, nobody_joins_when_the_grant_said_that_others_wait) {
  read_first(true);
  EXPECT_TRUE(asks(second_call_, start_ns + ms(2)));
}

TEST_F(gate_sharing_test, nobody_joins_who_waits_when_word_of_others_came_before_the_grant) {
  acquire(first_call_, start_ns);
  gate_.on_waiter(io_.last().token, start_ns + ms(1));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(2)));
}

TEST_F(gate_sharing_test, hazard_24_a_renewal_tells_of_who_waits_where_the_message_was_lost) {
  read_first();
  gate_.on_timer(start_ns + ms(11'000));
  ASSERT_EQ(io_.last().what, step::renew);
  auto renewed = result_of(answer::renewed);
  renewed.others_wait = true;
  answer_last(renewed, start_ns + ms(11'001));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(11'002)));
}

TEST_F(gate_sharing_test, hazard_17_nobody_joins_before_a_report_of_force_is_checked) {
  read_first();
  gate_.on_forced(io_.last().token, start_ns + ms(2));
  ASSERT_EQ(io_.last().what, step::renew);
  const auto check = io_.last();
  EXPECT_TRUE(asks(second_call_, start_ns + ms(3)));
  gate_.on_answer(check.claim_id, check.serial, result_of(answer::renewed), start_ns + ms(4));
  acquire(third_call_, start_ns + ms(5));
  EXPECT_TRUE(third_call_.result.ok()) << "the report was false";
}

TEST_F(gate_sharing_test, nobody_joins_a_hold_that_may_be_over_before_long) {
  read_first();
  io_.is_up = false;  // so that it is not renewed
  const auto late = start_ns + ms(16'000);
  gate_.on_timer(late);
  ASSERT_TRUE(gate_.is_held(first_, late));
  acquire(second_call_, late);
  EXPECT_EQ(second_call_.finished, 0);
}

TEST_F(gate_sharing_test, those_who_wait_together_begin_together) {
  acquire(first_call_, start_ns);
  acquire(second_call_, start_ns + ms(1));
  acquire(third_call_, start_ns + ms(2));
  EXPECT_EQ(io_.count(), 1U);
  answer_last(granted(), start_ns + ms(3));
  for (auto* const call : {&first_call_, &second_call_, &third_call_}) {
    EXPECT_EQ(call->result.code, status::ok);
    EXPECT_EQ(call->given, first_token);
  }
}

TEST_F(gate_sharing_test, a_try_does_not_wait_for_others) {
  acquire(first_call_, start_ns);
  second_call_.is_try = true;
  EXPECT_TRUE(asks(second_call_, start_ns + ms(1)));
  EXPECT_TRUE(asks(third_call_, start_ns + ms(1)) == false) << "behind the one that waits";
}

TEST_F(gate_sharing_test, whoever_waits_behind_goes_on_when_the_first_gives_up) {
  acquire(first_call_, start_ns);
  acquire(second_call_, start_ns + ms(1));
  gate_.abandon(first_call_, status::cancelled, start_ns + ms(2));
  EXPECT_EQ(first_call_.result.code, status::cancelled);
  answer_last(granted(), start_ns + ms(3));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(3)));
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(3)));
}

TEST_F(gate_sharing_test, a_writer_and_a_reader_on_other_terms_ask_themselves) {
  read_first();
  third_call_.amount = {hold_mode::exclusive, exclusive_permits};
  third_call_.is_try = true;
  EXPECT_TRUE(asks(third_call_, start_ns + ms(2)));
  second_.lease_ms = 20'000;
  EXPECT_TRUE(asks(second_call_, start_ns + ms(2)));
}

TEST_F(gate_sharing_test, nobody_joins_when_a_writer_of_the_same_client_waits) {
  read_first();
  third_call_.amount = {hold_mode::exclusive, exclusive_permits};
  EXPECT_TRUE(asks(third_call_, start_ns + ms(2)));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(3)));
}

TEST_F(gate_sharing_test, nobody_waits_with_those_who_came_before_a_writer_of_the_same_client) {
  acquire(first_call_, start_ns);
  third_call_.amount = {hold_mode::exclusive, exclusive_permits};
  EXPECT_TRUE(asks(third_call_, start_ns + ms(1)));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(2)));
}

TEST_F(gate_sharing_test, whoever_is_not_renewed_or_is_strict_asks_itself) {
  read_first();
  second_.renews = false;
  EXPECT_TRUE(asks(second_call_, start_ns + ms(2)));
  third_.is_strict = true;
  EXPECT_TRUE(asks(third_call_, start_ns + ms(2)));
  EXPECT_FALSE(io_.says_shared);
}

TEST_F(gate_sharing_test, hazard_17_a_loss_is_reported_to_all) {
  read_first();
  acquire(second_call_, start_ns + ms(2));
  gate_.on_timer(start_ns + ms(11'000));
  answer_last(result_of(answer::not_owner), start_ns + ms(11'001));
  for (auto* const who : {&first_, &second_}) {
    EXPECT_FALSE(gate_.is_held(*who, start_ns + ms(11'001)));
    EXPECT_EQ(unlock(*who, start_ns + ms(11'002)).code, status::lost);
  }
}

TEST_F(gate_sharing_test, hazard_6_they_end_with_the_lease) {
  read_first();
  acquire(second_call_, start_ns + ms(2));
  io_.is_up = false;
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(30'000));
  EXPECT_FALSE(gate_.is_held(second_, start_ns + ms(30'000)));
  EXPECT_EQ(unlock(second_, start_ns + ms(30'000)).code, status::lost);
  EXPECT_EQ(unlock(first_, start_ns + ms(30'000)).code, status::lost);
}

TEST_F(gate_sharing_test, each_ends_with_its_own_max_hold_and_hears_of_it_before) {
  second_.max_hold_ms = 30'000;
  read_first();
  acquire(second_call_, start_ns + ms(5'000));
  EXPECT_LE(gate_.next_timer(), start_ns + ms(25'000));
  for (auto now = start_ns + ms(9'000); now < start_ns + ms(35'000); now += ms(1'000)) {
    EXPECT_TRUE(gate_.is_held(second_, now));
    const auto count = io_.count();
    gate_.on_timer(now);
    EXPECT_EQ(at_risk_ == &second_, now >= start_ns + ms(25'000));
    if (io_.count() > count) answer_last(result_of(answer::renewed), now);
  }
  EXPECT_EQ(gate_.next_timer(), start_ns + ms(35'000));
  EXPECT_EQ(lost_, nullptr);
  EXPECT_FALSE(gate_.is_held(second_, start_ns + ms(35'000))) << "also before a timer says so";
  gate_.on_timer(start_ns + ms(35'000));
  EXPECT_EQ(lost_, &second_);
  EXPECT_EQ(second_.loss, reason::max_hold);
  EXPECT_EQ(risks_, 1);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(35'000)));
}

TEST_F(gate_sharing_test, hazard_19_max_hold_ends_an_upgraded_reader_that_shared) {
  second_.max_hold_ms = 30'000;
  read_first();
  acquire(second_call_, start_ns + ms(5'000));
  EXPECT_TRUE(unlock(first_, start_ns + ms(5'001)).ok());
  other_call raised;
  ASSERT_TRUE(gate_.raise(second_, raised, start_ns + ms(5'002)).ok());
  answer_last(granted(first_token + 5), start_ns + ms(5'003));
  ASSERT_EQ(raised.result.code, status::ok);
  for (auto now = start_ns + ms(9'000); now < start_ns + ms(35'000); now += ms(1'000)) {
    EXPECT_TRUE(gate_.is_held(second_, now));
    const auto count = io_.count();
    gate_.on_timer(now);
    if (io_.count() > count) answer_last(result_of(answer::renewed), now);
  }
  EXPECT_FALSE(gate_.is_held(second_, start_ns + ms(35'000)));
  gate_.on_timer(start_ns + ms(35'000));
  EXPECT_EQ(lost_, &second_);
  EXPECT_EQ(second_.loss, reason::max_hold);
}

TEST_F(gate_sharing_test, hazard_20_a_max_hold_below_the_lease_ends_with_an_event) {
  first_.max_hold_ms = 1000;
  read_first();
  gate_.on_timer(start_ns + ms(999));
  EXPECT_EQ(at_risk_, &first_);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(999)));
  EXPECT_EQ(gate_.next_timer(), start_ns + ms(1000));
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(1000)));
  gate_.on_timer(start_ns + ms(1000));
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::max_hold);
  EXPECT_EQ(unlock(first_, start_ns + ms(1001)).code, status::lost);
  EXPECT_EQ(io_.last().what, step::release_alone) << "not only when the lease ends";
}

// The claim is extended for the reader that came last.
TEST_F(gate_sharing_test, who_joins_is_renewed_beyond_the_max_hold_of_who_was_there) {
  first_.max_hold_ms = 30'000;
  read_first();
  acquire(second_call_, start_ns + ms(2));
  for (auto now = start_ns + ms(9'000); now < start_ns + ms(80'000); now += ms(1'000)) {
    const auto count = io_.count();
    gate_.on_timer(now);
    if (io_.count() > count) answer_last(result_of(answer::renewed), now);
  }
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::max_hold);
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(80'000)));
}

TEST_F(gate_sharing_test, an_extension_reaches_beyond_its_own_max_hold_only) {
  second_.max_hold_ms = first_.max_hold_ms = 30'000;
  read_first();
  acquire(second_call_, start_ns + ms(2));
  other_call extended;
  ASSERT_TRUE(gate_.extend(second_, 90'000, extended, start_ns + ms(3)).ok());
  answer_last(result_of(answer::renewed), start_ns + ms(4));
  EXPECT_EQ(extended.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(second_), start_ns + ms(90'003));
  EXPECT_EQ(gate_.valid_until(first_), start_ns + ms(30'000));
  gate_.on_timer(start_ns + ms(30'001));
  EXPECT_EQ(lost_, &first_);
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(30'001)));
}

TEST_F(gate_sharing_test, an_extension_ends_with_the_hold_it_was_for) {
  read_first();
  acquire(second_call_, start_ns + ms(2));
  other_call of_first;
  other_call of_second;
  ASSERT_TRUE(gate_.extend(first_, 0, of_first, start_ns + ms(3)).ok());
  const auto request = io_.last();
  ASSERT_TRUE(gate_.extend(second_, 0, of_second, start_ns + ms(3)).ok());
  EXPECT_TRUE(unlock(first_, start_ns + ms(4)).ok());
  EXPECT_EQ(of_first.result.code, status::not_owner);
  EXPECT_EQ(of_second.finished, 0);
  gate_.on_answer(request.claim_id, request.serial, result_of(answer::renewed), start_ns + ms(5));
  EXPECT_EQ(of_second.result.code, status::ok);
}

TEST_F(gate_sharing_test, only_who_reads_alone_becomes_the_writer) {
  read_first();
  acquire(second_call_, start_ns + ms(2));
  other_call raised;
  ASSERT_TRUE(gate_.raise(first_, raised, start_ns + ms(3)).ok());
  EXPECT_EQ(raised.result.code, status::not_acquired);
  EXPECT_EQ(io_.count(), 1U);
  EXPECT_TRUE(unlock(second_, start_ns + ms(4)).ok());
  other_call again;
  ASSERT_TRUE(gate_.raise(first_, again, start_ns + ms(5)).ok());
  EXPECT_EQ(io_.last().what, step::raise);
  EXPECT_TRUE(asks(third_call_, start_ns + ms(6))) << "nobody joins who is about to write";
}

// To the server the retained claim is another reader.
TEST_F(gate_sharing_test, an_upgrade_first_releases_a_retained_claim_of_this_client) {
  first_.retain_ms = second_.retain_ms = 1000;
  second_.lease_ms = 20'000;  // so the claims differ
  read_first();
  acquire(second_call_, start_ns + ms(2));
  answer_last(granted(first_token + 1), start_ns + ms(3));
  EXPECT_TRUE(unlock(second_, start_ns + ms(4)).ok());
  ASSERT_TRUE(gate_.is_retained());
  const auto retained = io_.last().token;
  other_call raised;
  ASSERT_TRUE(gate_.raise(first_, raised, start_ns + ms(5)).ok());
  EXPECT_FALSE(gate_.is_retained());
  ASSERT_EQ(io_.last().what, step::raise);
  const auto& before = io_.requests[io_.count() - 2];
  EXPECT_EQ(before.what, step::release_alone);
  EXPECT_EQ(before.token, retained);
}

TEST_F(gate_sharing_test, nobody_joins_who_will_ask_to_write_when_there_is_a_connection) {
  read_first();
  io_.is_up = false;
  other_call raised;
  ASSERT_TRUE(gate_.raise(first_, raised, start_ns + ms(3)).ok());
  acquire(second_call_, start_ns + ms(4));
  EXPECT_EQ(second_call_.finished, 0);
  io_.is_up = true;
  gate_.on_up(start_ns + ms(5));
  EXPECT_EQ(second_call_.finished, 0);
}

TEST_F(gate_sharing_test, hazard_30_nobody_joins_with_the_token_of_a_writer) {
  read_first();
  other_call raised;
  ASSERT_TRUE(gate_.raise(first_, raised, start_ns + ms(2)).ok());
  answer_last(granted(first_token + 1), start_ns + ms(3));
  ASSERT_EQ(raised.result.code, status::ok);
  other_call lowered;
  ASSERT_TRUE(gate_.lower(first_, 1, lowered, start_ns + ms(4)).ok());
  answer_last(result_of(answer::renewed), start_ns + ms(5));
  EXPECT_TRUE(asks(second_call_, start_ns + ms(6)));
}

TEST_F(gate_sharing_test, what_a_reader_leaves_is_retained_for_any_of_them) {
  first_.retain_ms = second_.retain_ms = 100;
  read_first();
  acquire(second_call_, start_ns + ms(2));
  EXPECT_TRUE(unlock(first_, start_ns + ms(3)).ok());
  EXPECT_FALSE(gate_.is_retained());
  EXPECT_TRUE(unlock(second_, start_ns + ms(4)).ok());
  EXPECT_TRUE(gate_.is_retained());
  acquire(third_call_, start_ns + ms(5));
  EXPECT_EQ(third_call_.result.code, status::ok);
  EXPECT_EQ(third_call_.given, first_token);
  EXPECT_EQ(io_.count(), 1U);
}

TEST_F(gate_sharing_test, what_is_retained_is_not_in_the_way_of_its_client) {
  first_.retain_ms = 100;
  read_first();
  EXPECT_TRUE(unlock(first_, start_ns + ms(3)).ok());
  second_call_.amount = {hold_mode::exclusive, exclusive_permits};
  acquire(second_call_, start_ns + ms(4));
  ASSERT_EQ(io_.count(), 3U);
  EXPECT_EQ(io_.requests[1].what, step::release_alone) << "before it asks";
}

TEST_F(gate_sharing_test, messages_are_awaited_while_others_may_join) {
  read_first();
  EXPECT_FALSE(gate_.awaits_message());
  acquire(second_call_, start_ns + ms(2));
  EXPECT_TRUE(gate_.awaits_message());
  EXPECT_TRUE(unlock(first_, start_ns + ms(3)).ok());
  EXPECT_TRUE(unlock(second_, start_ns + ms(3)).ok());
  EXPECT_FALSE(gate_.awaits_message());
}

TEST_F(gate_sharing_test, a_report_counts_all_who_hold) {
  first_.label = "first";
  read_first();
  acquire(second_call_, start_ns + ms(2));
  const auto report = gate_.report(start_ns + ms(3));
  EXPECT_EQ(report.holds, 2U);
  EXPECT_EQ(report.permits, 1);
  EXPECT_EQ(report.label, "first");
  EXPECT_EQ(report.mode, hold_mode::shared);
}

}  // namespace
}  // namespace mortise::testing::gate_sharing_test
