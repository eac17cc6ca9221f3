// The option `progress`: holds that are renewed while their work goes on. Server and clock are
// scripted.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_progress_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::owner_state;
using lock::step;

constexpr std::int64_t lease_ms = 30'000;
constexpr std::int64_t progress_ms = 60'000;
// With progress at the start only.
constexpr auto end = start_ns + ms(progress_ms + lease_ms);

class gate_progress_test : public gate_test {
 protected:
  explicit gate_progress_test(const protocol::table& rules = protocol::queued())
      : gate_test(rules) {
    first_.progress_ms = second_.progress_ms = progress_ms;
  }
  // Runs the timers until this time, and answers each renewal.
  void live(time_ns until) {
    while (gate_.next_timer() <= until) {
      const auto now = gate_.next_timer();
      const auto count = io_.count();
      gate_.on_timer(now);
      if (io_.count() > count && io_.last().what == step::renew) {
        answer_last(result_of(answer::renewed), now);
      }
    }
  }
  // Requests are in whole milliseconds.
  [[nodiscard]] bool ends_at(time_ns time) const {
    return gate_.valid_until(first_) <= time && gate_.valid_until(first_) > time - ms(1);
  }
};

TEST_F(gate_progress_test, hazard_19_work_that_hangs_loses_the_lock) {
  hold_first();
  live(end - ms(1));
  EXPECT_TRUE(ends_at(end));
  EXPECT_EQ(risks_, 1);
  EXPECT_EQ(risk_, reason::stalled);
  EXPECT_FALSE(gate_.is_held(first_, end));
  EXPECT_EQ(gate_.note_progress(first_, end).code, status::lost) << "a report restores nothing";
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::stalled);
}

TEST_F(gate_progress_test, the_risk_comes_while_a_third_of_the_last_lease_is_left) {
  hold_first();
  live(start_ns + ms(progress_ms));
  EXPECT_EQ(risks_, 0);
  const auto count = io_.count();
  live(end - ms(1));
  EXPECT_EQ(risks_, 1);
  EXPECT_LE(io_.count(), count + 2) << "and then nothing is renewed";
}

TEST_F(gate_progress_test, work_that_goes_on_is_renewed_until_max_hold) {
  hold_first();
  auto now = start_ns;
  for (; first_.state() == owner_state::held; now += ms(progress_ms / 2)) {
    EXPECT_TRUE(gate_.note_progress(first_, now).ok());
    live(now + ms(progress_ms / 2));
  }
  EXPECT_GE(now, start_ns + ms(first_.max_hold_ms));
  EXPECT_EQ(first_.loss, reason::max_hold);
}

TEST_F(gate_progress_test, a_report_after_the_risk_resumes_the_renewals_at_once) {
  hold_first();
  const auto late = end - ms(1);
  live(late);
  ASSERT_EQ(risks_, 1);
  const auto count = io_.count();
  EXPECT_TRUE(gate_.note_progress(first_, late).ok());
  ASSERT_EQ(io_.count(), count + 1);
  EXPECT_EQ(io_.last().what, step::renew);
  answer_last(result_of(answer::renewed), late);
  EXPECT_EQ(gate_.valid_until(first_), late + ms(lease_ms));
  live(late + ms(progress_ms + lease_ms) - ms(1));
  EXPECT_EQ(risks_, 2) << "the work has stalled again";
  EXPECT_TRUE(ends_at(late + ms(progress_ms + lease_ms)));
}

TEST_F(gate_progress_test, a_report_in_time_sends_nothing) {
  hold_first();
  live(start_ns + ms(progress_ms / 2));
  const auto count = io_.count();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(gate_.note_progress(first_, start_ns + ms(progress_ms / 2 + i)).ok());
  }
  EXPECT_EQ(io_.count(), count);
}

TEST_F(gate_progress_test, an_extension_outlasts_the_last_report) {
  hold_first();
  live(end - ms(1));
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, lease_ms, extended, end - ms(1)).ok());
  answer_last(result_of(answer::renewed), end - ms(1));
  EXPECT_EQ(extended.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(first_), end - ms(1) + ms(lease_ms));
  live(end - ms(1) + ms(lease_ms));
  EXPECT_EQ(first_.loss, reason::stalled);
}

TEST_F(gate_progress_test, the_next_hold_of_a_retained_claim_begins_anew) {
  first_.retain_ms = lease_ms;
  hold_first();
  live(end - ms(lease_ms));
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, end - ms(lease_ms)).ok());
  ASSERT_TRUE(gate_.is_retained());
  acquire_call next(first_);
  ASSERT_TRUE(gate_.acquire(next, end - ms(lease_ms)).ok());
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + io_.last().reserve;
  answer_last(drawn, end - ms(lease_ms));
  ASSERT_EQ(next.finished, 1);
  live(end - ms(lease_ms) + ms(progress_ms + lease_ms) - ms(1));
  EXPECT_TRUE(ends_at(end - ms(lease_ms) + ms(progress_ms + lease_ms)));
}

TEST_F(gate_progress_test, a_reentrant_hold_is_one_hold) {
  first_.is_reentrant = {true, true};
  hold_first();
  live(start_ns + ms(progress_ms));
  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(progress_ms)).ok());
  live(end);
  EXPECT_EQ(first_.loss, reason::stalled) << "an acquire again is no report";
}

TEST_F(gate_progress_test, without_the_option_a_report_only_checks_the_hold) {
  first_.progress_ms = 0;
  EXPECT_EQ(gate_.note_progress(first_, start_ns).code, status::not_owner);
  hold_first();
  const auto count = io_.count();
  EXPECT_TRUE(gate_.note_progress(first_, start_ns + ms(2)).ok());
  EXPECT_EQ(io_.count(), count);
  gate_.close(start_ns + ms(3));
  EXPECT_EQ(gate_.note_progress(first_, start_ns + ms(3)).code, status::closed);
}

// The grant of all members of a multi is the first report of each.
TEST_F(gate_progress_test, a_member_of_a_multi_needs_no_report_while_others_are_awaited) {
  first_call_.is_of_multi = true;
  hold_first();
  const auto begun = end + ms(lease_ms);
  live(begun);
  ASSERT_TRUE(gate_.is_held(first_, begun));
  EXPECT_EQ(risks_, 0);
  EXPECT_TRUE(gate_.note_progress(first_, begun).ok());
  live(begun + ms(progress_ms + lease_ms) - ms(1));
  EXPECT_TRUE(ends_at(begun + ms(progress_ms + lease_ms)));
}

TEST_F(gate_progress_test, an_unrenewed_hold_needs_no_report) {
  first_.renews = false;
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 10 * progress_ms, extended, start_ns + ms(1)).ok());
  answer_last(result_of(answer::renewed), start_ns + ms(1));
  ASSERT_EQ(extended.result.code, status::ok);
  EXPECT_TRUE(gate_.note_progress(first_, start_ns + ms(2)).ok());
  live(start_ns + ms(10 * progress_ms));
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(10 * progress_ms)));
}

class gate_progress_of_a_reader_test : public gate_progress_test {
 protected:
  gate_progress_of_a_reader_test() : gate_progress_test(protocol::queued_rw()) {
    first_.capacity = exclusive_permits;
    first_call_.amount = {hold_mode::shared, 1};
  }
};

TEST_F(gate_progress_of_a_reader_test, a_member_of_a_multi_ends_without_reports_after_its_grant) {
  first_.max_hold_ms = -1;
  first_call_.is_of_multi = true;
  hold_first();
  const auto begun = end + ms(lease_ms);
  live(begun);
  ASSERT_TRUE(gate_.is_held(first_, begun));
  EXPECT_TRUE(gate_.note_progress(first_, begun).ok());
  live(begun + ms(progress_ms + lease_ms));
  EXPECT_FALSE(gate_.is_held(first_, begun + ms(progress_ms + lease_ms)));
  EXPECT_EQ(first_.loss, reason::stalled);
}

class gate_progress_of_readers_test : public gate_progress_test {
 protected:
  gate_progress_of_readers_test() : gate_progress_test(protocol::queued_rw()) {
    first_.capacity = second_.capacity = exclusive_permits;
    first_call_.amount = second_call_.amount = {hold_mode::shared, 1};
    EXPECT_TRUE(gate_.acquire(first_call_, start_ns).ok());
    answer_last(granted(first_token), start_ns);
    EXPECT_TRUE(gate_.acquire(second_call_, start_ns).ok());
    EXPECT_EQ(second_call_.result.code, status::ok);
  }
};

TEST_F(gate_progress_of_readers_test, hazard_19_a_reader_that_hangs_ends_alone) {
  live(start_ns + ms(progress_ms));
  EXPECT_TRUE(gate_.note_progress(second_, start_ns + ms(progress_ms)).ok());
  live(end - ms(1));
  EXPECT_TRUE(gate_.is_held(first_, end - ms(1)));
  EXPECT_EQ(at_risk_, &first_);
  EXPECT_EQ(risk_, reason::stalled);
  live(end);
  EXPECT_EQ(lost_, &first_);
  EXPECT_EQ(first_.loss, reason::stalled);
  EXPECT_TRUE(gate_.is_held(second_, end));
}

// Both would end with the claim, and only then one of them goes on.
TEST_F(gate_progress_of_readers_test, hazard_20_a_late_report_of_one_hides_no_end_of_another) {
  live(end - ms(2));
  EXPECT_TRUE(gate_.note_progress(second_, end - ms(2)).ok());
  answer_last(result_of(answer::renewed), end - ms(2));
  live(end);
  EXPECT_EQ(lost_, &first_);
  EXPECT_TRUE(gate_.is_held(second_, end));
}

TEST_F(gate_progress_of_readers_test, hazard_19_an_upgraded_reader_needs_reports) {
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::shared, nullptr, start_ns + ms(1)).ok());
  other_call raised;
  ASSERT_TRUE(gate_.raise(second_, raised, start_ns + ms(2)).ok());
  answer_last(granted(first_token + 5), start_ns + ms(3));
  ASSERT_EQ(raised.result.code, status::ok);
  const auto reported = start_ns + ms(progress_ms);
  live(reported);
  EXPECT_TRUE(gate_.note_progress(second_, reported).ok());
  live(reported + ms(progress_ms + lease_ms) - ms(1));
  EXPECT_TRUE(gate_.is_held(second_, reported + ms(progress_ms + lease_ms) - ms(1)));
  EXPECT_FALSE(gate_.is_held(second_, reported + ms(progress_ms + lease_ms)));
}

}  // namespace
}  // namespace mortise::testing::gate_progress_test
