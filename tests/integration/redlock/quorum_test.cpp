// A lock that a quorum of independent servers gives: whatever becomes of the others.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "integration/redlock/quorum_fixture.hpp"
#include "support/call_script.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::quorum_test {
namespace {

// ---- taking and giving back -----------------------------------------------------------------

TEST_F(quorum, all_vote_and_all_are_given_back) {
  start(3);
  const auto [client, lock] = open_user(url());
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_GE(mortise_lock_token(lock.get()), std::int64_t{1'000'000'000'000'000});
  EXPECT_TRUE(eventually([&] {
    return owner_at(0) != "(nil)" && owner_at(0) == owner_at(1) && owner_at(1) == owner_at(2);
  }));
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(quorum, who_comes_second_is_refused_and_leaves_nothing) {
  start(3);
  const auto [client, lock] = open_user(url());
  const auto [rival, other] = open_user(url());
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(other.get(), nullptr));
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(other.get(), second_ms, nullptr));
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(quorum, a_waiter_is_notified_and_does_not_wait_for_the_lease) {
  start(3);
  const auto [client, lock] = open_user(url());
  const auto [rival, other] = open_user(url());
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  std::thread waiter([&] { expect_acquired(other); });  // the lease is longer than its patience
  EXPECT_TRUE(eventually([&] {
    return servers[0]->command({"PUBSUB", "NUMSUB", "mortise:free:" + lock_key(name)}).back() ==
           '1';
  }));
  expect_released(lock);
  waiter.join();
  EXPECT_TRUE(mortise_lock_is_held(other.get()));
}

// ---- servers that are down ---------------------------------------------------------------------

TEST_F(quorum, one_that_is_dead_is_not_felt) {
  start(3);
  const auto client = open_client(url());
  servers[1]->kill();
  for (int i = 0; i < 20; ++i) {
    const auto lock = open_lock(client, name);
    expect_acquired(lock);
    expect_released(lock);
  }
}

// What hangs keeps a connection that looks well.
TEST_F(quorum, two_of_five_that_hang_are_not_felt_and_keep_nothing) {
  start(5);
  const auto [client, lock] = open_user(url("quarantine=0&command_timeout=60s"));
  servers[1]->pause();
  servers[3]->pause();
  for (int i = 0; i < 20; ++i) {
    expect_acquired(lock);
    expect_released(lock);
  }
  servers[1]->resume();
  servers[3]->resume();
  // Votes that come after the end of their call are given back (hazard 16).
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(quorum, without_a_quorum_there_is_no_lock_and_its_votes_are_given_back) {
  start(5);
  const auto [client, lock] = open_user(url("quarantine=0&command_timeout=60s"));
  for (const std::size_t paused : {0U, 2U, 4U}) servers[paused]->pause();
  const auto status = mortise_lock_acquire(lock.get(), 400, nullptr);
  EXPECT_TRUE(status == MORTISE_UNREACHABLE || status == MORTISE_UNKNOWN) << status;
  EXPECT_TRUE(eventually([&] { return is_free_at(1) && is_free_at(3); }));
  for (const std::size_t paused : {0U, 2U, 4U}) servers[paused]->resume();
  EXPECT_TRUE(eventually([&] { return is_free(); }));
  expect_acquired(lock);
}

TEST_F(quorum, half_of_an_even_number_is_none) {
  for (const std::size_t count : {2U, 4U}) {
    servers.clear();
    start(count);
    const auto [client, lock] = open_user(url("quarantine=0&command_timeout=1s"));
    for (std::size_t i = 0; i < count / 2; ++i) servers[i]->kill();
    EXPECT_NE(MORTISE_OK, mortise_lock_acquire(lock.get(), 200, nullptr));
    EXPECT_TRUE(eventually([&] { return is_free_at(count - 1); }));
    for (std::size_t i = 0; i < count / 2; ++i) servers[i]->start();
    expect_acquired(lock);
  }
}

TEST_F(quorum, a_client_opens_with_a_quorum_and_says_what_it_lacks_without) {
  start(3);
  servers[1]->kill();
  const auto client = open_client(url());
  servers[2]->kill();
  std::string message;
  // On a slow machine not even the last one answers in time.
  EXPECT_TRUE(eventually([&] {
    message = problem_of(url("quarantine=0&command_timeout=300ms"), MORTISE_UNREACHABLE);
    return message.starts_with("1 of 3 servers are available, and 2 are needed; server \"");
  })) << message;
}

// ---- rounds -------------------------------------------------------------------------------

// Each has the lock often. Tokens rise from one holder to the next, whichever server is down
// meanwhile (hazards 25, 30).
TEST_F(quorum, those_who_share_the_votes_settle_and_tokens_rise) {
  start(3);
  constexpr int turns = 40;
  std::atomic<std::int64_t> last{0};
  std::atomic<int> inside{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      const auto [client, lock] = open_user(url());
      for (int turn = 0; turn < turns; ++turn) {
        expect_acquired(lock);
        EXPECT_EQ(0, inside.fetch_add(1));
        const auto token = mortise_lock_token(lock.get());
        EXPECT_LT(last.exchange(token), token);
        inside.fetch_sub(1);
        expect_released(lock);
      }
    });
  }
  for (std::size_t round = 0; round < 3; ++round) {
    servers[round]->pause();
    const timespec a_moment{0, 50'000'000};
    nanosleep(&a_moment, nullptr);
    servers[round]->resume();
  }
  for (auto& user : users) user.join();
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

TEST_F(quorum, a_token_is_above_what_any_quorum_has_seen) {
  start(3);
  std::int64_t last = 0;
  for (int i = 0; i < 12; ++i) {
    const auto paused = static_cast<std::size_t>(i) % 3;
    servers[paused]->pause();
    const auto [client, lock] = open_user(url());
    expect_acquired(lock);
    EXPECT_LT(last, mortise_lock_token(lock.get()));
    last = mortise_lock_token(lock.get());
    expect_released(lock);
    servers[paused]->resume();
  }
}

// A client's clock was far ahead. The next token is above it nevertheless, without waiting.
TEST_F(quorum, a_proposal_that_was_outrun_is_made_again) {
  start(3);
  const auto [client, lock] = open_user(url());
  expect_acquired(lock);
  const auto ahead = mortise_lock_token(lock.get()) + 1'800'000'000;  // half an hour
  expect_released(lock);
  for (const auto& server : servers) {
    server->command({"SET", lock_key(name) + ":ballot", std::to_string(ahead)});
  }
  const auto [fresh, other] = open_user(url());
  EXPECT_EQ(MORTISE_OK, mortise_lock_try(other.get(), nullptr));
  EXPECT_LT(ahead, mortise_lock_token(other.get()));
}

// ---- servers that forget --------------------------------------------------------------------

// Two of three have voted for a client that is stopped, and one of them restarts without its data.
// It must not vote again while the lost lease may last (hazard 11).
TEST_F(quorum, a_server_that_has_forgotten_votes_is_in_quarantine) {
  start(3);
  constexpr std::int64_t quarantine_ms = 6'000;
  const auto client = open_client(url("quarantine=6s&lease=5s"));
  expect_acquired(open_lock(client, "another"));  // when they have run for so long
  for (const std::size_t voter : {0U, 1U}) {
    servers[voter]->command({"SET", lock_key(name), "stopped", "PX", "60000"});
  }
  const auto restarted = boot_now();
  servers[1]->restart();
  const auto lock = open_lock(client, name);
  while (ms_since(restarted) < quarantine_ms - second_ms) {
    ASSERT_NE(MORTISE_OK, mortise_lock_acquire(lock.get(), 200, nullptr)) << ms_since(restarted);
  }
  expect_acquired(lock);
}

TEST_F(quorum, a_lease_that_outlives_the_quarantine_is_refused) {
  start(3);
  const auto client = open_client(url("quarantine=10s"));
  const auto error = new_error();
  const options_handle terms(mortise_options_new());
  mortise_options_set_lease_ms(terms.get(), 10'000, nullptr);
  const lock_handle lock(mortise_lock_new(client.get(), "a", 1, terms.get(), error.get()));
  EXPECT_FALSE(lock);
  EXPECT_EQ(MORTISE_INVALID_ARGUMENT, mortise_error_status(error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_EQ(0U, message.find("lease: 10000 ms is above 9899 ms")) << message;
  EXPECT_NE(std::string::npos, message.find("quarantine")) << message;
}

TEST_F(quorum, a_hold_that_a_quorum_has_forgotten_is_lost_whatever_is_topped_up) {
  start(3);
  const auto [client, lock] = open_user(url("quarantine=0&lease=2s"));
  const auto queue = open_queue(client);
  expect_acquired(lock);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 7, nullptr));
  EXPECT_TRUE(eventually([&] { return !is_free_at(2); }));
  EXPECT_TRUE(is_lost_when_two_forget([&] { return !mortise_lock_is_held(lock.get()); }));
  EXPECT_EQ(7, next_loss(queue).tag);
  EXPECT_FALSE(mortise_lock_is_held(lock.get()));
}

TEST_F(quorum, a_hold_that_too_few_servers_prolong_is_lost) {
  start(3);
  const auto [client, lock] = open_user(url("quarantine=0&lease=2s&command_timeout=60s"));
  const auto queue = open_queue(client);
  expect_acquired(lock);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 7, nullptr));
  servers[0]->pause();
  servers[1]->pause();
  EXPECT_EQ(7, next_loss(queue).tag);
  EXPECT_FALSE(mortise_lock_is_held(lock.get()));
  servers[0]->resume();
  servers[1]->resume();
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
}

// It counts for the next quorum like any other, and ends with the rest (hazard 17).
TEST_F(quorum, a_server_that_comes_back_is_topped_up_for_the_rest_of_the_lease) {
  start(3);
  const auto [client, lock] = open_user(url("quarantine=0&lease=3s"));
  servers[2]->kill();
  expect_acquired(lock);
  servers[2]->start();
  ASSERT_TRUE(eventually([&] { return owner_at(2) == owner_at(1); }));
  EXPECT_GE(owner_at(2, lock_key(name) + ":ballot"), owner_at(1, lock_key(name) + ":ballot"))
      << "above all that it may have forgotten, until the others are asked again (hazard 30)";
  // From now on it can do without another.
  servers[0]->kill();
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) != 0; }, 4'000));
  expect_released(lock);
  EXPECT_TRUE(eventually([&] { return is_free_at(1) && is_free_at(2); }));
}

// Its owner learns of it at the first, and does not take it back there while it has the others.
TEST_F(quorum, hazard_17_force_takes_the_votes_of_one_server_after_the_other) {
  start(3);
  const auto [client, lock] = open_user(url("quarantine=0&lease=300s"));
  const auto queue = open_queue(client);
  expect_acquired(lock);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 7, nullptr));
  ASSERT_TRUE(eventually([&] { return !is_free_at(0) && owner_at(0) == owner_at(2); }));
  const auto owner = owner_at(0);
  for (std::size_t number = 0; number < 2; ++number) {
    const auto key = lock_key(name);
    EXPECT_EQ("1", call_script(*servers[number], scripts::ballot_release, {key, key + ":ballot"}, 2,
                               {owner, "0", "force", "9007199254740991"}));
    if (number == 0) {
      EXPECT_TRUE(always([&] { return is_free_at(0); }, second_ms / 2));
    }
  }
  EXPECT_EQ(MORTISE_REASON_FORCED, next_loss(queue).reason);
  EXPECT_FALSE(mortise_lock_is_held(lock.get()));
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// With one of three dead two clients can have a vote each. The barrier lets them ask at once.
TEST_F(quorum, of_those_who_try_a_free_lock_at_once_one_gets_it) {
  start(3);
  std::vector<lock_user> users;
  for (int i = 0; i < 3; ++i) users.push_back(open_user(url()));
  servers[2]->kill();
  for (int round = 0; round < 30; ++round) {
    std::barrier start_at(3);
    std::atomic<int> winners = 0;
    std::vector<std::thread> threads;
    for (auto& user : users) {
      threads.emplace_back([&] {
        start_at.arrive_and_wait();
        const auto is_won = mortise_lock_try(user.lock.get(), nullptr) == MORTISE_OK;
        winners += is_won ? 1 : 0;
        start_at.arrive_and_wait();
        if (is_won) {
          EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(user.lock.get(), nullptr));
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(1, winners);
  }
}

// ---- other programs of the algorithm --------------------------------------------------------

TEST_F(quorum, other_programs_of_the_algorithm_and_this_exclude_each_other) {
  start(3);
  const auto [client, lock] =
      open_user(url("quarantine=0&protocol=token&lease=2s&command_timeout=60s"));
  for (const std::size_t of : {0U, 2U}) {
    ASSERT_EQ("OK", servers[of]->command({"SET", name, "theirs", "NX", "PX", "60000"}));
  }
  const auto tried = boot_now();
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock.get(), nullptr));
  EXPECT_GT(30 * second_ms, ms_since(tried)) << "their votes are no split ones";
  EXPECT_TRUE(eventually([&] { return owner_at(1, name) == "(nil)"; }));
  std::thread waiter([&] { expect_acquired(lock); });
  for (const std::size_t of : {0U, 2U}) EXPECT_EQ("1", servers[of]->command({"DEL", name}));
  waiter.join();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(eventually([&] { return owner_at(i, name) != "(nil)"; }));
    EXPECT_EQ("(nil)", servers[i]->command({"SET", name, "theirs", "NX", "PX", "60000"}));
  }
  expect_released(lock);
  EXPECT_TRUE(eventually([&] {
    return owner_at(0, name) == "(nil)" && owner_at(1, name) == "(nil)" &&
           owner_at(2, name) == "(nil)";
  }));
}

// ---- what cannot be -------------------------------------------------------------------------

TEST_F(quorum, lists_that_cannot_be_a_quorum_are_refused_by_name) {
  start(2);
  EXPECT_NE(std::string::npos, problem_of("redlock:" + servers[0]->url(), MORTISE_INVALID_ARGUMENT)
                                   .find("list has one URL"));
  const auto other_url = "redlock:" + servers[0]->url() + "," + servers[1]->url() + "?db=3";
  EXPECT_NE(std::string::npos,
            problem_of(other_url, MORTISE_INVALID_ARGUMENT).find("is 3, that of \""));
  const auto weighted = "redlock:" + servers[0]->url() + "?weight=2," + servers[1]->url();
  EXPECT_EQ(0U, problem_of(weighted, MORTISE_INVALID_ARGUMENT).find("weight: "));
  // The same server by two names.
  const test_server twice({.arguments = {"--port", "free"}});
  const auto double_url =
      "redlock:" + twice.url() + "?quarantine=0," + twice.tcp_url() + "," + servers[0]->url();
  const auto message = refusal_of(double_url);
  EXPECT_NE(std::string::npos, message.find("the same server as number ")) << message;
  EXPECT_EQ(0U, message.find("server \"")) << message;
}

TEST_F(quorum, clients_that_count_differently_are_refused) {
  start(3);
  const auto client = open_client(url());
  const auto fewer = "redlock:" + servers[0]->url() + "?quarantine=0," + servers[1]->url();
  const auto message = problem_of(fewer, MORTISE_REFUSED);
  EXPECT_NE(std::string::npos, message.find("other clients have 3 servers in their lists"))
      << message;
}

// The shorter one would end the other's early, the longer one would last for all (hazard 11).
TEST_F(quorum, clients_with_another_quarantine_are_refused) {
  start(3);
  const auto client = open_client(url("quarantine=6s&lease=5s"));
  for (const auto* const other : {"quarantine=0", "quarantine=1h"}) {
    const auto message = problem_of(url(other), MORTISE_REFUSED);
    EXPECT_NE(std::string::npos, message.find("other clients have the option quarantine=6000ms"))
        << message;
  }
  EXPECT_TRUE(open_client(url("quarantine=6000ms&lease=4s")));
}

// However long the client has run by then (hazard 25).
TEST_F(quorum, a_server_whose_second_name_is_reached_late_does_not_count_twice) {
  start(3);
  tcp_proxy second_name(servers[2]->socket_path());
  second_name.control("refuse");
  const auto client = open_client(url("quarantine=0&command_timeout=1s") + "," + second_name.url());
  // As an hour later.
  for (const auto& server : servers)
    server->command({"DEL", "mortise:quorum", member_key(*server)});
  ASSERT_TRUE(eventually(
      [&] {
        return servers[2]->command({"EXISTS", "mortise:quorum"}) == "1";
      },
      60 * second_ms))
      << "the client joins again now and then";
  const auto fewer = "redlock:" + servers[1]->url() + "?quarantine=0," + servers[2]->url();
  EXPECT_NE(std::string::npos,
            problem_of(fewer, MORTISE_REFUSED).find("other clients have 4 servers"));
  second_name.control("accept");
  servers[0]->kill();
  const auto error = new_error();
  EXPECT_TRUE(eventually([&] {
    mortise_client_ping(client.get(), error.get());
    const std::string message = mortise_error_message(error.get());
    return message.find("the same server as number 3") != std::string::npos;
  })) << mortise_error_message(error.get());
  EXPECT_NE(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
}

std::string checked(const client_handle& client) {
  auto* const found = mortise_client_check_health(client.get(), nullptr);
  std::string report = mortise_health_json(found);
  mortise_health_free(found);
  return report;
}

TEST_F(quorum, a_server_that_is_dead_is_named_by_an_health_check) {
  start(3);
  servers[1]->kill();
  const auto report = checked(open_client(url()));
  EXPECT_NE(std::string::npos, report.find(R"({"name":"reachable","severity":"warn","server":")" +
                                           servers[1]->socket_path()))
      << report;
}

TEST_F(quorum, a_listing_goes_on_without_a_server_that_hangs_and_names_it) {
  start(3);
  const auto user = open_user(url());
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(user.lock.get(), nullptr));
  servers[1]->pause();
  auto* const taken = mortise_client_list_locks(user.client.get(), 2000, nullptr);
  auto* const found = mortise_client_scan_locks(user.client.get(), "", 0, 1000, 2000, nullptr);
  servers[1]->resume();
  ASSERT_NE(nullptr, taken);
  ASSERT_NE(nullptr, found);
  const auto missing = R"("missing":[{"server":")" + servers[1]->socket_path();
  EXPECT_EQ(1, mortise_listing_count(taken));
  EXPECT_NE(std::string::npos, std::string(mortise_listing_json(taken)).find(missing));
  EXPECT_EQ(2, mortise_listing_count(found));
  EXPECT_NE(std::string::npos, std::string(mortise_listing_json(found)).find(missing));
  mortise_listing_free(taken);
  mortise_listing_free(found);
}

TEST_F(quorum, a_replica_is_refused_by_name) {
  start(2);
  const test_server master({.arguments = {"--port", "free"}});
  const test_server replica(
      {.arguments = {"--replicaof", "127.0.0.1", std::to_string(master.port())}});
  const auto message = refusal_of(url() + "," + replica.url());
  EXPECT_EQ(0U, message.find("server \"" + replica.socket_path())) << message;
  EXPECT_NE(std::string::npos, message.find("read-only replica")) << message;
}

// It counts as down, and may become a master again.
TEST_F(quorum, what_becomes_a_replica_is_not_asked_and_named_by_an_health_check) {
  start(2);
  const test_server master({.arguments = {"--port", "free"}});
  test_server replica;
  const auto client = open_client(url() + "," + replica.url());
  const auto port = std::to_string(master.port());
  ASSERT_EQ("OK", replica.command({"REPLICAOF", "127.0.0.1", port}));
  const auto lock = open_lock(client, name);
  expect_acquired(lock);
  EXPECT_EQ("(nil)", replica.command({"GET", lock_key(name)}));
  std::string report;
  EXPECT_TRUE(eventually([&] {
    report = checked(client);
    return report.find("read-only replica") != std::string::npos;
  })) << report;
  EXPECT_NE(std::string::npos, report.find(replica.socket_path())) << report;
}

TEST_F(quorum, a_node_of_a_cluster_is_refused) {
  start(2);
  // Its bus has the port that is 10000 above, which is not always there.
  std::unique_ptr<test_server> node;
  for (int i = 0; !node && i < 20; ++i) {
    try {
      node = std::make_unique<test_server>(
          server_options{.arguments = {"--port", "free", "--cluster-enabled", "yes"}});
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  ASSERT_TRUE(node);
  const auto message = refusal_of(url() + "," + node->url());
  EXPECT_NE(std::string::npos, message.find("node of a cluster")) << message;
}

TEST_F(quorum, other_kinds_and_formats_are_not_supported) {
  start(2);
  const auto client = open_client(url());
  const auto error = new_error();
  EXPECT_FALSE(mortise_semaphore_new(client.get(), "a", 1, 2, nullptr, error.get()));
  EXPECT_EQ(MORTISE_UNSUPPORTED, mortise_error_status(error.get()));
  const options_handle terms(mortise_options_new());
  mortise_options_set(terms.get(), "protocol", 8, "hash", 4, nullptr);
  EXPECT_FALSE(mortise_lock_new(client.get(), "a", 1, terms.get(), error.get()));
  EXPECT_EQ(MORTISE_UNSUPPORTED, mortise_error_status(error.get()));
}

TEST_F(quorum, a_query_tells_what_a_quorum_says) {
  start(3);
  const auto [client, lock] = open_user(url());
  const info_handle info(mortise_info_new());
  // One vote is no hold.
  servers[0]->command({"SET", lock_key(name), "somebody", "PX", "60000"});
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_FALSE(mortise_info_is_held(info.get()));
  expect_acquired(lock);
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_TRUE(mortise_info_is_held(info.get()));
  EXPECT_TRUE(mortise_info_is_mine(info.get()));
}

// The vote of one may be missing until the first renewal, when another hangs or dies.
TEST_F(quorum, a_hold_that_a_silent_server_may_have_voted_for_is_reported) {
  start(3);
  const auto holder = open_user(url());
  const auto [client, lock] = open_user(url());
  expect_acquired(holder.lock);
  servers[1]->command({"DEL", lock_key(name)});
  const info_handle info(mortise_info_new());
  servers[0]->pause();
  EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_TRUE(mortise_info_is_held(info.get()));
  EXPECT_EQ(1, mortise_info_entry_count(info.get()));
  servers[0]->resume();
  servers[0]->kill();
  EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_TRUE(mortise_info_is_held(info.get()));
}

}  // namespace
}  // namespace mortise::testing::quorum_test
