// The requests to a quorum of servers, and the result of their replies.
#include <gtest/gtest.h>

#include "lock/amount.hpp"
#include "unit/coordinator_fixture.hpp"

namespace mortise::testing::redlock_coordinator_test {
namespace {

using lock::answer;
using lock::step;
using lock::step_request;
using lock::step_result;
using mortise::deployment::named_key;

struct some_call final : lock::operation {
  void finish(const outcome& /*result*/, std::int64_t /*token*/) noexcept override {}
};

TEST_F(coordinators, a_quorum_is_reported_at_once_and_the_late_votes_are_kept) {
  ASSERT_EQ(status::ok, ask(step::acquire));
  servers[2]->answer_last(answer::granted);
  EXPECT_FALSE(has_more());
  servers[0]->answer_last(answer::granted);
  const auto record = next();
  EXPECT_EQ(answer::granted, record.what);
  EXPECT_EQ(servers[0]->last().proposal, record.last_token);
  servers[1]->answer_last(answer::granted);
  EXPECT_FALSE(has_more());
  for (auto* server : servers) EXPECT_EQ(1U, server->count());
}

// The release follows a request whose reply is no longer awaited (hazard 16).
TEST_F(coordinators, who_has_lost_gives_back_also_what_was_not_answered) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  const auto proposal = servers[0]->last().proposal;
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::not_free, some_token, 500);
  EXPECT_FALSE(has_more());
  servers[2]->answer_last(answer::not_free, some_token, 500);
  EXPECT_EQ(answer::not_free, next().what);
  ASSERT_EQ(2U, servers[0]->count());
  EXPECT_EQ(step::release_alone, servers[0]->last().what);
  EXPECT_EQ(proposal, servers[0]->last().proposal);
  EXPECT_EQ(1U, servers[1]->count()) << "it has nothing of ours";
}

TEST_F(coordinators, the_end_of_patience_gives_back_what_may_still_come) {
  ASSERT_EQ(status::ok, ask(step::try_take, 100));
  servers[1]->answer_last(answer::granted);
  const auto record = next();
  EXPECT_EQ(answer::unsent, record.what) << "none of it stays";
  EXPECT_EQ(status::unreachable, record.details.code);
  for (auto* server : servers) EXPECT_EQ(step::release_alone, server->last().what);
  // Later votes count for no owner.
  servers[0]->answer_at(0, answer::granted);
  servers[2]->answer_at(0, answer::granted);
  EXPECT_FALSE(has_more());
  ASSERT_TRUE(becomes([&] { return retries_due > 0; }));
}

// If the network to all servers is slow, requests are late and nothing else happens.
TEST_F(coordinators, before_the_first_answer_nobody_gives_up) {
  ASSERT_EQ(status::ok, ask(step::try_take, 100));
  const timespec longer_than_patience{0, 30'000'000};
  nanosleep(&longer_than_patience, nullptr);
  EXPECT_FALSE(has_more());
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::granted);
  EXPECT_EQ(answer::granted, next().what);
}

// It is not known whether the vote was given before its connection broke (hazard 15).
TEST_F(coordinators, what_is_owed_is_brought_to_a_server_that_is_back) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  servers[2]->is_unreachable = true;
  servers[0]->answer_last(answer::not_free, some_token, 500);
  servers[1]->answer_last(answer::not_free, some_token, 500);
  EXPECT_EQ(answer::not_free, next().what);
  servers[2]->answer_last(answer::broken);
  EXPECT_EQ(1U, servers[2]->count());
  servers[2]->is_unreachable = false;
  votes->on_server_up(2, boot_now());
  ASSERT_EQ(2U, servers[2]->count());
  EXPECT_EQ(step::release_alone, servers[2]->last().what);
  servers[2]->answer_last(answer::cancelled);
  votes->on_server_up(2, boot_now());
  EXPECT_EQ(2U, servers[2]->count()) << "once";
}

TEST_F(coordinators, nothing_is_taken_from_a_round_that_came_later) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  const auto first = servers[0]->last().proposal;
  servers[0]->answer_last(answer::granted);
  for (const std::size_t other : {1U, 2U}) {
    servers[other]->answer_last(answer::not_free, some_token, 500);
  }
  EXPECT_EQ(answer::not_free, next().what);
  EXPECT_EQ(first, servers[0]->last().proposal);
  ASSERT_EQ(status::ok, ask(step::reacquire));
  EXPECT_LT(first, servers[0]->last().proposal);
  EXPECT_LT(some_token, servers[0]->last().proposal);
}

// A release of the round before, which still has the wrong clock's time, takes nothing (hazard
// 16).
TEST_F(coordinators, proposals_of_an_owner_never_fall_although_wrong_clocks_were_found_out) {
  for (const std::size_t wrong : {0U, 1U}) servers[wrong]->clock_us = 10 * some_token;
  ASSERT_EQ(status::ok, ask(step::try_take));
  servers[0]->answer_last(answer::not_free, some_token, 500);
  servers[1]->answer_last(answer::not_free, some_token, 500);
  EXPECT_EQ(answer::not_free, next().what);
  ASSERT_EQ(status::ok, ask(step::reacquire));
  const auto wrong = servers[1]->last().proposal;
  EXPECT_LE(10 * some_token, wrong);
  for (const std::size_t right : {1U, 2U}) {
    servers[right]->clock_us = some_token;
    servers[right]->answer_last(answer::not_free, some_token, 500);
  }
  EXPECT_EQ(answer::not_free, next().what);
  ASSERT_EQ(status::ok, ask(step::reacquire));
  EXPECT_LT(wrong, servers[1]->last().proposal);
  // Another has the right time.
  step_request other;
  other.what = step::try_take;
  other.token = "another owner";
  other.ttl_ms = long_ms;
  const auto by = std::make_unique<deployment::quorum_request>(*votes, *this,
                                                               deployment::named_key{"a lock", {}});
  ASSERT_EQ(status::ok,
            by->send(other, protocol::ballot(), protocol::ballot().keys("a lock"), nullptr));
  EXPECT_GT(2 * some_token, servers[1]->last().proposal);
}

// Its thread may end with the process right after it.
TEST_F(coordinators, only_who_does_not_wait_for_a_release_sends_it_by_itself) {
  some_call unlock;
  take();
  ASSERT_EQ(status::ok, ask(step::release_alone, long_ms, &unlock));
  for (auto* server : servers) EXPECT_EQ(nullptr, server->operation);
  for (auto* server : servers) server->answer_last(answer::released);
  ASSERT_EQ(answer::released, next().what);
  take();
  unlock.awaits_answer = false;
  ASSERT_EQ(status::ok, ask(step::release_alone, long_ms, &unlock));
  for (auto* server : servers) EXPECT_EQ(&unlock, server->operation);
}

TEST_F(coordinators, a_proposal_that_was_outrun_is_made_again_higher) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  const auto highest = servers[0]->last().proposal + 1'000'000'000;
  for (const std::size_t one : {0U, 1U}) servers[one]->answer_last(answer::not_free, highest, -2);
  EXPECT_FALSE(has_more());
  for (auto* server : servers) {
    ASSERT_EQ(2U, server->count());
    EXPECT_LT(highest, server->last().proposal);
  }
  for (const std::size_t one : {0U, 1U}) servers[one]->answer_last(answer::granted);
  EXPECT_EQ(answer::granted, next().what);
}

// The release is behind this round, and would be before another (hazard 16).
TEST_F(coordinators, who_has_given_up_does_not_ask_again_when_outrun) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  const auto highest = servers[0]->last().proposal + 1;
  const auto give_up = std::make_unique<deployment::quorum_request>(
      *votes, *this, deployment::named_key{"a lock", {}});
  step_request cancel;
  cancel.what = step::cancel;
  cancel.token = "owner";
  ASSERT_EQ(status::ok,
            give_up->send(cancel, protocol::ballot(), protocol::ballot().keys("a lock"), nullptr));
  for (auto* server : servers) server->answer_at(0, answer::not_free, highest, -2);
  for (auto* server : servers) ASSERT_LE(step::release_alone, server->last().what);
  EXPECT_EQ(answer::not_free, next().what);
}

TEST_F(coordinators, shared_votes_are_reported) {
  ASSERT_EQ(status::ok, ask(step::reacquire));
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::not_free, some_token, 500);
  servers[2]->answer_last(answer::not_free, some_token + 1, 500);
  const auto record = next();
  EXPECT_EQ(answer::not_free, record.what);
  EXPECT_TRUE(record.is_split);
}

TEST_F(coordinators, shared_votes_of_the_remaining_servers_are_reported) {
  servers[1]->is_unreachable = true;
  ASSERT_EQ(status::ok, ask(step::reacquire));
  servers[0]->answer_last(answer::granted);
  servers[2]->answer_last(answer::not_free, some_token, 500);
  EXPECT_TRUE(next().is_split);
}

// After a lost round the client publishes nothing when it gives back a vote. Other waiters would
// wait for the end of a lease without a holder.
TEST_F(coordinators, those_who_share_the_votes_of_the_same_number_ask_again) {
  ASSERT_EQ(status::ok, ask(step::reacquire));
  const auto proposal = servers[0]->last().proposal;
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::not_free, proposal, long_ms);
  servers[2]->answer_last(answer::not_free, proposal, long_ms);
  EXPECT_TRUE(next().is_split);
}

TEST_F(coordinators, one_that_has_it_is_waited_for) {
  ASSERT_EQ(status::ok, ask(step::reacquire));
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::not_free, some_token, 400);
  servers[2]->answer_last(answer::not_free, some_token, 500);
  const auto record = next();
  EXPECT_FALSE(record.is_split);
  EXPECT_LT(ns_per_s, record.look_in_ns) << "no word of a release can be missed for longer";
  EXPECT_GE(2 * ns_per_s, record.look_in_ns);
  EXPECT_EQ(400, record.ttl_ms);
}

// ---- readers and writers --------------------------------------------------------------------

TEST_F(coordinators, a_reader_whose_servers_are_gone_before_the_second_question_is_not_granted) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  const auto highest = servers[0]->last().proposal + 1'000'000'000;
  servers[0]->answer_last(answer::granted, highest);
  servers[0]->is_unreachable = servers[2]->is_unreachable = true;
  servers[1]->answer_last(answer::granted, highest);
  EXPECT_EQ(answer::unsent, next().what);
}

// No proposal outdoes a server whose clock is wrong, so its votes for readers do not count.
TEST_F(coordinators, the_vote_for_a_reader_of_a_server_with_a_wrong_clock_does_not_count) {
  for (auto* server : servers) server->clock_us = some_token;
  take();
  ASSERT_EQ(status::ok, ask(step::reacquire));
  servers[0]->answer_last(answer::granted, 2 * some_token);
  servers[1]->answer_last(answer::granted, servers[1]->last().proposal);
  EXPECT_FALSE(has_more());
  servers[2]->answer_last(answer::granted, servers[2]->last().proposal);
  EXPECT_EQ(answer::granted, next().what);
}

// Before the clocks are known: a client that believes a wrong clock is not granted.
TEST_F(coordinators, a_reader_that_cannot_be_above_a_wrong_clock_is_not_granted) {
  servers[0]->clock_us = 2 * some_token;
  servers[1]->clock_us = some_token;
  ASSERT_EQ(status::ok, ask(step::try_take));
  servers[0]->answer_last(answer::granted, 2 * some_token);
  EXPECT_FALSE(has_more());
  servers[1]->answer_last(answer::granted, some_token);
  EXPECT_EQ(answer::unsent, next().what);
  for (const std::size_t voter : {0U, 1U}) {
    EXPECT_EQ(step::release_alone, servers[voter]->last().what);
  }
}

// Readers are held back for as long as it asks.
TEST_F(coordinators, a_writer_that_waits_says_so_and_asks_again_soon) {
  for (const auto permits : {lock::exclusive_permits, std::int64_t{1}}) {
    step_request request;
    request.what = step::reacquire;
    request.token = "owner";
    request.ttl_ms = long_ms;
    request.permits = permits;
    ASSERT_EQ(status::ok, asker->send(request, protocol::ballot_rw(),
                                      protocol::ballot_rw().keys("a lock"), nullptr));
    for (auto* server : servers) EXPECT_EQ(step::acquire, server->last().what);
    for (auto* server : servers) server->answer_last(answer::not_free, some_token, 500);
    const auto is_writer = permits == lock::exclusive_permits;
    const auto record = next();
    EXPECT_EQ(is_writer, record.look_in_ns <= ns_per_s);
    EXPECT_EQ(is_writer, record.is_noted);
  }
}

// ---- renewals -------------------------------------------------------------------------------

// From the start, and not only from the first renewal on: until then one more fault would end the
// hold.
TEST_F(coordinators, a_server_that_was_free_for_a_higher_token_only_is_topped_up_after_the_grant) {
  for (const bool is_late : {false, true}) {
    ASSERT_EQ(status::ok, ask(step::try_take));
    const auto outrun = [&] { servers[1]->answer_last(answer::not_free, some_token, -2); };
    servers[0]->answer_last(answer::granted);
    if (!is_late) outrun();
    servers[2]->answer_last(answer::granted);
    EXPECT_EQ(answer::granted, next().what);
    if (is_late) outrun();
    EXPECT_EQ(step::reacquire, servers[1]->last().what);
    EXPECT_LT(some_token, servers[1]->last().proposal);
    servers[1]->answer_last(answer::granted);
    ASSERT_EQ(status::ok, ask(step::release));
    for (auto* server : servers) server->answer_last(answer::released);
    ASSERT_EQ(answer::released, next().what);
  }
}

TEST_F(coordinators, who_has_no_vote_any_more_is_topped_up_for_the_rest_of_the_lease) {
  take();
  ASSERT_EQ(status::ok, ask(step::renew));
  servers[0]->answer_last(answer::not_owner);
  servers[1]->answer_last(answer::renewed);
  servers[2]->answer_last(answer::renewed);
  EXPECT_EQ(answer::renewed, next().what);
  ASSERT_EQ(3U, servers[0]->count());
  const auto top_up = servers[0]->last();
  EXPECT_EQ(step::reacquire, top_up.what);
  EXPECT_GT(long_ms, top_up.ttl_ms);
  EXPECT_LT(servers[1]->last().proposal, top_up.proposal) << "above all that it may have forgotten";
  // Given back with the rest.
  servers[0]->answer_last(answer::granted);
  ASSERT_EQ(status::ok, ask(step::release));
  for (auto* server : servers) {
    EXPECT_EQ(step::release, server->last().what);
    EXPECT_EQ(top_up.proposal, server->last().proposal) << "takes every vote";
  }
}

// The next renewal has a quorum without the silent server.
TEST_F(coordinators, a_lost_vote_is_requested_again_while_another_server_is_silent) {
  take();
  ASSERT_EQ(status::ok, ask(step::renew));
  servers[1]->answer_last(answer::renewed);
  servers[0]->answer_last(answer::not_owner);
  EXPECT_EQ(answer::broken, next().what);
  ASSERT_TRUE(becomes([&] { return servers[0]->count() == 3 && retries_due > 0; }));
  EXPECT_EQ(step::reacquire, servers[0]->last().what);
  servers[0]->answer_last(answer::granted);
  EXPECT_FALSE(has_more()) << "it does not count for this renewal (hazard 17)";
  ASSERT_EQ(status::ok, ask(step::renew));
  for (const std::size_t living : {0U, 1U}) servers[living]->answer_last(answer::renewed);
  EXPECT_EQ(answer::renewed, next().what);
}

// It would outlive the votes that it joins by the delay of the first reply (hazard 17).
TEST_F(coordinators, a_top_up_that_is_sent_again_is_for_the_rest_of_the_lease_that_is_left_then) {
  take();
  for (const auto late_ns : {ns_per_s, to_ns(long_ms)}) {
    ASSERT_EQ(status::ok, ask(step::renew));
    servers[0]->answer_last(answer::not_owner);
    for (const std::size_t known : {1U, 2U}) servers[known]->answer_last(answer::renewed);
    EXPECT_EQ(answer::renewed, next().what);
    const auto first = servers[0]->last();
    ASSERT_EQ(step::reacquire, first.what);
    servers[0]->late_ns = late_ns;
    const auto before = servers[0]->count();
    servers[0]->answer_last(answer::no_script);
    const bool is_left = late_ns < to_ns(long_ms);
    ASSERT_EQ(before + (is_left ? 1 : 0), servers[0]->count());
    if (!is_left) break;
    EXPECT_TRUE(servers[0]->last().with_text);
    EXPECT_GE(first.ttl_ms - late_ns / ns_per_ms, servers[0]->last().ttl_ms);
    servers[0]->answer_last(answer::granted);
    servers[0]->late_ns = 0;
  }
}

// The server has executed the later one with the script of another client. An earlier end of the
// vote would be before the end of the hold (hazard 17).
TEST_F(coordinators, a_renewal_that_is_sent_again_asks_for_no_less_than_a_later_one) {
  take();
  ASSERT_EQ(status::ok, ask(step::renew, long_ms / 2));
  const auto first = servers[0]->count() - 1;
  const auto by = std::make_unique<deployment::quorum_request>(*votes, *this,
                                                               deployment::named_key{"a lock", {}});
  step_request longer;
  longer.what = step::renew;
  longer.token = "owner";
  longer.ttl_ms = 2 * long_ms;
  ASSERT_EQ(status::ok,
            by->send(longer, protocol::ballot(), protocol::ballot().keys("a lock"), nullptr));
  servers[0]->answer_last(answer::renewed);
  servers[0]->answer_at(first, answer::no_script);
  EXPECT_TRUE(servers[0]->last().with_text);
  EXPECT_LT(2 * long_ms - ns_per_s / ns_per_ms, servers[0]->last().ttl_ms);
}

// ---- servers that refuse ------------------------------------------------------------------------

// At most so often as tries of a renewal double, and not every 50 ms.
TEST_F(coordinators, a_renewal_that_fails_again_and_again_is_asked_less_and_less) {
  take();
  const auto end = boot_now() + ns_per_s;
  int count = 0;
  while (boot_now() < end) {
    const int before = retries_due;
    ASSERT_EQ(status::ok, ask(step::renew));
    for (auto* server : servers) server->answer_last(answer::refused);
    ASSERT_EQ(answer::unsent, next().what);
    ++count;
    while (retries_due == before && boot_now() < end) std::this_thread::yield();
  }
  EXPECT_GE(8, count);
}

TEST_F(coordinators, the_rest_of_a_quarantine_is_waited_for) {
  constexpr std::int64_t rest_ms = 300;
  const auto begin = boot_now();
  for (auto* server : servers) {
    server->is_refusal_retryable = true;
    server->refuses_for_ms = rest_ms;
  }
  ASSERT_EQ(status::ok, ask(step::reacquire));
  for (const std::size_t new_one : {0U, 1U}) servers[new_one]->answer_last(answer::refused);
  EXPECT_EQ(answer::unsent, next().what);
  ASSERT_TRUE(becomes([&] { return retries_due > 0; }));
  EXPECT_LE(to_ns(rest_ms), boot_now() - begin);
}

}  // namespace
}  // namespace mortise::testing::redlock_coordinator_test
