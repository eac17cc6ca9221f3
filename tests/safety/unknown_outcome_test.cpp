// Hazards of unknown outcomes: lost replies, ghost commands, connections that break at a bad
// moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::unknown_outcome_test {
namespace {

bool runs(const fake_command& command, const redis::script& script) {
  return command.words.size() > 1 && (command.is("EVALSHA") || command.is("EVAL")) &&
         (command.words[1] == script.sha1 || command.words[1] == script.text);
}

// Does this to the first command that fits, and nothing to all others.
template <class Fits>
proxy::rule once(fault what, Fits fits) {
  auto is_done = std::make_shared<std::atomic<bool>>(false);
  return [=](const fake_command& command) {
    return fits(command) && !is_done->exchange(true) ? what : fault::none();
  };
}

bool is_try(const fake_command& command) { return command.is("EXEC"); }
bool is_release(const fake_command& command) { return runs(command, scripts::queued_release); }
bool is_renewal(const fake_command& command) { return runs(command, scripts::queued_renew); }
bool is_wait(const fake_command& command) { return runs(command, scripts::queued_acquire); }

TEST(safety, hazard_15_acquire_whose_reply_is_lost_finds_its_own_lock) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=30s");
  for (const auto& harm : {fault::cut_after(), fault::cut_before()}) {
    const auto lock = open_lock(client, "reply");
    between.set_rule(once(harm, is_try));
    const auto begin = boot_now();
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    EXPECT_LT(ms_since(begin), 10 * second_ms);  // not a lease
    EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("reply")}));
  }
}

TEST(safety, hazard_15_try_whose_reply_never_comes_is_unknown_and_given_back) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=30s&command_timeout=1s");
  const auto error = new_error();
  for (int round = 0; round < 3; ++round) {
    const auto lock = open_lock(client, "reply");
    between.set_rule(once(fault::swallow(), is_try));
    const auto got = mortise_lock_try(lock.get(), error.get());
    ASSERT_EQ(MORTISE_UNKNOWN, got) << mortise_error_message(error.get());
    EXPECT_EQ(1, mortise_error_is_ambiguous(error.get()));
    EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
    EXPECT_TRUE(eventually(
        [&] {
          return server.command({"EXISTS", lock_key("reply")}) == "0";
        },
        10 * second_ms));
    // The lock is not only free: the next client acquires it.
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
}

// Of many calls to a server that hangs the first are sent, and fill the kernel's buffers. Their
// outcome is unknown. The last are never sent, and the client knows that.
TEST(safety, hazard_15_what_was_never_sent_is_unreachable_not_unknown) {
  constexpr int crowd = 600;
  test_server server;
  const auto client = open_client_patiently(server.url() + "?command_timeout=300ms");
  const auto queue = open_queue(client);
  std::vector<lock_handle> locks;
  std::vector<mortise_status> statuses(crowd);
  for (int i = 0; i < crowd; ++i) {
    locks.push_back(open_lock(client, std::string(1000, 'x') + std::to_string(i)));
  }
  server.pause();
  for (int i = 0; i < crowd; ++i) {
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(locks[i].get(), queue.get(), i, second_ms, nullptr));
  }
  for (int i = 0; i < crowd; ++i) {
    const auto ended = next_event(queue);
    ASSERT_EQ(MORTISE_EVENT_ACQUIRED, ended.kind);
    statuses[ended.tag] = ended.status;
  }
  EXPECT_EQ(MORTISE_UNKNOWN, statuses.front());
  EXPECT_EQ(MORTISE_UNREACHABLE, statuses.back());
  // One after the other: what comes behind the first that was not sent was not sent either.
  EXPECT_TRUE(std::is_sorted(statuses.begin(), statuses.end(), [](auto left, auto right) {
    return left == MORTISE_UNKNOWN && right == MORTISE_UNREACHABLE;
  }));
  server.resume();
}

TEST(safety, hazard_15_wait_whose_reply_is_lost_keeps_its_place) {
  test_server server;
  proxy between(server.socket_path());
  const auto waiting_client = open_client(between.url());
  const auto client = open_client(server.url());
  const auto queue = open_queue(waiting_client);
  for (const auto& harm : {fault::cut_after(), fault::cut_before()}) {
    const auto holder = open_lock(client, "place");
    const auto waiter = open_lock(waiting_client, "place");
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
    between.set_rule(once(harm, is_wait));
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
    ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("place")}) != "0"; }));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
    const auto begin = boot_now();
    EXPECT_EQ(MORTISE_OK, next_event(queue).status);
    EXPECT_LT(ms_since(begin), 10 * second_ms);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("place"), queue_key("place")}));
  }
}

TEST(safety, hazard_16_ghost_of_an_abandoned_acquire_does_not_stay) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=60s&command_timeout=1s");
  for (int round = 0; round < 3; ++round) {
    const auto lock = open_lock(client, "ghost");
    server.pause();
    // It was sent, so the outcome is unknown.
    EXPECT_EQ(MORTISE_UNKNOWN, mortise_lock_acquire(lock.get(), 1500, nullptr));
    EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
    server.resume();
    // The command that was sent before is carried out now or never, and what it took is given back.
    const auto next = open_lock(client, "ghost");
    const auto begin = boot_now();
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr));
    EXPECT_LT(ms_since(begin), 15 * second_ms);
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(next.get(), nullptr));
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("ghost")}) == "0"; }));
  }
}

TEST(safety, hazard_16_ghost_of_an_abandoned_release_does_not_end_the_next_hold) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=60s&command_timeout=1s");
  const auto lock = open_lock(client, "ghost");
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    server.pause();
    EXPECT_EQ(MORTISE_UNKNOWN, mortise_lock_unlock(lock.get(), nullptr));
    server.resume();
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    EXPECT_TRUE(always(
        [&] {
          return mortise_lock_is_held(lock.get()) == 1 &&
                 server.command({"EXISTS", lock_key("ghost")}) == "1";
        },
        300));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
}

TEST(safety, hazard_16_release_whose_reply_is_lost_ends_once) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=60s");
  for (const auto& harm : {fault::cut_after(), fault::cut_before()}) {
    const auto lock = open_lock(client, "once");
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    between.set_rule(once(harm, is_release));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    EXPECT_EQ(MORTISE_NOT_OWNER, mortise_lock_unlock(lock.get(), nullptr));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("once")}));
  }
}

TEST(safety, hazard_18_renewal_survives_the_loss_of_each_first_try) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=3s");
  const auto queue = open_queue(client);
  const auto lock = open_lock(client, "renewal");
  std::atomic<int> cuts{0};
  time_ns last_cut = 0;
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  // The tries after a cut succeed, however late their replies come on a busy machine. The next
  // renewal is due 900 ms after one of them at the earliest.
  between.set_rule([&](const fake_command& command) {
    if (!is_renewal(command) || boot_now() - last_cut < 800 * ns_per_ms) return fault::none();
    last_cut = boot_now();
    ++cuts;
    return fault::cut_before();
  });
  EXPECT_TRUE(eventually([&] { return cuts >= 3 || mortise_lock_is_held(lock.get()) != 1; }));
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 3 * second_ms));
  EXPECT_GE(cuts, 3);
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
  between.set_rule({});
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

TEST(safety, hazard_18_renewal_survives_refusals_of_each_first_try) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=3s");
  const auto lock = open_lock(client, "renewal");
  std::atomic<int> renewals{0};
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  between.set_rule([&](const fake_command& command) {
    if (!is_renewal(command) || renewals++ % 3 == 2) return fault::none();
    return renewals % 2 == 0 ? fault::answer("-LOADING not yet\r\n")
                             : fault::answer("-ERR something odd\r\n");
  });
  EXPECT_TRUE(eventually([&] { return renewals >= 6 || mortise_lock_is_held(lock.get()) != 1; }));
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 3 * second_ms));
  EXPECT_GE(renewals, 6);
  between.set_rule({});
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

}  // namespace
}  // namespace mortise::testing::unknown_outcome_test
