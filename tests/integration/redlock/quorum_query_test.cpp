// Queries and forced releases while servers of the quorum are dead, slow, or hang.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "integration/redlock/quorum_fixture.hpp"
#include "protocol/scripts/scripts.hpp"
#include "support/proxy.hpp"

namespace mortise::testing::quorum_query_test {
namespace {

class quorum_queries : public quorum {
 protected:
  [[nodiscard]] bool all_have_voted() {
    return eventually(
        [&] { return !is_free_at(0) && owner_at(0) == owner_at(1) && owner_at(1) == owner_at(2); });
  }
  // The owner as this user reads it. Each result that is OK must show one holder.
  static std::string queried_owner(const lock_user& user) {
    const info_handle info(mortise_info_new());
    const auto error = new_error();
    mortise_status status = MORTISE_OK;
    EXPECT_TRUE(eventually([&] {
      status = mortise_lock_query(user.lock.get(), info.get(), error.get());
      return status == MORTISE_OK;
    })) << mortise_error_message(error.get());
    EXPECT_TRUE(mortise_info_is_held(info.get()));
    EXPECT_EQ(1, mortise_info_entry_count(info.get()));
    if (mortise_info_entry_count(info.get()) == 0) return {};
    return mortise_info_entry_owner(info.get(), 0);
  }
  static mortise_status force(const lock_user& user, const std::string& owner,
                              const error_handle& error) {
    return mortise_lock_force_release(user.lock.get(), owner.data(), owner.size(), error.get());
  }
};

// The dead server must not use up the time of the other requests of a query.
TEST_F(quorum_queries, a_dead_server_and_a_short_timeout_make_no_lock_free) {
  start(3);
  const auto holder = open_user(url());
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  networks network(servers);
  network.control({0, 1}, "delay 5");
  const auto user = open_user(network.url("&command_timeout=200ms&connect=lazy"));
  ASSERT_TRUE(answers(user.client));
  servers[2]->kill();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(owner_at(0), queried_owner(user));
}

// Two servers of three reply, one of them late. The wait for the third one must end with them.
TEST_F(quorum_queries, a_dead_server_and_a_slow_one_make_no_lock_free) {
  start(3);
  const auto holder = open_user(url());
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  networks slow_network(servers);
  const auto user = open_user(slow_network.url(""));
  ASSERT_TRUE(answers(user.client));
  slow_network.control({1}, "delay 300");
  servers[2]->kill();
  EXPECT_EQ(owner_at(0), queried_owner(user));
}

TEST_F(quorum_queries, an_observer_reports_the_leader_while_a_server_is_dead) {
  using election_handle =
      std::unique_ptr<mortise_election, decltype([](mortise_election* election) {
                        mortise_election_free(election);
                      })>;
  start(3);
  const auto open_election = [](const client_handle& client) {
    return election_handle(
        mortise_election_new(client.get(), name.data(), name.size(), nullptr, nullptr));
  };
  const auto client = open_client(url());
  const auto leader = open_election(client);
  ASSERT_EQ(MORTISE_OK, mortise_election_campaign(leader.get(), patience_ms, nullptr));
  ASSERT_TRUE(all_have_voted());
  const auto rival = open_client(url("quarantine=0&command_timeout=200ms&connect=lazy"));
  ASSERT_TRUE(answers(rival));
  const auto observer = open_election(rival);
  const auto queue = open_queue(rival);
  ASSERT_EQ(MORTISE_OK, mortise_election_observe(observer.get(), queue.get(), 5, 10, nullptr));
  EXPECT_EQ(MORTISE_EVENT_LEADER, next_event(queue).kind);
  servers[2]->kill();
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 2 * second_ms).kind) << "nothing has changed";
}

// The first reply of each server has the owner alone. The query is not answered without the rest.
TEST_F(quorum_queries, a_query_without_a_full_reply_does_not_succeed) {
  start(3);
  const auto holder = open_user(url());
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  std::vector<std::unique_ptr<proxy>> proxies;
  std::string list;
  for (const auto& server : servers) {
    auto& between = proxies.emplace_back(std::make_unique<proxy>(server->socket_path()));
    list += (list.empty() ? "redlock:" : ",") + between->url() +
            (list.empty() ? "?quarantine=0&command_timeout=60s" : "");
  }
  const auto user = open_user(list);
  EXPECT_EQ(owner_at(0), queried_owner(user));  // the servers know the script from now on
  for (const auto& between : proxies) {
    const auto queries = std::make_shared<std::atomic<int>>(0);
    between->set_rule([queries](const fake_command& command) {
      const bool is_query = command.is("EVALSHA") && command.words[1] == scripts::token_query.sha1;
      return is_query && ++*queries > 1 ? fault::answer("-NOPERM no rights\r\n") : fault::none();
    });
  }
  const info_handle info(mortise_info_new());
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_query(user.lock.get(), info.get(), nullptr));
}

// The requests are executed long before their replies arrive. A second request would find nothing.
TEST_F(quorum_queries, a_forced_release_at_slow_servers_succeeds) {
  start(3);
  const auto holder = open_user(url());
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  expect_released(holder.lock);  // the servers know its script from now on
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  networks slow_network(servers);
  const auto user = open_user(slow_network.url("&command_timeout=60s"));
  const auto owner = queried_owner(user);
  slow_network.control({0, 1, 2}, "delay 300");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, force(user, owner, error)) << mortise_error_message(error.get());
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(holder.lock.get()) == 0; }));
}

TEST_F(quorum_queries, a_dead_server_does_not_delay_a_forced_release) {
  start(3);
  const auto holder = open_user(url());
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  const auto user = open_user(url("quarantine=0&command_timeout=60s"));
  const auto owner = queried_owner(user);
  servers[0]->kill();
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, force(user, owner, new_error()));
  EXPECT_GT(30 * second_ms, ms_since(begin)) << "it waited for the whole command_timeout";
}

// No server replies. Those that hang may release their votes later.
TEST_F(quorum_queries, a_forced_release_at_servers_that_hang_has_an_unknown_outcome) {
  start(3);
  const auto holder = open_user(url("quarantine=0&lease=300s"));
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  const auto user = open_user(url("quarantine=0&command_timeout=2s"));
  const auto owner = queried_owner(user);
  servers[0]->kill();
  for (const std::size_t hung : {1U, 2U}) servers[hung]->pause();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNKNOWN, force(user, owner, error)) << mortise_error_message(error.get());
  EXPECT_EQ(1, mortise_error_is_ambiguous(error.get()));
  for (const std::size_t hung : {1U, 2U}) servers[hung]->resume();
  EXPECT_TRUE(eventually([&] {
    force(user, owner, error);
    return mortise_lock_is_held(holder.lock.get()) == 0;
  })) << mortise_error_message(error.get());
}

// The last server releases its vote, which is not enough.
TEST_F(quorum_queries, a_forced_release_at_the_last_server_has_an_unknown_outcome) {
  start(3);
  const auto holder = open_user(url("quarantine=0&lease=300s"));
  expect_acquired(holder.lock);
  ASSERT_TRUE(all_have_voted());
  const auto user = open_user(url("quarantine=0&command_timeout=2s"));
  const auto owner = queried_owner(user);
  for (const std::size_t dead : {0U, 2U}) servers[dead]->kill();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNKNOWN, force(user, owner, error)) << mortise_error_message(error.get());
  EXPECT_EQ(1, mortise_error_is_ambiguous(error.get()));
}

// The third server has no key of this name. It has nothing to release, and so it has not changed.
TEST_F(quorum_queries, a_forced_release_that_a_quorum_refuses_is_refused) {
  start(3);
  for (const std::size_t other : {0U, 1U}) {
    ASSERT_EQ("1", servers[other]->command({"HSET", lock_key(name), "of", "others"}));
  }
  const auto user = open_user(url());
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, force(user, "an owner", error)) << mortise_error_message(error.get());
  EXPECT_EQ(0, mortise_error_is_ambiguous(error.get()));
}

}  // namespace
}  // namespace mortise::testing::quorum_query_test
