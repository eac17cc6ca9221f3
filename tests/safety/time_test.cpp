// Hazards of time and pauses: a holder that sleeps, clocks that jump, a server that is slow.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "support/child.hpp"
#include "support/clock_shim.hpp"
#include "support/fenced_store.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"
#include "support/settable_clock.hpp"

namespace mortise::testing::time_test {
namespace {

TEST(safety, hazard_01_paused_holder_gets_lost_and_is_fenced_off) {
  test_server server;
  const auto url = server.url() + "?lease=500ms";
  child paused([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "pause");
    const auto got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    test.send(got == MORTISE_OK ? std::to_string(mortise_lock_token(lock.get()))
                                : status_name(got));
    test.receive();
    test.send(std::to_string(mortise_lock_is_held(lock.get())));
    test.send(status_name(mortise_lock_unlock(lock.get(), nullptr)));
    test.send(std::to_string(mortise_lock_token(lock.get())));
    test.receive();
  });
  const auto old_token = std::stoll(paused.receive());
  fenced_store store;
  EXPECT_TRUE(store.write(old_token));
  paused.pause();

  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "pause");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_TRUE(store.write(mortise_lock_token(lock.get())));
  EXPECT_GT(mortise_lock_token(lock.get()), old_token);

  paused.resume();
  paused.send("look");
  EXPECT_EQ("0", paused.receive());
  EXPECT_EQ(status_name(MORTISE_LOST), paused.receive());
  EXPECT_EQ(std::to_string(old_token), paused.receive());
  EXPECT_FALSE(store.write(old_token));
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

// The grant comes by message while the waiter sleeps. If the lease counted from the receipt, the
// waiter would hold the lock although the server has long granted it to the next.
TEST(safety, hazard_01_waiter_paused_when_it_is_granted_does_not_hold) {
  test_server server;
  const auto url = server.url() + "?lease=2s";
  child sleeper([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "grant");
    test.receive();
    const auto got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    test.send(status_name(got) + " " + std::to_string(mortise_lock_is_held(lock.get())));
  });
  const auto client = open_client(server.url());
  const auto holder = open_lock(client, "grant");
  const auto next = open_lock(client, "grant");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  sleeper.send("wait");
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("grant")}) == "1"; }));
  sleeper.pause();
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_NE("(nil)", server.command({"GET", lock_key("grant")}));  // it is the sleeper's
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr));
  sleeper.resume();
  // It is silent while another client holds.
  EXPECT_TRUE(
      always([&] { return mortise_lock_is_held(next.get()) == 1 && !sleeper.has_line(); }, 800));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(next.get(), nullptr));
  EXPECT_EQ(status_name(MORTISE_OK) + " 1", sleeper.receive());
}

// Runs in a child because its clocks are never right again.
std::string held_after_shift(const std::string& url, clockid_t clock, time_ns by_ns) {
  child shifted([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "clock");
    if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK) return;
    const auto before = mortise_lock_valid_ms(lock.get());
    shift_clock(clock, by_ns);
    const auto after = mortise_lock_valid_ms(lock.get());
    const bool is_held = mortise_lock_is_held(lock.get()) == 1;
    test.send(std::string(is_held ? "held " : "not held ") +
              (after > 0 && before - after < 5 * second_ms ? "valid " : "invalid ") +
              status_name(mortise_lock_unlock(lock.get(), nullptr)));
    test.receive();  // closing a client with such a clock could take as long as the jump
  });
  return shifted.receive();
}

TEST(safety, hazard_02_suspend_ends_the_hold) {
  test_server server;
  const auto url = server.url() + "?lease=10s";
  EXPECT_EQ("not held invalid " + status_name(MORTISE_LOST),
            held_after_shift(url, CLOCK_BOOTTIME, 11 * ns_per_s));
  // A clock that stands still during suspend is not the one that is read.
  server.command({"FLUSHALL"});
  EXPECT_EQ("held valid " + status_name(MORTISE_OK),
            held_after_shift(url, CLOCK_MONOTONIC, 3600 * ns_per_s));
}

TEST(safety, hazard_03_wall_clock_steps_change_nothing) {
  test_server server;
  const auto url = server.url() + "?lease=10s";
  for (const auto hours : {-1, 1, 24 * 365}) {
    EXPECT_EQ("held valid " + status_name(MORTISE_OK),
              held_after_shift(url, CLOCK_REALTIME, hours * 3600 * ns_per_s));
  }
  // Nor do waits: they end when they should.
  child waiter([&](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "waits");
    test.receive();
    std::thread stepper([] { shift_clock(CLOCK_REALTIME, -3600 * ns_per_s); });
    const auto begin = boot_now();
    const auto got = mortise_lock_acquire(lock.get(), second_ms, nullptr);
    stepper.join();
    test.send(status_name(got) + (ms_since(begin) < 10 * second_ms ? " in time" : " late"));
    test.receive();
  });
  const auto client = open_client(url);
  const auto holder = open_lock(client, "waits");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  waiter.send("wait");
  EXPECT_EQ(status_name(MORTISE_TIMED_OUT) + " in time", waiter.receive());
}

// ---- the server's clock ----------------------------------------------------------------------

constexpr std::int64_t hour_s = 3'600;

// The lease ends at once, so two clients may hold until the first renews. The token distinguishes
// them (hazard 4).
TEST(safety, hazard_04_a_server_that_steps_ahead_lets_two_hold_whom_tokens_tell_apart) {
  test_server server({.arguments = {settable_clock}});
  const auto client = open_client(server.url() + "?lease=10s&renewal=off");
  const auto rival = open_client(server.url() + "?lease=10s&renewal=off");
  const auto lock = open_lock(client, "step");
  const auto other = open_lock(rival, "step");
  fenced_store store;
  for (const auto ahead_s : {hour_s, 3 * hour_s}) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    const auto old_token = mortise_lock_token(lock.get());
    EXPECT_TRUE(store.write(old_token));
    ASSERT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(other.get(), nullptr));
    server.set_clock(ahead_s);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(other.get(), patience_ms, nullptr));
    EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
    EXPECT_TRUE(store.write(mortise_lock_token(other.get())));
    EXPECT_FALSE(store.write(old_token));
    EXPECT_EQ(MORTISE_LOST, mortise_lock_extend(lock.get(), 0, nullptr));
    EXPECT_EQ(1, mortise_lock_is_held(other.get()));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(other.get(), nullptr));
  }
}

// An earlier lease ends with the hold, by renewal or unlock. The lease of a dead holder ends when
// the clock is right again. Tokens always rise (hazards 4, 30).
TEST(safety, hazard_04_a_server_that_steps_back_keeps_a_dead_holders_lease_until_it_is_right) {
  test_server server({.arguments = {settable_clock}});
  const auto url = server.url() + "?lease=2s";
  child dying([&](child_end& test) {
    test.receive();
    const auto client = open_client(url);
    const auto lock = open_lock(client, "step");
    const auto got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    test.send(got == MORTISE_OK ? std::to_string(mortise_lock_token(lock.get()))
                                : status_name(got));
    test.receive();
  });
  const auto client = open_client(url);
  const auto rival = open_client(url);
  const auto lock = open_lock(client, "step");
  const auto other = open_lock(rival, "step");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto first = mortise_lock_token(lock.get());
  server.set_clock(-3 * hour_s);
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 3 * second_ms));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(other.get(), patience_ms, nullptr));
  const auto second = mortise_lock_token(other.get());
  EXPECT_LT(first, second);
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(other.get(), nullptr));
  dying.send("acquire");
  const auto third = std::stoll(dying.receive());
  EXPECT_LT(second, third);
  server.set_clock(-6 * hour_s);
  dying.kill();
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(lock.get(), 4 * second_ms, nullptr));
  // The place is released by then. Otherwise a script during which the clock steps would mix two
  // clocks in the rest of the lease.
  ASSERT_TRUE(eventually([&] { return server.command({"EXISTS", queue_key("step")}) == "0"; }));
  server.set_clock(0);
  const auto error = new_error();
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
      << mortise_error_message(error.get())
      << "; of the lock are left: " << server.command({"PTTL", lock_key("step")});
  EXPECT_LT(third, mortise_lock_token(lock.get()));
}

// ---- a server that is slow -------------------------------------------------------------------

// What the handle believes is never more than what the server grants.
void check_against_server(test_server& server, mortise_lock* lock, std::string_view name) {
  const auto look = boot_now();
  const auto valid = mortise_lock_valid_ms(lock);
  const auto at_server = std::stoll(server.command({"PTTL", lock_key(name)}));
  EXPECT_GE(at_server + ms_since(look) + 1, valid);
}

// The server executes the acquire in time, and its reply arrives after the end of the lease.
TEST(safety, hazard_06_late_grant_is_not_a_hold) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=2s&command_timeout=20s");
  const auto lock = open_lock(client, "late");
  std::atomic<bool> is_delayed{false};
  between.set_rule([&](const fake_command& command) {
    return command.is("EXEC") && !is_delayed.exchange(true) ? fault::delay(3000) : fault::none();
  });
  const auto begin = boot_now();
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_GE(ms_since(begin), 2100);  // so it is not because of that reply
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  check_against_server(server, lock.get(), "late");
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ("0", server.command({"EXISTS", lock_key("late")}));
}

TEST(safety, hazard_06_late_execution_is_not_counted_on) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=2s&command_timeout=20s");
  const auto lock = open_lock(client, "slow");
  std::atomic<int> tries{0};
  between.set_rule([&](const fake_command& command) {
    if (command.is("EXEC")) ++tries;
    return fault::none();
  });
  server.command({"CLIENT", "PAUSE", "3000", "ALL"});
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  // The first took the lock longer than a lease after it was sent: the hold is by a later one.
  EXPECT_GE(tries.load(), 2);
  check_against_server(server, lock.get(), "slow");
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ("0", server.command({"EXISTS", lock_key("slow")}));
}

TEST(safety, hazard_06_hold_ends_in_time_when_the_server_is_slow) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=400ms");
  const auto queue = open_queue(client);
  const auto lock = open_lock(client, "slow");
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto token = mortise_lock_token(lock.get());
  server.command({"CLIENT", "PAUSE", "1500", "ALL"});
  const auto lost = next_loss(queue);
  EXPECT_EQ(MORTISE_EVENT_LOST, lost.kind);
  EXPECT_EQ(token, lost.token);
  // The late replies to its renewals do not bring it back.
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, 1800));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
}

}  // namespace
}  // namespace mortise::testing::time_test
