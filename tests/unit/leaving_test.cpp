// How claims are given back against resistance: refusals, lost messages, full buffers.
#include <gtest/gtest.h>

#include <list>

#include "lock/gate/gate.hpp"
#include "protocol/table.hpp"
#include "unit/scripted_lock_io.hpp"

namespace mortise::testing::leaving_test {
namespace {

using lock::answer;
using lock::claim_event;
using lock::claim_phase;
using lock::step;

class leaving_test : public ::testing::Test {
 protected:
  lock::claim& make(std::int64_t lease_ms = 30'000) {
    lock::lease_terms terms;
    terms.lease_ms = lease_ms;
    terms.renews = true;
    return claims_.emplace_back(1, "token", protocol::queued().facts, lock::amount{}, terms,
                                lock::wait_terms{.waits = true}, io_);
  }
  // A claim that waits at the server since start_ns; the server's clock shows 50 s.
  lock::claim& make_queued() {
    auto& claim = make();
    claim.attempt()->start(true, nullptr, start_ns);
    claim.on_answer(1, queued(5000, 0, 50'000'000), start_ns + ms(1));
    return claim;
  }
  // Answers the latest request.
  claim_event answer_last(lock::claim& claim, const lock::step_result& result, time_ns now) {
    return claim.on_answer(io_.last().serial, result, now);
  }

  scripted_lock_io io_;
  std::list<lock::claim> claims_;
};

TEST_F(leaving_test, hazard_28_a_refused_cancel_is_reported_and_tried_on_less_and_less_often) {
  auto& claim = make_queued();
  auto now = start_ns + ms(10);
  claim.release(nullptr, now);
  time_ns pause = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(io_.last().what, step::cancel);
    EXPECT_EQ(answer_last(claim, refused("BUSY"), now), claim_event::refused);
    EXPECT_EQ(claim.phase(), claim_phase::releasing);
    EXPECT_GE(claim.next_timer() - now, pause);
    pause = claim.next_timer() - now;
    const auto count = io_.count();
    now = claim.next_timer();
    claim.on_timer(now);
    EXPECT_EQ(io_.count(), count + 1);
  }
  EXPECT_GT(pause, ms(500));
  EXPECT_EQ(answer_last(claim, result_of(answer::cancelled), now), claim_event::released);
  EXPECT_EQ(claim.phase(), claim_phase::over);
}

TEST_F(leaving_test, a_leave_that_is_refused_for_good_ends_with_the_queue) {
  auto& claim = make_queued();
  claim.release(nullptr, start_ns);
  auto now = start_ns;
  while (claim.phase() == claim_phase::releasing) {
    answer_last(claim, refused("NOPERM"), now);
    now = claim.next_timer();
    ASSERT_LE(now, start_ns + 301 * ns_per_s);
    claim.on_timer(now);
  }
  EXPECT_LT(io_.count(), 50U);
}

TEST_F(leaving_test, what_is_not_understood_is_given_up_soon) {
  auto& claim = make_queued();
  claim.release(nullptr, start_ns);
  auto now = start_ns;
  while (claim.phase() == claim_phase::releasing) {
    answer_last(claim, result_of(answer::unknown), now);
    if (claim.phase() != claim_phase::releasing) break;
    now = claim.next_timer();
    ASSERT_LE(now, start_ns + 10 * ns_per_s);
    claim.on_timer(now);
  }
}

TEST_F(leaving_test, where_nothing_was_left_nothing_is_given_back) {
  for (const auto what : {answer::refused, answer::unsent, answer::not_free}) {
    auto& claim = make();
    claim.attempt()->start(false, nullptr, start_ns);
    io_.is_up = what == answer::refused;
    claim.on_answer(io_.last().serial, result_of(what), start_ns + ms(1));
    io_.is_up = true;
    const auto count = io_.count();
    claim.release(nullptr, start_ns + ms(2));
    EXPECT_EQ(claim.phase(), claim_phase::over);
    EXPECT_EQ(io_.count(), count);
  }
}

TEST_F(leaving_test, a_refused_cancel_ends_when_every_attempt_was_refused_too) {
  auto& claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.release(nullptr, start_ns + ms(1));
  EXPECT_EQ(claim.on_answer(1, refused("WRONGTYPE"), start_ns + ms(2)), claim_event::none);
  EXPECT_EQ(claim.on_answer(2, refused("WRONGTYPE"), start_ns + ms(2)), claim_event::released);
}

TEST_F(leaving_test, hazard_15_what_may_be_there_is_given_back) {
  for (const auto what : {answer::unknown, answer::broken}) {
    auto& claim = make();
    claim.attempt()->start(false, nullptr, start_ns);
    claim.on_answer(1, result_of(what), start_ns + ms(1));
    claim.release(nullptr, start_ns + ms(2));
    EXPECT_EQ(io_.last().what, step::cancel);
  }
}

// A look at the server that a grant's message overtook may be carried out when the grant has
// lapsed. It then enqueues us, which a release would not undo.
TEST_F(leaving_test, with_a_look_under_way_a_hold_is_given_back_by_cancel) {
  auto& claim = make_queued();
  claim.on_timer(claim.next_timer());
  ASSERT_EQ(io_.last().what, step::reacquire);
  const auto now = start_ns + ms(5003);
  ASSERT_EQ(claim.on_grant(first_token, 55'600'000, false, now), claim_event::granted);
  claim.release(nullptr, now + ms(1));
  EXPECT_EQ(io_.last().what, step::cancel);
}

TEST_F(leaving_test, without_room_the_leave_is_tried_on_although_an_attempt_is_open) {
  auto& claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  io_.has_room = false;
  claim.release(nullptr, start_ns + ms(1));
  io_.has_room = true;
  const auto count = io_.count();
  const auto retry_at = claim.next_timer();
  ASSERT_LT(retry_at, start_ns + ns_per_s);
  claim.on_timer(retry_at);
  EXPECT_EQ(io_.count(), count + 1);
  EXPECT_EQ(io_.last().what, step::cancel);
}

TEST_F(leaving_test, hazard_01_a_grant_older_than_the_latest_answer_is_no_grant) {
  auto& claim = make_queued();
  claim.on_timer(claim.next_timer());
  const auto now = start_ns + ms(6000);
  claim.on_answer(2, queued(5000, 0, 56'000'000), now);
  // With a connection of its own (RESP2) a message can be later than a newer reply.
  EXPECT_EQ(claim.on_grant(first_token, 52'000'000, false, now + ms(1)), claim_event::none);
  EXPECT_EQ(claim.phase(), claim_phase::queued);
}

TEST_F(leaving_test, a_head_looks_at_once_when_nobody_holds) {
  auto& claim = make_queued();
  claim.attempt()->on_head(-2, start_ns + ms(10));
  EXPECT_LT(claim.next_timer(), start_ns + ms(50));
}

TEST_F(leaving_test, hazard_24_an_answer_older_than_a_message_does_not_undo_it) {
  auto& claim = make();
  claim.attempt()->start(true, nullptr, start_ns);
  claim.attempt()->on_head(302, start_ns + ms(1));
  claim.on_answer(1, queued(30'000, 1, 50'000'000), start_ns + ms(2));
  EXPECT_LT(claim.next_timer(), start_ns + ms(400));
  // The later reply counts.
  claim.on_timer(claim.next_timer());
  claim.on_answer(2, queued(900, 0, 50'400'000), start_ns + ms(400));
  EXPECT_GT(claim.next_timer(), start_ns + ms(1300));
}

// ---- the same, as a handle sees it ----------------------------------------------------------

struct call : lock::acquire_operation {
  explicit call(lock::owner& handle) { owner = &handle; }
  void finish(const outcome& final_result, std::int64_t /*token*/) noexcept override {
    ++finished;
    result = final_result;
  }
  int finished = 0;
  outcome result;
};

struct other_call : lock::operation {
  void finish(const outcome& final_result, std::int64_t /*token*/) noexcept override {
    ++finished;
    result = final_result;
  }
  int finished = 0;
  outcome result;
};

class leaving_gate_test : public ::testing::Test, private lock::gate_listener {
 protected:
  void SetUp() override {
    ASSERT_TRUE(gate_.acquire(first_, start_ns).ok());
    answer(io_.last(), granted(), start_ns + ms(1));
    ASSERT_TRUE(gate_.is_held(handle_, start_ns + ms(1)));
  }
  void answer(sent_request request, const lock::step_result& result, time_ns now) {
    gate_.on_answer(request.claim_id, request.serial, result, now);
  }
  void on_lost(lock::owner& /*owner*/) noexcept override {}
  void on_at_risk(lock::owner& /*owner*/, reason /*why*/) noexcept override {}
  void on_contended(lock::owner& /*owner*/) noexcept override {}
  void on_not_released(const outcome& /*result*/) noexcept override {}

  scripted_lock_io io_;
  lock::gate gate_{protocol::queued().facts, io_, *this};
  lock::owner handle_;
  call first_{handle_};
  call second_{handle_};
  other_call unlock_;
};

TEST_F(leaving_gate_test, the_late_end_of_an_unlock_does_not_touch_the_next_hold) {
  ASSERT_TRUE(gate_.unlock(handle_, lock::hold_mode::exclusive, &unlock_, start_ns + ms(2)).ok());
  const auto release = io_.last();
  gate_.abandon(unlock_, status::timed_out, start_ns + ms(3));
  EXPECT_EQ(unlock_.result.code, status::unknown);
  ASSERT_TRUE(gate_.acquire(second_, start_ns + ms(4)).ok());
  answer(io_.last(), granted(first_token + 1), start_ns + ms(5));
  ASSERT_TRUE(gate_.is_held(handle_, start_ns + ms(5)));
  answer(release, result_of(answer::released), start_ns + ms(6));
  EXPECT_TRUE(gate_.is_held(handle_, start_ns + ms(6)));
  EXPECT_EQ(unlock_.finished, 1);
}

TEST_F(leaving_gate_test, hazard_28_a_refused_unlock_is_reported_at_once_and_tried_on) {
  ASSERT_TRUE(gate_.unlock(handle_, lock::hold_mode::exclusive, &unlock_, start_ns + ms(2)).ok());
  answer(io_.last(), refused("MISCONF"), start_ns + ms(3));
  EXPECT_EQ(unlock_.result.code, status::refused);
  EXPECT_EQ(handle_.state(), lock::owner_state::idle);
  EXPECT_FALSE(gate_.is_idle());
  const auto count = io_.count();
  gate_.on_timer(gate_.next_timer());
  ASSERT_EQ(io_.count(), count + 1);
  EXPECT_EQ(io_.last().what, step::release_alone);
  answer(io_.last(), result_of(answer::released), start_ns + ms(300));
  EXPECT_TRUE(gate_.is_idle());
  EXPECT_EQ(unlock_.finished, 1);
}

TEST_F(leaving_gate_test, an_extension_that_finds_no_room_is_rejected) {
  io_.has_room = false;
  other_call extension;
  EXPECT_EQ(gate_.extend(handle_, 0, extension, start_ns + ms(2)).code, status::limit);
  EXPECT_EQ(extension.finished, 0);
  EXPECT_EQ(gate_.next_timer() < start_ns + ms(30'000), true) << "the hold is still renewed";
}

}  // namespace
}  // namespace mortise::testing::leaving_test
