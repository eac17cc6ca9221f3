// Several servers among which the names of locks are shared out: what becomes of one concerns the
// names of the others in nothing.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "deployment/api/rendezvous.hpp"
#include "support/changing_name.hpp"
#include "support/handles.hpp"
#include "support/obstacle.hpp"
#include "support/server.hpp"
#include "support/tls_fixture.hpp"

namespace mortise::testing::shard_test {
namespace {

struct free_multi {
  void operator()(mortise_multi* handle) const { mortise_multi_free(handle); }
};
using multi_handle = std::unique_ptr<mortise_multi, free_multi>;

constexpr std::array shard_names = {"a", "b", "c"};

// A name of a lock that this shard speaks for; each number gives another.
std::string name_on(std::size_t shard, int number = 0) {
  const deployment::rendezvous places({{"a"}, {"b"}, {"c"}});
  for (int i = 0;; ++i) {
    if (places.shard_of("lock " + std::to_string(i)) != shard) continue;
    if (number-- == 0) return "lock " + std::to_string(i);
  }
}

class shards : public ::testing::Test {
 protected:
  // With `query` for the first of them, which is for all.
  [[nodiscard]] std::string url(const std::string& query = "") const {
    std::string text = "shard:";
    for (std::size_t i = 0; i < servers.size(); ++i) {
      text += (i == 0 ? "" : ",") + servers.at(i).url() + "?shard=" + shard_names.at(i);
      if (i == 0) text += query;
    }
    return text;
  }
  std::string exists(std::size_t shard, const std::string& name) {
    return servers.at(shard).command({"EXISTS", lock_key(name)});
  }
  // Locks and unlocks a name of this shard.
  static void expect_well(const client_handle& client, std::size_t shard) {
    const auto lock = open_lock(client, name_on(shard));
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error.get()));
  }

  std::array<test_server, 3> servers;
};

TEST_F(shards, each_name_is_on_its_own) {
  const auto client = open_client(url());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto lock = open_lock(client, name_on(i));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    for (std::size_t other = 0; other < 3; ++other) {
      EXPECT_EQ(other == i ? "1" : "0", exists(other, name_on(i)));
    }
  }
}

TEST_F(shards, one_that_is_dead_is_not_felt_by_the_names_of_others) {
  const auto client = open_client(url("&command_timeout=20s"));
  servers[1].kill();
  ASSERT_TRUE(eventually([&] {
    const auto lock = open_lock(client, name_on(1));
    return mortise_lock_acquire(lock.get(), 1, nullptr) == MORTISE_UNREACHABLE;
  }));
  for (const std::size_t there : {0U, 2U}) expect_well(client, there);
  servers[1].start();
  const auto lock = open_lock(client, name_on(1));
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

// A server that hangs keeps a connection that looks healthy. Only its callers wait.
TEST_F(shards, one_that_hangs_is_not_felt_by_the_names_of_others) {
  const auto client = open_client(url("&command_timeout=60s"));
  const auto stuck = open_lock(client, name_on(1));
  servers[1].pause();
  std::thread waiter(
      [&] { EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(stuck.get(), 60'000, nullptr)); });
  for (int i = 0; i < 20; ++i) {
    for (const std::size_t there : {0U, 2U}) expect_well(client, there);
  }
  EXPECT_FALSE(mortise_lock_is_held(stuck.get()));
  servers[1].resume();
  waiter.join();
}

TEST_F(shards, holds_of_others_outlive_one_that_forgets) {
  const auto client = open_client(url("&lease=10m"));
  const auto queue = open_queue(client);
  std::vector<lock_handle> held;
  for (std::size_t i = 0; i < 3; ++i) {
    held.push_back(open_lock(client, name_on(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(held[i].get(), nullptr));
    const auto tag = static_cast<std::int64_t>(i);
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(held[i].get(), queue.get(), tag, nullptr));
  }
  servers[1].restart();
  EXPECT_EQ(1, next_loss(queue).tag);
  EXPECT_TRUE(mortise_lock_is_held(held[0].get()));
  EXPECT_FALSE(mortise_lock_is_held(held[1].get()));
  EXPECT_TRUE(mortise_lock_is_held(held[2].get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(held[0].get(), nullptr));
}

TEST_F(shards, a_client_opens_when_each_is_there_and_says_which_is_not) {
  servers[1].kill();
  std::string message;
  // On a slow machine the others do not answer in time, either.
  EXPECT_TRUE(eventually([&] {
    message = problem_of(url("&command_timeout=300ms"), MORTISE_UNREACHABLE);
    return message.starts_with("shard \"b\": cannot connect to ") &&
           message.find("shard \"a\"") == std::string::npos;
  })) << message;
  servers[0].kill();
  servers[2].pause();
  const auto all = problem_of(url("&command_timeout=300ms"), MORTISE_UNREACHABLE);
  for (const auto* name : {"\"a\"", "\"b\"", "\"c\""}) {
    EXPECT_NE(std::string::npos, all.find(name)) << all;
  }
  servers[2].resume();
}

TEST_F(shards, a_client_that_connects_lazily_has_those_that_are_there) {
  servers[1].kill();
  const auto client = open_client(url("&connect=lazy"));
  for (const std::size_t there : {0U, 2U}) {
    const auto lock = open_lock(client, name_on(there));
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  }
  const auto lock = open_lock(client, name_on(1));
  std::thread waiter(
      [&] { EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr)); });
  servers[1].start();
  waiter.join();
}

TEST_F(shards, a_ping_asks_all_and_names_who_does_not_answer) {
  const auto client = open_client(url("&command_timeout=1s"));
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  servers[2].kill();
  const auto error = new_error();
  ASSERT_TRUE(eventually(
      [&] { return mortise_client_ping(client.get(), error.get()) == MORTISE_UNREACHABLE; }));
  const std::string message = mortise_error_message(error.get());
  EXPECT_EQ(0U, message.find("shard \"c\": ")) << message;
  EXPECT_EQ(std::string::npos, message.find("shard \"a\"")) << message;
}

TEST_F(shards, a_queue_tells_of_all) {
  const auto client = open_client(url());
  const auto rival = open_client(url());
  const auto queue = open_queue(client);
  std::vector<lock_handle> locks;
  std::vector<lock_handle> theirs;
  for (std::size_t i = 0; i < 3; ++i) {
    theirs.push_back(open_lock(rival, name_on(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(theirs.back().get(), nullptr));
    locks.push_back(open_lock(client, name_on(i)));
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(locks.back().get(), queue.get(),
                                         static_cast<std::int64_t>(i), MORTISE_FOREVER, nullptr));
    ASSERT_TRUE(eventually([&] {
      return servers.at(i).command({"LLEN", queue_key(name_on(i))}) == "1";
    }));
  }
  for (std::size_t i = 3; i-- > 0;) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(theirs[i].get(), nullptr));
    const auto seen = next_event(queue);
    EXPECT_EQ(MORTISE_EVENT_ACQUIRED, seen.kind);
    EXPECT_EQ(MORTISE_OK, seen.status);
    EXPECT_EQ(static_cast<std::int64_t>(i), seen.tag);
  }
}

TEST_F(shards, a_multi_is_held_whole_or_not_whose_servers_are_several) {
  const auto client = open_client(url("&lease=10m"));
  const multi_handle multi(mortise_multi_new(client.get(), nullptr));
  std::vector<lock_handle> members;
  for (std::size_t i = 0; i < 3; ++i) {
    members.push_back(open_lock(client, name_on(i)));
    ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi.get(), members[i].get(), nullptr));
  }
  ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_multi_extend(multi.get(), 0, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_unlock(multi.get(), nullptr));
  servers[1].kill();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_multi_acquire(multi.get(), 300, nullptr));
  // What was taken of it on the others is given back.
  for (const std::size_t there : {0U, 2U}) {
    EXPECT_TRUE(eventually([&] { return exists(there, name_on(there)) == "0"; }));
  }
}

// One that hangs and should get the end of the client delays none of the others.
TEST_F(shards, the_end_of_a_client_gives_back_what_it_has_of_those_that_answer) {
  auto client = open_client(url("&lease=10m"));
  std::vector<lock_handle> held;
  for (std::size_t i = 0; i < 3; ++i) {
    held.push_back(open_lock(client, name_on(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(held[i].get(), nullptr));
  }
  servers[0].pause();
  client.reset();
  for (const std::size_t there : {1U, 2U}) {
    EXPECT_TRUE(eventually([&] { return exists(there, name_on(there)) == "0"; }));
  }
  servers[0].resume();
}

TEST_F(shards, all_are_checked_each_by_its_place) {
  const auto client = open_client(url());
  servers[1].command({"CONFIG", "SET", "maxmemory", "1gb"});
  servers[1].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  const auto message = problem_of(url("&health_check=strict"), MORTISE_REFUSED);
  EXPECT_EQ(0U, message.find("shard \"b\": ")) << message;
  EXPECT_NE(std::string::npos, message.find("maxmemory_policy")) << message;
}

TEST_F(shards, all_get_the_new_login) {
  for (auto& server : servers) {
    server.command({"ACL", "SETUSER", "guest", "on", ">first", "~*", "&*", "+@all"});
  }
  const auto client = open_client(url());
  const auto attempt = [&](const std::string& password) {
    const auto error = new_error();
    mortise_client_set_credentials(client.get(), "guest", 5, password.data(), password.size(),
                                   error.get());
    return std::string(mortise_error_message(error.get()));
  };
  EXPECT_EQ("", attempt("first"));
  for (auto& server : servers) {
    EXPECT_NE(std::string::npos, server.command({"CLIENT", "LIST"}).find("user=guest"));
  }
  servers[2].command({"ACL", "SETUSER", "guest", "resetpass", ">other"});
  const auto message = attempt("first");
  EXPECT_EQ(0U, message.find("shard \"c\": ")) << message;
}

// Each may be of another kind.
TEST(shard_kinds, tls_and_a_name_that_fails_over_are_as_they_are_alone) {
  MORTISE_SKIP_FOR(changing_name::obstacle());
  tls_server secure;
  const test_server first({.arguments = {"--port", "free"}});
  const std::string port = std::to_string(first.port());
  test_server second({.arguments = {"--bind", "127.0.0.2", "--port", port}});
  changing_name name;
  name.lead_to({"127.0.0.1"});
  const test_server third;
  const auto client =
      open_client("shard:" + secure.trusting_url("&shard=a") + ",redis://" + name.text() + ":" +
                  port + "?shard=b," + third.url() + "?shard=c");
  const auto on_tls = open_lock(client, name_on(0));
  EXPECT_EQ(MORTISE_OK, mortise_lock_try(on_tls.get(), nullptr));
  EXPECT_EQ("1", secure.command({"EXISTS", lock_key(name_on(0))}));
  const auto moves = open_lock(client, name_on(1));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(moves.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(moves.get(), nullptr));
  name.lead_to({"127.0.0.2"});
  auto admin = first.connect();
  ASSERT_EQ("OK", admin->command({"REPLICAOF", "127.0.0.2", port}));
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(moves.get(), patience_ms, nullptr));
  EXPECT_EQ("1", second.command({"EXISTS", lock_key(name_on(1))}));
}

}  // namespace
}  // namespace mortise::testing::shard_test
