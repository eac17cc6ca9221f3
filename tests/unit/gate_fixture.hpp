// A gate with two handles, a scripted server and a clock.
#pragma once

#include <gtest/gtest.h>

#include "lock/gate/gate.hpp"
#include "protocol/table.hpp"
#include "unit/scripted_lock_io.hpp"

namespace mortise::testing {

struct acquire_call : lock::acquire_operation {
  explicit acquire_call(lock::owner& handle, bool tries = false) {
    owner = &handle;
    is_try = tries;
  }
  void finish(const outcome& final_result, std::int64_t token) noexcept override {
    ++finished;
    result = final_result;
    given = token;
  }
  int finished = 0;
  outcome result;
  std::int64_t given = 0;
};

struct other_call : lock::operation {
  void finish(const outcome& final_result, std::int64_t /*token*/) noexcept override {
    ++finished;
    result = final_result;
  }
  int finished = 0;
  outcome result;
};

// More than may be passed on.
constexpr std::int64_t many_tokens = 100;

class gate_test : public ::testing::Test, protected lock::gate_listener {
 public:
  explicit gate_test(const protocol::table& rules = protocol::queued())
      : gate_(rules.facts, io_, *this) {}

 protected:
  void answer_last(const lock::step_result& result, time_ns now) {
    const auto request = io_.last();
    gate_.on_answer(request.claim_id, request.serial, result, now);
  }
  // `first_` holds, by the cheap way.
  void hold_first() {
    ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
    answer_last(granted(), start_ns + ms(1));
    ASSERT_EQ(first_call_.result.code, status::ok);
    ASSERT_TRUE(gate_.is_held(first_, start_ns + ms(1)));
  }
  void on_lost(lock::owner& who) noexcept override { lost_ = &who; }
  void on_at_risk(lock::owner& who, reason why) noexcept override {
    EXPECT_NE(lost_, &who) << "the risk comes before the loss";
    at_risk_ = &who;
    risk_ = why;
    ++risks_;
  }

  void on_contended(lock::owner& holder) noexcept override { contended_.push_back(&holder); }
  void on_not_released(const outcome& result) noexcept override {
    ++failed_releases_;
    failed_release_ = result;
  }

  scripted_lock_io io_;
  lock::gate gate_;
  lock::owner first_;
  lock::owner second_;
  acquire_call first_call_{first_};
  acquire_call second_call_{second_};
  lock::owner* lost_ = nullptr;
  lock::owner* at_risk_ = nullptr;
  reason risk_ = reason::none;
  int risks_ = 0;
  std::vector<lock::owner*> contended_;
  int failed_releases_ = 0;
  outcome failed_release_;
};

}  // namespace mortise::testing
