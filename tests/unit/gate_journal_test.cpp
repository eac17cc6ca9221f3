// The events of a gate for the history of its lock.
#include "lock/gate/gate_journal.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lock/exported_claim.hpp"
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_journal_test {
namespace {

using enum lock::event_kind;

class gate_journal : public gate_test {
 protected:
  gate_journal() {
    first_.trace.number = 1;
    second_.trace.number = 2;
  }
  void on_event(const lock::lock_event& event) noexcept override { events_.push_back(event); }
  [[nodiscard]] std::vector<lock::event_kind> kinds() const {
    std::vector<lock::event_kind> all;
    for (const auto& one : events_) all.push_back(one.kind);
    return all;
  }
  using kind_list = std::vector<lock::event_kind>;

  std::vector<lock::lock_event> events_;
};

TEST_F(gate_journal, a_free_lock_makes_two_events) {
  hold_first();
  other_call unlock;
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlock, start_ns + ms(5)).ok());
  ASSERT_EQ((kind_list{granted, released}), kinds());
  EXPECT_EQ(1U, events_[0].handle);
  EXPECT_EQ(first_.token, events_[0].token);
  EXPECT_EQ(1, events_[0].permits);
  EXPECT_EQ(start_ns, events_[0].since);
  EXPECT_EQ(start_ns + ms(1), events_[0].at);
  EXPECT_EQ(first_.token, events_[1].token);
  EXPECT_EQ(start_ns + ms(1), events_[1].since);
  EXPECT_EQ(start_ns + ms(5), events_[1].at);
}

TEST_F(gate_journal, an_export_ends_the_hold) {
  hold_first();
  const auto token = first_.token;
  lock::exported_claim id;
  ASSERT_TRUE(gate_.export_hold(first_, id, start_ns + ms(5)).ok());
  ASSERT_EQ((kind_list{granted, exported}), kinds());
  EXPECT_EQ(token, events_[1].token);
  EXPECT_EQ(start_ns + ms(1), events_[1].since);
}

TEST_F(gate_journal, a_pass_follows_the_release) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  other_call unlock;
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlock, start_ns + ms(5)).ok());
  // The pass draws a fencing token first.
  if (second_call_.finished == 0) {
    auto renewed = lock::step_result{};
    renewed.what = lock::answer::renewed;
    renewed.last_token = first_.token + many_tokens;
    answer_last(renewed, start_ns + ms(6));
  }
  ASSERT_EQ(1, second_call_.finished);
  ASSERT_EQ((kind_list{granted, began, released, passed}), kinds());
  EXPECT_EQ(2U, events_[1].handle);
  EXPECT_EQ(start_ns + ms(2), events_[1].at);
  EXPECT_EQ(2U, events_[3].handle);
  EXPECT_EQ(start_ns + ms(2), events_[3].since);
  EXPECT_EQ(second_.token, events_[3].token);
}

TEST_F(gate_journal, a_wait_that_ends_has_its_status) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  gate_.abandon(second_call_, status::timed_out, start_ns + ms(9));
  ASSERT_EQ((kind_list{granted, began, ended}), kinds());
  EXPECT_EQ(static_cast<std::int32_t>(status::timed_out), events_[2].code);
  EXPECT_EQ(start_ns + ms(2), events_[2].since);
}

TEST_F(gate_journal, a_loss_has_its_reason) {
  hold_first();
  gate_.settle(start_ns + ms(1'000'000));
  ASSERT_EQ((kind_list{granted, lost}), kinds());
  EXPECT_EQ(static_cast<std::int32_t>(first_.loss), events_[1].code);
  EXPECT_NE(0, events_[1].code);
}

TEST_F(gate_journal, the_present_state_has_each_hold_and_wait) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  std::vector<lock::lock_event> present;
  gate_.add_present(present, 10, start_ns + ms(3));
  ASSERT_EQ(2U, present.size());
  EXPECT_EQ(holds, present[0].kind);
  EXPECT_EQ(1U, present[0].handle);
  EXPECT_EQ(start_ns + ms(1), present[0].since);
  EXPECT_EQ(waits, present[1].kind);
  EXPECT_EQ(2U, present[1].handle);
  EXPECT_EQ(start_ns + ms(2), present[1].since);
  gate_.add_present(present, 3, start_ns + ms(3));
  EXPECT_EQ(3U, present.size());
}

}  // namespace
}  // namespace mortise::testing::gate_journal_test
