// A hold that one gate exports and another adopts. Server and clock are scripted.
#include "lock/exported_claim.hpp"
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_export_test {
namespace {

using lock::answer;
using lock::exclusive_permits;
using lock::hold_mode;
using lock::owner_state;
using lock::step;

class gate_export_test : public gate_test {
 protected:
  using gate_test::gate_test;
  lock::exported_claim exported_;
  acquire_call adopt_call(lock::owner& by) {
    acquire_call call(by, true);
    call.adopted = "m1:other:1.1::500";
    call.amount = {hold_mode::exclusive, 1};
    return call;
  }
};

TEST_F(gate_export_test, hazard_19_the_exporter_renews_and_releases_nothing_any_more) {
  hold_first();
  const auto token = std::string(gate_.owner_token(first_));
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(2)).ok());
  EXPECT_EQ(exported_.owner_token, token);
  EXPECT_NE(exported_.id_token, token);
  EXPECT_EQ(exported_.token, first_call_.given);
  EXPECT_EQ(exported_.lease_ms, first_.lease_ms);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(2)));
  EXPECT_TRUE(gate_.is_idle());
  EXPECT_EQ(gate_.next_timer(), time_never);
  gate_.on_up(start_ns + ms(3));
  gate_.forget(first_, start_ns + ms(4));
  EXPECT_EQ(io_.count(), 1U);
  EXPECT_EQ(lost_, nullptr);
}

TEST_F(gate_export_test, hazard_16_a_late_reply_to_a_renewal_of_the_exporter_is_ignored) {
  hold_first();
  gate_.on_timer(start_ns + ms(11'000));
  ASSERT_EQ(io_.last().what, step::renew);
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(11'001)).ok());
  answer_last(result_of(answer::not_owner), start_ns + ms(11'002));
  EXPECT_EQ(lost_, nullptr);
  EXPECT_EQ(first_.state(), owner_state::idle);
}

// Otherwise the helper process would release the hold after the death of the exporter.
TEST_F(gate_export_test, hazard_17_the_claim_of_the_exporter_is_over) {
  hold_first();
  const auto claim = io_.last().claim_id;
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(2)).ok());
  EXPECT_EQ(io_.claims_over, std::vector<std::uint64_t>{claim});
}

TEST_F(gate_export_test, without_a_connection_the_hold_continues) {
  hold_first();
  io_.is_up = false;
  EXPECT_EQ(gate_.export_hold(first_, exported_, start_ns + ms(2)).code, status::unreachable);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(2)));
}

TEST_F(gate_export_test, the_value_ends_with_the_export) {
  first_.value = "here";
  hold_first();
  ASSERT_EQ(io_.last().value, "here");
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(2)).ok());
  EXPECT_EQ(io_.last().what, step::set_value);
  EXPECT_EQ(io_.last().value, "");
}

TEST_F(gate_export_test, a_waiter_of_the_exporters_client_asks_the_server) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  const auto count = io_.count();
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(3)).ok());
  ASSERT_EQ(io_.count(), count + 1);
  EXPECT_NE(io_.last().token, exported_.owner_token);
  EXPECT_EQ(second_call_.finished, 0);
}

TEST_F(gate_export_test, only_a_hold_of_its_own_is_exported) {
  EXPECT_EQ(gate_.export_hold(first_, exported_, start_ns).code, status::not_owner);
  first_.is_reentrant = {true, true};
  hold_first();
  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(2)).ok());
  EXPECT_EQ(gate_.export_hold(first_, exported_, start_ns + ms(2)).code, status::already_held);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(2)));
}

TEST_F(gate_export_test, an_adoption_names_the_exported_owner_and_counts_from_its_request) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  ASSERT_EQ(io_.last().what, step::adopt);
  EXPECT_EQ(io_.last().adopted, "m1:other:1.1::500");
  answer_last(granted(first_token), start_ns + ms(100));
  EXPECT_EQ(call.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(first_), start_ns + ms(first_.lease_ms));
}

TEST_F(gate_export_test, hazard_15_an_adoption_without_a_reply_asks_again_with_its_token) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  const auto token = io_.last().token;
  answer_last(result_of(answer::broken), start_ns + ms(1));
  gate_.on_up(start_ns + ms(2));
  ASSERT_EQ(io_.last().what, step::adopt);
  EXPECT_EQ(io_.last().token, token);
  answer_last(granted(first_token), start_ns + ms(3));
  EXPECT_EQ(call.result.code, status::ok);
}

TEST_F(gate_export_test, hazard_15_an_adoption_that_is_given_up_is_undone) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  const auto adopter = io_.last().token;
  gate_.abandon(call, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(call.result.code, status::unknown);
  EXPECT_EQ(io_.last().what, step::restore);
  EXPECT_EQ(io_.last().token, "m1:other:1.1::500");
  EXPECT_EQ(io_.last().adopted, adopter);
  const auto adoption = io_.requests.front();
  answer_last(result_of(answer::broken), start_ns + ms(3001));
  gate_.on_answer(adoption.claim_id, adoption.serial, result_of(answer::broken),
                  start_ns + ms(3001));
  gate_.on_up(start_ns + ms(3002));
  EXPECT_EQ(io_.count(), 3U);
  EXPECT_EQ(io_.last().what, step::restore);
  answer_last(result_of(answer::cancelled), start_ns + ms(3003));
  EXPECT_TRUE(gate_.is_idle());
}

// The waiter would get a hold that belongs to the commands with the id.
TEST_F(gate_export_test, hazard_17_a_waiter_takes_over_no_adoption) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(1)).ok());
  const auto adoption = io_.last();
  ASSERT_EQ(adoption.what, step::adopt);
  gate_.abandon(call, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(call.result.code, status::unknown);
  ASSERT_EQ(io_.count(), 3U);
  EXPECT_EQ(io_.requests[1].what, step::restore);
  EXPECT_EQ(io_.last().what, step::try_take);
  EXPECT_NE(io_.last().token, adoption.token);
  gate_.on_answer(adoption.claim_id, adoption.serial, granted(first_token), start_ns + ms(3001));
  EXPECT_EQ(second_call_.finished, 0);
  answer_last(result_of(answer::not_free), start_ns + ms(3002));
  EXPECT_EQ(second_call_.finished, 0);
}

// A release of the late adoption would end the hold under the commands with the id.
TEST_F(gate_export_test, hazard_6_an_adoption_whose_reply_comes_too_late_is_repeated) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  const auto adopter = io_.last().token;
  const auto late = start_ns + ms(first_.lease_ms);
  answer_last(granted(first_token), late);
  ASSERT_EQ(io_.count(), 2U);
  EXPECT_EQ(io_.last().what, step::adopt);
  EXPECT_EQ(io_.last().token, adopter);
  EXPECT_EQ(call.finished, 0);
  answer_last(granted(first_token + 1), late + ms(1));
  EXPECT_EQ(call.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(first_), late + ms(first_.lease_ms));
}

TEST_F(gate_export_test, an_adopted_hold_is_exported_for_the_rest_of_its_time) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  auto adopted = granted(first_token);
  adopted.ttl_ms = 1'000'000;
  answer_last(adopted, start_ns + ms(100));
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(5000)).ok());
  EXPECT_LE(exported_.lease_ms, 995'000);
  EXPECT_GT(exported_.lease_ms, 980'000);
}

TEST_F(gate_export_test, an_adopted_or_ended_hold_leaves_nothing_behind) {
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  auto refused = result_of(answer::not_owner);
  refused.details = outcome::of(status::not_owner, "it was adopted");
  answer_last(refused, start_ns + ms(1));
  EXPECT_EQ(call.result.code, status::not_owner);
  EXPECT_EQ(io_.count(), 1U) << "nothing is to be released";
  EXPECT_TRUE(gate_.is_idle());
}

TEST_F(gate_export_test, an_adopter_passes_waiters_of_its_client) {
  acquire_call waits(second_);
  ASSERT_TRUE(gate_.acquire(waits, start_ns).ok());
  answer_last(result_of(answer::not_free), start_ns + ms(1));
  auto call = adopt_call(first_);
  ASSERT_TRUE(gate_.acquire(call, start_ns + ms(2)).ok());
  ASSERT_EQ(io_.last().what, step::adopt);
  answer_last(granted(first_token), start_ns + ms(3));
  EXPECT_EQ(call.result.code, status::ok);
  EXPECT_EQ(waits.finished, 0);
  auto second_time = adopt_call(first_);
  EXPECT_EQ(gate_.acquire(second_time, start_ns + ms(4)).code, status::already_held);
}

class gate_export_of_readers_test : public gate_export_test {
 protected:
  gate_export_of_readers_test() : gate_export_test(protocol::queued_rw()) {
    first_.capacity = second_.capacity = exclusive_permits;
    first_call_.amount = second_call_.amount = {hold_mode::shared, 1};
  }
};

TEST_F(gate_export_of_readers_test, hazard_17_a_raised_hold_is_exported_as_that_of_a_writer) {
  EXPECT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token), start_ns);
  other_call raise;
  EXPECT_TRUE(gate_.raise(first_, raise, start_ns + ms(1)).ok());
  answer_last(granted(first_token + 1), start_ns + ms(2));
  ASSERT_EQ(raise.result.code, status::ok);
  ASSERT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(3)).ok());
  EXPECT_EQ(exported_.amount.mode, hold_mode::exclusive);
  EXPECT_EQ(exported_.amount.permits, exclusive_permits);
}

// Both readers hold by one owner token. The other one would go on without a renewal.
TEST_F(gate_export_of_readers_test, hazard_17_a_shared_claim_is_not_exported) {
  EXPECT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(granted(first_token), start_ns);
  EXPECT_TRUE(gate_.acquire(second_call_, start_ns).ok());
  EXPECT_EQ(gate_.export_hold(first_, exported_, start_ns + ms(1)).code, status::busy);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(1)));
  ASSERT_TRUE(gate_.unlock(second_, hold_mode::shared, nullptr, start_ns + ms(2)).ok());
  EXPECT_TRUE(gate_.export_hold(first_, exported_, start_ns + ms(3)).ok());
}

}  // namespace
}  // namespace mortise::testing::gate_export_test
