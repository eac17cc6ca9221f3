// Faults that a quorum of servers bears, and faults that it cannot bear and reports: clocks,
// partitions, servers that restart with their data, and lists that are wrong in one place.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/redlock/quorum_fixture.hpp"
#include "support/changing_name.hpp"
#include "support/child.hpp"
#include "support/clock_shim.hpp"
#include "support/obstacle.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::quorum_faults_test {
namespace {

constexpr time_ns hour_ns = 3'600 * ns_per_s;

using quorum_faults = quorum;

// ---- clocks ---------------------------------------------------------------------------------

// What becomes of a client whose wall clock is wrong from the beginning, and steps back amid.
std::string used_with_clock(const std::string& url, time_ns wrong_by_ns) {
  child shifted([&](child_end& test) {
    shift_clock(CLOCK_REALTIME, wrong_by_ns);
    const auto client = open_client(url);
    const auto lock = open_lock(client, "report");
    const auto error = new_error();
    if (mortise_lock_try(lock.get(), error.get()) != MORTISE_OK) {
      return test.send(std::string("not had: ") + mortise_error_message(error.get()));
    }
    const auto token = mortise_lock_token(lock.get());
    shift_clock(CLOCK_REALTIME, -2 * wrong_by_ns);
    if (mortise_lock_extend(lock.get(), 0, nullptr) != MORTISE_OK ||
        mortise_lock_unlock(lock.get(), nullptr) != MORTISE_OK ||
        mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK ||
        mortise_lock_unlock(lock.get(), nullptr) != MORTISE_OK) {
      return test.send("not used");
    }
    test.send(std::to_string(token));
  });
  return shifted.receive();
}

// Its own clock counts for nothing: the servers' do (hazard 30).
TEST_F(quorum_faults, a_client_whose_wall_clock_is_a_day_off_is_not_felt) {
  start(3);
  std::int64_t last = 0;
  for (const time_ns wrong_by_ns : {24 * hour_ns, -24 * hour_ns, time_ns{0}}) {
    const auto report = used_with_clock(url(), wrong_by_ns);
    ASSERT_EQ(std::string::npos, report.find(' ')) << report;
    const auto token = std::stoll(report);
    EXPECT_LT(last, token);
    EXPECT_GT(wall_now_us() + hour_ns / ns_per_us, token);
    last = token;
  }
}

// A server whose clock is hours ahead accepts only tokens that all others refuse. It counts as a
// server that does not vote, and no client follows it.
TEST_F(quorum_faults, one_server_whose_clock_is_far_ahead_keeps_nobody_out) {
  start(3);
  constexpr time_ns ahead_us = 3 * hour_ns / ns_per_us;
  std::int64_t last = 0;
  for (int i = 0; i < 6; ++i) {
    // As its handshake leaves it there.
    servers[0]->command({"SET", "mortise:fence", std::to_string(wall_now_us() + ahead_us)});
    const auto [client, lock] = open_user(url());
    for (int turn = 0; turn < 3; ++turn) {
      expect_acquired(lock);
      EXPECT_LT(last, mortise_lock_token(lock.get()));
      EXPECT_GT(wall_now_us() + ahead_us / 3, mortise_lock_token(lock.get()));
      last = mortise_lock_token(lock.get());
      expect_released(lock);
    }
  }
}

// A suspend ends the hold, whatever the servers still have (hazard 2).
TEST_F(quorum_faults, a_lease_ends_by_the_clock_that_counts_suspends) {
  start(3);
  const auto address = url("quarantine=0&lease=10s");
  child sleeper([&](child_end& test) {
    const auto client = open_client(address);
    const auto lock = open_lock(client, "report");
    const auto got = mortise_lock_acquire(lock.get(), patience_ms, nullptr);
    shift_clock(CLOCK_BOOTTIME, 11 * ns_per_s);
    test.send(status_name(got) + (mortise_lock_is_held(lock.get()) == 1 ? " held " : " not held ") +
              status_name(mortise_lock_unlock(lock.get(), nullptr)));
    test.receive();  // closing a client with such a clock could take as long as the jump
  });
  EXPECT_EQ(status_name(MORTISE_OK) + " not held " + status_name(MORTISE_LOST), sleeper.receive());
}

TEST_F(quorum_faults, a_ping_does_not_wait_for_a_server_that_hangs) {
  start(3);
  const auto client = open_client(url("quarantine=0&command_timeout=60s"));
  servers[1]->pause();
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  EXPECT_GT(30 * ns_per_s, boot_now() - begin) << "it waited for the whole command_timeout";
  servers[1]->resume();
}

// One server has lost the vote, and another one hangs. The two that live are a quorum (hazard 25).
// The hung server loses its vote with the lease.
TEST_F(quorum_faults, a_hold_that_lacks_a_vote_survives_a_server_that_hangs) {
  start(3);
  const auto [client, lock] = open_user(url("quarantine=0&lease=3s&command_timeout=60s"));
  expect_acquired(lock);
  ASSERT_TRUE(eventually([&] { return owner_at(0) == owner_at(2) && !is_free_at(2); }));
  servers[2]->command({"DEL", lock_key(name)});
  servers[1]->pause();
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) != 0; }, 5 * second_ms));
  EXPECT_EQ(owner_at(0), owner_at(2));
  servers[1]->resume();
  EXPECT_TRUE(eventually([&] { return owner_at(0) == owner_at(1); })) << "it votes again";
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// ---- servers that refuse writes ---------------------------------------------------------------

// The others are a quorum. The server itself may accept writes soon.
TEST_F(quorum_faults, hazard_13_one_server_that_refuses_writes_keeps_no_new_client_out) {
  start(3);
  struct {
    const char *option, *refusing, *accepting;
  } const all[] = {{"maxmemory", "1", "0"}, {"min-replicas-to-write", "1", "0"}};
  for (const auto& one : all) {
    ASSERT_EQ("OK", servers[1]->command({"CONFIG", "SET", one.option, one.refusing}));
    {
      const auto [client, lock] = open_user(url());
      expect_acquired(lock);
      expect_released(lock);
    }
    ASSERT_EQ("OK", servers[1]->command({"CONFIG", "SET", one.option, one.accepting}));
  }
}

// Without a new connection its votes there could not be renewed.
TEST_F(quorum_faults, hazard_13_a_hold_outlives_its_connections_to_servers_without_memory) {
  start(3);
  constexpr int lease_ms = 2000;
  const auto [client, lock] = open_user(url("quarantine=0&lease=2s"));
  expect_acquired(lock);
  ASSERT_TRUE(eventually([&] { return owner_at(0) == owner_at(1) && owner_at(1) == owner_at(2); }));
  for (const std::size_t full : {0U, 1U}) {
    ASSERT_EQ("OK", servers[full]->command({"CONFIG", "SET", "maxmemory", "1"}));
  }
  for (const auto& server : servers) {
    ASSERT_NE("0", server->command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"}));
  }
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 2 * lease_ms));
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// ---- partitions -----------------------------------------------------------------------------

// Longer than the votes are waited for at first. A client that has just connected does not know yet
// how far its servers are.
TEST_F(quorum_faults, servers_that_are_far_apart_form_a_quorum) {
  start(3);
  networks slow_networks(servers);
  slow_networks.control({1, 2}, "delay 300");
  const auto [client, lock] = open_user(slow_networks.url("&command_timeout=60s"));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    expect_released(lock);
  }
}

// One sees the first three, the other the last three (hazard 25).
TEST_F(quorum_faults, two_who_see_different_servers_exclude_each_other) {
  start(5);
  networks to_first(servers);
  networks to_last(servers);
  const auto [client, lock] = open_user(to_first.url("&command_timeout=60s"));
  const auto [rival, other] = open_user(to_last.url("&command_timeout=60s"));
  for (const std::string partition : {"freeze", "refuse"}) {
    to_first.control({3, 4}, partition);
    to_last.control({0, 1}, partition);
    std::int64_t last = 0;
    for (int turn = 0; turn < 3; ++turn) {
      for (const auto& [mine, theirs] : {std::pair(&lock, &other), std::pair(&other, &lock)}) {
        expect_acquired(*mine);
        EXPECT_LT(last, mortise_lock_token(mine->get()));
        last = mortise_lock_token(mine->get());
        EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(theirs->get(), nullptr));
        EXPECT_EQ(1, mortise_lock_is_held(mine->get()));
        expect_released(*mine);
      }
    }
    const std::string heal = partition == "freeze" ? "thaw" : "accept";
    to_first.control({3, 4}, heal);
    to_last.control({0, 1}, heal);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
  }
}

// Requests arrive and replies do not: votes whose replies were lost are given back (hazard 16).
TEST_F(quorum_faults, who_hears_no_answers_of_a_quorum_has_nothing_and_keeps_out_nobody) {
  start(5);
  networks to_deaf(servers);
  const auto [deaf, lock] = open_user(to_deaf.url("&command_timeout=60s"));
  const auto [client, other] = open_user(url());
  to_deaf.control({0, 1, 2}, "freeze answers");
  for (int turn = 0; turn < 3; ++turn) {
    const auto begin = boot_now();
    const auto error = new_error();
    const auto status = mortise_lock_acquire(lock.get(), 300, error.get());
    const std::string message = mortise_error_message(error.get());
    // On a slow machine what the turn before has asked may still be in the way of the next.
    const bool is_behind =
        status == MORTISE_TIMED_OUT && message.find("has just released it") < message.size();
    EXPECT_TRUE(status == MORTISE_UNREACHABLE || status == MORTISE_UNKNOWN || is_behind)
        << status_name(status) << " in turn " << turn << ": " << message;
    EXPECT_LT(ms_since(begin), patience_ms);
    EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
    expect_acquired(other);
    expect_released(other);
    // Their replies do not mean that another client has it.
    EXPECT_TRUE(eventually([&] { return is_free_at(3) && is_free_at(4); }));
  }
  to_deaf.control({0, 1, 2}, "thaw");
  expect_acquired(lock);
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(quorum_faults, with_three_of_five_stalled_a_hold_ends_by_its_own_clock_and_nobody_gets_it) {
  start(5);
  const auto slow = "quarantine=0&command_timeout=60s&lease=2s";
  const auto [client, lock] = open_user(url(slow));
  const auto [rival, other] = open_user(url(slow));
  const auto queue = open_queue(client);
  expect_acquired(lock);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 7, nullptr));
  for (const std::size_t stalled : {0U, 2U, 4U}) servers[stalled]->pause();
  const auto begin = boot_now();
  EXPECT_EQ(7, next_loss(queue).tag);
  EXPECT_LT(ms_since(begin), patience_ms);
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
  // Both get the reason in time. The one that found the lost hold at the other servers gets that.
  for (const auto* const one : {&other, &lock}) {
    const auto begin_ns = boot_now();
    const auto error = new_error();
    const auto status = mortise_lock_acquire(one->get(), 300, error.get());
    EXPECT_TRUE(status == MORTISE_UNREACHABLE || status == MORTISE_UNKNOWN ||
                status == MORTISE_TIMED_OUT)
        << status_name(status) << ": " << mortise_error_message(error.get());
    EXPECT_LT(ms_since(begin_ns), patience_ms);
  }
  for (const std::size_t stalled : {0U, 2U, 4U}) servers[stalled]->resume();
  expect_acquired(other);
  expect_released(other);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// ---- servers that restart -------------------------------------------------------------------

// All of them are killed, one after the other. Their votes are on their disks.
TEST_F(quorum_faults, servers_that_forget_nothing_may_all_restart_without_a_quarantine) {
  start(3, {"--appendonly", "yes", "--appendfsync", "always"});
  const auto [client, lock] = open_user(url("quarantine=0&lease=20s"));
  const auto [rival, other] = open_user(url());
  expect_acquired(lock);
  const auto token = mortise_lock_token(lock.get());
  EXPECT_TRUE(eventually([&] { return owner_at(0) == owner_at(1) && owner_at(1) == owner_at(2); }));
  for (const auto& server : servers) server->kill();
  for (const auto& server : servers) server->start();
  ASSERT_TRUE(answers(rival));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(other.get(), nullptr));
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  ASSERT_TRUE(answers(client));
  expect_released(lock);
  expect_acquired(other);
  EXPECT_LT(token, mortise_lock_token(other.get()));
}

// A snapshot is older than the votes. Its data make it no safer than an empty server (hazard 11),
// and its tokens stay below those that it has lost (hazard 30).
TEST_F(quorum_faults, a_server_that_restarts_with_old_data_is_in_quarantine) {
  start(3, {"--save", "3600 1000"});
  constexpr std::int64_t quarantine_ms = 6'000;
  const auto [client, another] = open_user(url("quarantine=6s&lease=5s"));
  expect_acquired(another);  // when they have run for so long
  expect_released(another);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
  ASSERT_EQ("OK", servers[1]->command({"SAVE"}));
  // The third never receives this.
  servers[2]->pause();
  const auto [stopped, held] = open_user(url("quarantine=6s&lease=5s&max_hold=5s&renewal=off"));
  expect_acquired(held);
  const auto token = mortise_lock_token(held.get());
  const auto restarted = boot_now();
  servers[1]->restart();
  servers[2]->resume();
  ASSERT_TRUE(is_free_at(1));
  const auto lock = open_lock(client, name);
  // It may learn, as its server is back, that too few know of it, and gives the other vote back.
  while (mortise_lock_is_held(lock.get()) != 1 && ms_since(restarted) < quarantine_ms - second_ms) {
    if (mortise_lock_try(lock.get(), nullptr) != MORTISE_OK) continue;
    EXPECT_EQ(0, mortise_lock_is_held(held.get()));
    EXPECT_TRUE(is_free_at(1)) << "it votes " << ms_since(restarted) << " ms after its restart";
  }
  if (mortise_lock_is_held(lock.get()) != 1) expect_acquired(lock);
  EXPECT_LT(token, mortise_lock_token(lock.get()));
}

// ---- lists ----------------------------------------------------------------------------------

// The others are a quorum. Faults that can only matter later are reported now, with their servers.
TEST_F(quorum_faults, a_wrong_password_of_one_server_is_reported_when_the_client_opens) {
  start(2);
  const test_server locked({.arguments = {"--port", "free", "--requirepass", "right-77p"},
                            .login = {"AUTH", "right-77p"}});
  const auto address = "127.0.0.1:" + std::to_string(locked.port());
  const auto message = refusal_of(url() + ",redis://:wrong-77p@" + address);
  EXPECT_EQ(0U, message.find("server \"" + address + "\": ")) << message;
  EXPECT_EQ(std::string::npos, message.find("77p")) << message;
  EXPECT_TRUE(open_client(url() + ",redis://:right-77p@" + address));
}

// In the order of the page. Without the last step the new list is refused.
TEST_F(quorum_faults, a_list_is_changed_by_the_procedure_of_the_page) {
  start(3);
  const auto before = url();
  {
    const auto [client, lock] = open_user(before);
    expect_acquired(lock);
    expect_released(lock);
  }
  start(2);
  const auto message = problem_of(url(), MORTISE_REFUSED);
  EXPECT_NE(std::string::npos, message.find("other clients have 3 servers in their lists"))
      << message;
  for (const auto& server : servers) server->command({"DEL", "mortise:quorum"});
  const auto client = open_client(url());
  expect_acquired(open_lock(client, name));
  EXPECT_NE(std::string::npos,
            problem_of(before, MORTISE_REFUSED).find("other clients have 5 servers"));
}

// Each may be of another kind.
TEST(quorum_kinds, tls_and_a_name_that_fails_over_are_as_they_are_alone) {
  MORTISE_SKIP_FOR(changing_name::obstacle());
  tls_server secure;
  test_server first({.arguments = {"--port", "free", "--repl-diskless-sync-delay", "0"}});
  const std::string port = std::to_string(first.port());
  test_server second(
      {.arguments = {"--bind", "127.0.0.2", "--port", port, "--repl-diskless-sync-delay", "0"}});
  second.command({"REPLICAOF", "127.0.0.1", port});
  changing_name moving;
  moving.lead_to({"127.0.0.1"});
  test_server third;
  const auto client = open_client("redlock:" + secure.trusting_url("&quarantine=0&lease=3s") +
                                  ",redis://" + moving.text() + ":" + port + "," + third.url());
  const auto lock = open_lock(client, "report");
  const auto owner_at = [](test_server& server) {
    return server.command({"GET", lock_key("report")});
  };
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  ASSERT_TRUE(eventually([&] {
    return owner_at(secure) != "(nil)" && owner_at(secure) == owner_at(second) &&
           owner_at(second) == owner_at(third);
  }));
  moving.lead_to({"127.0.0.2"});
  ASSERT_EQ("OK", second.command({"REPLICAOF", "NO", "ONE"}));
  ASSERT_EQ("OK", first.command({"REPLICAOF", "127.0.0.2", port}));
  // It is known where the name leads now, and can do without another.
  ASSERT_TRUE(eventually([&] {
    return second.command({"CLIENT", "LIST"}).find("name=mortise") != std::string::npos;
  }));
  third.kill();
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 4 * second_ms));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ("(nil)", owner_at(second));
}

}  // namespace
}  // namespace mortise::testing::quorum_faults_test
