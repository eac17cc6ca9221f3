// The release of a quorum's votes: at once or later, and at which servers.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "unit/coordinator_fixture.hpp"

namespace mortise::testing::redlock_releases_test {
namespace {

using lock::answer;
using lock::step;
using lock::step_request;
using lock::step_result;

// No other request would take back a vote that follows the release (hazard 16).
TEST_F(coordinators, what_needs_its_script_anew_is_not_asked_behind_the_release) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  for (const std::size_t fast : {0U, 1U}) servers[fast]->answer_last(answer::granted);
  EXPECT_EQ(answer::granted, next().what);
  ASSERT_EQ(status::ok, ask(step::release));
  servers[2]->answer_at(0, answer::no_script);
  EXPECT_EQ(2U, servers[2]->count());
  EXPECT_EQ(step::release, servers[2]->last().what);
}

TEST_F(coordinators, a_top_up_that_needs_its_script_anew_is_not_asked_behind_the_release) {
  take();
  ASSERT_EQ(status::ok, ask(step::renew));
  servers[0]->answer_last(answer::not_owner);
  for (const std::size_t known : {1U, 2U}) servers[known]->answer_last(answer::renewed);
  EXPECT_EQ(answer::renewed, next().what);
  ASSERT_EQ(step::reacquire, servers[0]->last().what);
  const auto place = servers[0]->count() - 1;
  ASSERT_EQ(status::ok, ask(step::release));
  servers[0]->answer_at(place, answer::no_script);
  EXPECT_EQ(step::release, servers[0]->last().what);
}

TEST_F(coordinators, a_server_that_was_unreachable_gets_the_release_when_it_is_back) {
  take();
  servers[1]->is_unreachable = true;
  ASSERT_EQ(status::ok, ask(step::release));
  for (const std::size_t there : {0U, 2U}) servers[there]->answer_last(answer::released);
  EXPECT_EQ(answer::released, next().what);
  servers[1]->is_unreachable = false;
  votes->on_server_up(1, boot_now());
  EXPECT_EQ(step::release, servers[1]->last().what) << "which tells those who wait there";
}

// No other request would take back a vote that follows the release (hazard 16).
TEST_F(coordinators, a_release_that_there_was_no_memory_to_send_is_sent_later) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  for (const std::size_t fast : {0U, 1U}) servers[fast]->answer_last(answer::granted);
  EXPECT_EQ(answer::granted, next().what);
  servers[2]->lacks_memory = true;
  ASSERT_EQ(status::ok, ask(step::release));
  for (const std::size_t server : {0U, 1U}) servers[server]->answer_last(answer::released);
  EXPECT_EQ(answer::released, next().what);
  servers[2]->answer_last(answer::granted);
  servers[2]->lacks_memory = false;
  ASSERT_TRUE(becomes([&] { return servers[2]->count() >= 2; }));
  EXPECT_EQ(step::release, servers[2]->last().what);
}

// A minority that hangs costs neither time nor memory that grows with use.
TEST_F(coordinators, a_server_that_does_not_answer_is_soon_asked_no_more) {
  constexpr std::size_t pairs = 1000;
  for (std::size_t i = 0; i < pairs; ++i) take_and_release(std::to_string(i));
  const auto count = servers[2]->count();
  EXPECT_LT(10U, count);
  EXPECT_GT(pairs / 2, count);
  EXPECT_EQ(2 * pairs, servers[0]->count());
  // Its replies make room again.
  servers[2]->answer_all(answer::not_owner);
  take_and_release("another");
  EXPECT_EQ(count + 2, servers[2]->count());
}

TEST_F(coordinators, a_server_that_was_not_asked_is_owed_nothing) {
  servers[2]->is_unreachable = true;
  for (int i = 0; i < 100; ++i) take_and_release(std::to_string(i));
  servers[2]->is_unreachable = false;
  votes->on_server_up(2, boot_now());
  EXPECT_EQ(0U, servers[2]->count());
  ASSERT_EQ(status::ok, ask(step::try_take));
  EXPECT_EQ(1U, servers[2]->count()) << "a request that was not sent is not unanswered";
}

// A take of the server's that was refused leaves nothing there.
TEST_F(coordinators, a_server_that_has_refused_is_owed_nothing) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  servers[0]->answer_last(answer::granted);
  servers[2]->answer_last(answer::refused);
  servers[1]->answer_last(answer::granted);
  EXPECT_EQ(answer::granted, next().what);
  servers[2]->is_unreachable = true;
  release("owner");
  servers[2]->is_unreachable = false;
  votes->on_server_up(2, boot_now());
  EXPECT_EQ(1U, servers[2]->count());
}

// Also those that there was no room for at first (hazard 16).
TEST_F(coordinators, what_is_owed_is_brought_in_batches_until_nothing_is) {
  constexpr std::size_t owners = 300;
  for (std::size_t i = 0; i < owners; ++i) {
    ASSERT_EQ(status::ok, ask_for(std::to_string(i), step::try_take));
    for (auto* server : servers) server->answer_last(answer::granted);
    ASSERT_EQ(answer::granted, next().what);
  }
  servers[2]->is_unreachable = true;
  for (std::size_t i = 0; i < owners; ++i) release(std::to_string(i));
  servers[2]->is_unreachable = false;
  servers[2]->lacks_room = true;
  votes->on_server_up(2, boot_now());
  EXPECT_EQ(owners, servers[2]->count());
  servers[2]->lacks_room = false;
  ASSERT_TRUE(becomes([&] { return servers[2]->count() != owners; }));
  std::set<std::string> names;
  for (std::size_t place = owners; names.size() < owners; ++place) {
    ASSERT_TRUE(becomes([&] { return servers[2]->count() > place; }));
    EXPECT_GE(owners + 2 * quorum::delivery::batch, servers[2]->count() - (place - owners));
    EXPECT_EQ(step::release, servers[2]->at(place).what);
    EXPECT_TRUE(names.insert(servers[2]->token_at(place)).second) << "each once";
    servers[2]->answer_at(place, answer::released);
  }
  EXPECT_EQ(2 * owners, servers[2]->count());
}

// A server without enough replicas refuses writes for a while; one without a right for good.
TEST_F(coordinators, a_release_is_sent_again_unless_its_refusal_is_final) {
  for (const bool is_final : {false, true}) {
    take();
    servers[2]->is_refusal_retryable = !is_final;
    ASSERT_EQ(status::ok, ask(step::release));
    const auto count = servers[2]->count();
    servers[2]->answer_last(answer::refused);
    for (const std::size_t there : {0U, 1U}) servers[there]->answer_last(answer::released);
    EXPECT_EQ(answer::released, next().what);
    if (is_final) {
      votes->on_server_up(2, boot_now());
      EXPECT_EQ(count, servers[2]->count());
      break;
    }
    ASSERT_TRUE(becomes([&] { return servers[2]->count() != count; }));
    EXPECT_EQ(step::release, servers[2]->last().what);
    servers[2]->answer_last(answer::released);
  }
}

TEST_F(coordinators, who_never_had_our_vote_does_not_keep_a_release_waiting) {
  ASSERT_EQ(status::ok, ask(step::try_take));
  servers[0]->answer_last(answer::granted);
  servers[1]->answer_last(answer::granted);
  servers[2]->answer_last(answer::not_free, some_token, 500);
  EXPECT_EQ(answer::granted, next().what);
  ASSERT_EQ(status::ok, ask(step::release));
  servers[2]->answer_last(answer::not_owner);
  EXPECT_FALSE(has_more());
  servers[0]->answer_last(answer::released);
  EXPECT_EQ(answer::released, next().what);
}

TEST_F(coordinators, a_hold_that_a_quorum_did_not_know_was_not_released) {
  take();
  ASSERT_EQ(status::ok, ask(step::release));
  servers[0]->answer_last(answer::not_owner);
  servers[1]->answer_last(answer::released);
  EXPECT_FALSE(has_more());
  servers[2]->answer_last(answer::not_owner);
  EXPECT_EQ(answer::not_owner, next().what);
}

TEST_F(coordinators, with_too_few_servers_nothing_is_asked_and_what_was_is_given_back) {
  servers[0]->is_unreachable = servers[2]->is_unreachable = true;
  EXPECT_EQ(status::unreachable, ask(step::try_take));
  ASSERT_EQ(2U, servers[1]->count());
  EXPECT_EQ(step::release_alone, servers[1]->last().what);
  ASSERT_TRUE(becomes([&] { return retries_due > 0; }));
}

}  // namespace
}  // namespace mortise::testing::redlock_releases_test
