// Replicas acknowledge what a lock relies on: the options `acks` and `durability` (hazards 7 to
// 10).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::replica_acknowledgement_test {
namespace {

constexpr const char* key = "{mortise:x}";

// A master and replicas that follow it by the time it is made.
class replicated {
 public:
  explicit replicated(std::size_t replicas = 1)
      : master_({{"--port", "free", "--repl-diskless-sync-delay", "0"}}) {
    for (std::size_t i = 0; i < replicas; ++i) {
      replicas_.push_back(std::make_unique<test_server>(server_options{
          {"--port", "free", "--replicaof", "127.0.0.1", std::to_string(master_.port())}}));
    }
    for (auto& one : replicas_) {
      if (!eventually([&] { return follows(*one); })) throw std::runtime_error("no replica");
    }
    // A replica that has just received the data acknowledges nothing for up to a second.
    master_.command({"SET", "first", ""});
    if (master_.command({"WAIT", std::to_string(replicas), "10000"}) != std::to_string(replicas)) {
      throw std::runtime_error("the replicas do not answer");
    }
    master_.command({"DEL", "first"});
  }
  test_server& master() { return master_; }
  test_server& replica(std::size_t i = 0) { return *replicas_.at(i); }
  [[nodiscard]] std::string url(const std::string& query) const {
    return master_.url() + "?" + query;
  }
  // Another server has what the replica has, and it follows that from now on.
  static bool follows(test_server& one) {
    return one.command({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
  }

 private:
  test_server master_;
  std::vector<std::unique_ptr<test_server>> replicas_;
};

struct answer_of {
  mortise_status status;
  std::string message;
};

answer_of try_it(const lock_handle& lock) {
  const auto error = new_error();
  const auto status = mortise_lock_try(lock.get(), error.get());
  return {status, mortise_error_message(error.get())};
}

answer_of acquire(const lock_handle& lock, std::int64_t timeout_ms) {
  const auto error = new_error();
  const auto status = mortise_lock_acquire(lock.get(), timeout_ms, error.get());
  return {status, mortise_error_message(error.get())};
}

bool has_lock(test_server& server) { return server.command({"EXISTS", key}) == "1"; }

TEST(acknowledgement, hazard_7_what_was_granted_is_at_the_replica) {
  replicated all;
  const auto client = open_client(all.url("acks=1"));
  for (int i = 0; i < 200; ++i) {
    const auto name = std::to_string(i);
    const auto lock = open_lock(client, name);
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_EQ("1", all.replica().command({"EXISTS", lock_key(name)})) << i;
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
}

TEST(acknowledgement, hazard_7_what_no_replica_has_is_given_back) {
  replicated all;
  const auto client = open_client(all.url("acks=1&command_timeout=1s"));
  const auto lock = open_lock(client, "x");
  all.replica().pause();
  const auto refused = try_it(lock);
  EXPECT_EQ(MORTISE_UNREACHABLE, refused.status);
  EXPECT_NE(refused.message.find("acks: 0 of 1 replicas"), std::string::npos) << refused.message;
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
  EXPECT_TRUE(eventually([&] { return !has_lock(all.master()); }));
  all.replica().resume();
  EXPECT_EQ(MORTISE_OK, acquire(lock, patience_ms).status);
}

TEST(acknowledgement, a_waiter_that_outlasts_the_replicas_absence_gets_the_lock) {
  replicated all;
  const auto client = open_client_patiently(all.url("acks=1&command_timeout=400ms"));
  const auto lock = open_lock(client, "x");
  all.replica().pause();
  const auto queue = open_queue(client);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
  // It is refused several times in between.
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, second_ms));
  all.replica().resume();
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_TRUE(has_lock(all.replica()));
}

TEST(acknowledgement, a_deadline_that_ends_says_which_replicas_are_missing) {
  replicated all;
  const auto client = open_client_patiently(all.url("acks=1&command_timeout=400ms"));
  const auto lock = open_lock(client, "x");
  all.replica().pause();
  const auto refused = acquire(lock, 3 * second_ms);
  EXPECT_EQ(MORTISE_UNREACHABLE, refused.status) << refused.message;
  EXPECT_NE(refused.message.find("acks: 0 of 1 replicas"), std::string::npos) << refused.message;
  EXPECT_TRUE(eventually([&] { return !has_lock(all.master()); }));
}

TEST(acknowledgement, hazard_8_as_many_as_were_asked_for_have_it) {
  replicated all(2);
  const auto both = open_client(all.url("acks=2&command_timeout=1s"));
  const auto one = open_client(all.url("acks=1&command_timeout=1s"));
  const auto of_both = open_lock(both, "x");
  const auto of_one = open_lock(one, "y");
  all.replica(1).pause();
  const auto refused = try_it(of_both);
  EXPECT_EQ(MORTISE_UNREACHABLE, refused.status);
  EXPECT_NE(refused.message.find("acks: 1 of 2 replicas"), std::string::npos) << refused.message;
  EXPECT_EQ(MORTISE_OK, try_it(of_one).status);
}

TEST(acknowledgement, more_than_there_are_is_said) {
  replicated all;
  const auto client = open_client(all.url("acks=3&command_timeout=2s"));
  const auto refused = try_it(open_lock(client, "x"));
  EXPECT_EQ(MORTISE_UNREACHABLE, refused.status);
  EXPECT_NE(refused.message.find("acks: 1 of 3 replicas of"), std::string::npos) << refused.message;
  EXPECT_NE(refused.message.find("1 are online"), std::string::npos) << refused.message;
}

// The connection that is asked has written nothing of its own by then (hazard 9).
TEST(acknowledgement, hazard_9_a_server_that_has_nothing_to_wait_for_says_nothing) {
  replicated all;
  const auto client = open_client_patiently(all.url("acks=1&command_timeout=400ms&lease=2s"));
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  all.replica().pause();
  all.master().command({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 0; }, 4 * second_ms));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
}

// The master still extends a hold that its replica does not receive.
TEST(acknowledgement, hazard_10_a_hold_that_replicas_do_not_hear_of_ends_with_its_lease) {
  replicated all;
  const auto client = open_client_patiently(all.url("acks=1&command_timeout=400ms&lease=3s"));
  const auto lock = open_lock(client, "x");
  const auto queue = open_queue(client);
  mortise_lock_watch(lock.get(), queue.get(), 7, nullptr);
  expect_acquired(lock);
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 4 * second_ms));
  all.replica().pause();
  EXPECT_EQ(MORTISE_EVENT_LOST, next_loss(queue).kind);
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
}

// The network between master and replica swallows everything, the master dies, and the replica
// follows it. A client that required the replica loses nothing.
TEST(acknowledgement, hazard_7_nobody_loses_what_a_partition_has_kept_from_the_replica) {
  test_server master({{"--port", "free", "--repl-diskless-sync-delay", "0"}});
  tcp_proxy between(master.socket_path());
  test_server replica(
      {{"--port", "free", "--replicaof", "127.0.0.1", std::to_string(between.port())}});
  ASSERT_TRUE(eventually([&] { return replicated::follows(replica); }));
  tcp_proxy name(master.socket_path());
  const auto careful = open_client(name.url() + "?acks=1&command_timeout=2s&lease=60s");
  const auto careless = open_client(name.url() + "?lease=60s");
  const auto before = open_lock(careful, "before");
  expect_acquired(before);
  between.control("freeze");
  const auto mine = open_lock(careful, "mine");
  const auto its = open_lock(careless, "its");
  EXPECT_EQ(MORTISE_UNREACHABLE, try_it(mine).status);
  EXPECT_EQ(MORTISE_OK, try_it(its).status);
  master.kill();
  replica.command({"REPLICAOF", "NO", "ONE"});
  name.control("redirect " + replica.socket_path());
  const auto others = open_client(replica.url());
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, try_it(open_lock(others, "before")).status);
  EXPECT_EQ(MORTISE_OK, try_it(open_lock(others, "mine")).status);
  // Not promised: the loss is reported, but only after another client holds the lock.
  EXPECT_EQ(MORTISE_OK, try_it(open_lock(others, "its")).status);
  // No other client has it, and it is not lost. mortise_lock_is_held() is 0 after the client has
  // found a different server without a replica.
  EXPECT_LT(0, mortise_lock_deadline_ns(before.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(before.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, try_it(open_lock(others, "before")).status);
}

TEST(acknowledgement, an_extension_that_replicas_do_not_hear_of_is_none) {
  replicated all;
  const auto client = open_client(all.url("acks=1&command_timeout=2s&renewal=off"));
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  all.replica().pause();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_extend(lock.get(), 60'000, error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 0 of 1"),
            std::string::npos);
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  all.replica().resume();
  EXPECT_TRUE(
      eventually([&] { return mortise_lock_extend(lock.get(), 60'000, nullptr) == MORTISE_OK; }));
}

TEST(acknowledgement, hazard_7_the_lease_of_an_exported_hold_is_at_the_replica) {
  replicated all;
  const auto client = open_client(all.url("acks=1&command_timeout=2s&renewal=off"));
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  all.replica().pause();
  const auto error = new_error();
  EXPECT_FALSE(hold_id_handle(mortise_lock_export(lock.get(), 60'000, error.get())));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 0 of 1"),
            std::string::npos);
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  all.replica().resume();
  hold_id_handle id;
  EXPECT_TRUE(eventually([&] {
    id.reset(mortise_lock_export(lock.get(), 60'000, nullptr));
    return id != nullptr;
  }));
  EXPECT_GT(std::stoll(all.replica().command({"PTTL", key})), 30'000);
}

// The extension before the export takes its time from the same command_timeout.
TEST(acknowledgement, an_export_waits_at_most_command_timeout) {
  replicated all;
  proxy between(all.master().socket_path());
  const auto client = open_client(between.url() + "?acks=1&command_timeout=5s&renewal=off");
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  // Otherwise the server answers that it does not know the script.
  all.master().command({"SCRIPT", "LOAD", std::string(scripts::queued_adopt.text)});
  constexpr int late_ms = 3000;
  between.set_rule([](const fake_command& command) {
    return command.is("EVALSHA") || command.is("EVAL") ? fault::delay(late_ms) : fault::none();
  });
  const auto error = new_error();
  EXPECT_FALSE(hold_id_handle(mortise_lock_export(lock.get(), 60'000, error.get())));
  EXPECT_EQ(MORTISE_UNKNOWN, mortise_error_status(error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("not renewed any longer"),
            std::string::npos);
}

// A waiter that is granted a lock by message asks, because only a reply is acknowledged.
TEST(acknowledgement, hazard_7_a_grant_by_message_is_acknowledged) {
  replicated all;
  const auto holding = open_client(all.url("acks=1"));
  const auto waiting = open_client_patiently(all.url("acks=1&command_timeout=400ms"));
  const auto held = open_lock(holding, "x");
  expect_acquired(held);
  const auto lock = open_lock(waiting, "x");
  const auto queue = open_queue(waiting);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return all.master().command({"LLEN", queue_key("x")}) == "1"; }));
  all.replica().pause();
  expect_released(held);
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, second_ms));
  all.replica().resume();
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
}

// A lock of every kind, taken, prolonged and turned into the other mode.
TEST(acknowledgement, every_kind_is_acknowledged) {
  replicated all;
  const auto client = open_client(all.url("acks=1"));
  const auto rw = open_rw(client, "rw");
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_upgrade(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_downgrade(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_extend(rw.get(), 0, nullptr));
  const auto permits = open_semaphore(client, "permits", 3);
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(permits.get(), 2, patience_ms, nullptr));
  EXPECT_NE("0", all.replica().command({"DBSIZE"}));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_release(permits.get(), nullptr));
}

TEST(acknowledgement, an_upgrade_that_replicas_do_not_hear_of_is_none) {
  replicated all;
  const auto client = open_client(all.url("acks=1&command_timeout=1s&lease=3s"));
  const auto rw = open_rw(client, "rw");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  all.replica().pause();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_rw_upgrade(rw.get(), nullptr));
  all.replica().resume();
  // Others may read, as before.
  const auto other = open_client(all.url(""));
  const auto reader = open_rw(other, "rw");
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(reader.get(), patience_ms, nullptr));
}

// After a failover and back, a server has the data of the other. A replica with these data lacks
// the earlier grants, so it is asked again.
TEST(acknowledgement, hazard_7_data_that_were_replaced_in_between_are_not_acknowledged) {
  replicated all;
  std::atomic<bool> is_replaced{false};
  std::atomic<int> grants{0};
  proxy between(all.master().socket_path(), [&](const fake_command& command) {
    if (command.is("EXEC") || command.is("EVALSHA")) {
      ++grants;
      return is_replaced ? fault::delay(100) : fault::none();  // so that the replica has it by then
    }
    if (!is_replaced || !command.is("INFO") || command.words.at(1) != "replication") {
      return fault::none();
    }
    const std::string text =
        "role:master\r\nslave0:ip=::1,port=1,state=online\r\nmaster_replid:of_another_history\r\n";
    return fault::answer("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  });
  const auto client = open_client(between.url() + "?acks=1");
  const auto lock = open_lock(client, "x");
  is_replaced = true;
  grants = 0;
  EXPECT_EQ(MORTISE_OK, try_it(lock).status);
  EXPECT_EQ(2, grants);
}

// Where the server and the connection that replicas are asked on are not of one run, nothing is
// believed.
TEST(acknowledgement, another_run_of_the_server_does_not_vouch_for_this_one) {
  replicated all;
  std::atomic<int> looks{0};
  proxy between(all.master().socket_path(), [&](const fake_command& command) {
    // The second to connect is the one that replicas are asked on.
    if (!command.is("INFO") || command.words.at(1) != "server" || ++looks != 2) {
      return fault::none();
    }
    const std::string text = "run_id:another\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n";
    return fault::answer("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  });
  const auto client = open_client(between.url() + "?acks=1");
  EXPECT_GT(looks, 2) << "it has begun anew";
  EXPECT_EQ(MORTISE_OK, try_it(open_lock(client, "x")).status);
}

TEST(acknowledgement, a_connection_that_is_cut_is_followed_by_another) {
  replicated all;
  const auto client = open_client(all.url("acks=1"));
  const auto lock = open_lock(client, "x");
  for (int i = 0; i < 5; ++i) {
    all.master().command({"CLIENT", "KILL", "TYPE", "normal"});
    ASSERT_EQ(MORTISE_OK, acquire(lock, patience_ms).status);
    all.master().command({"CLIENT", "KILL", "TYPE", "normal"});
    ASSERT_TRUE(
        eventually([&] { return mortise_lock_extend(lock.get(), 0, nullptr) == MORTISE_OK; }));
    expect_released(lock);
  }
}

// "ERR WAIT cannot be used with replica instances" is permanent there (redisson#4822).
TEST(acknowledgement, hazard_10_a_demoted_server_is_left) {
  replicated all;
  const auto client = open_client(all.url("acks=1&command_timeout=1s"));
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  all.replica().command({"REPLICAOF", "NO", "ONE"});
  all.master().command({"REPLICAOF", "127.0.0.1", std::to_string(all.replica().port())});
  ASSERT_TRUE(eventually([&] { return replicated::follows(all.master()); }));
  const auto refused = try_it(open_lock(client, "y"));
  EXPECT_EQ(MORTISE_REFUSED, refused.status) << refused.message;
  all.master().command({"REPLICAOF", "NO", "ONE"});
  all.replica().command({"REPLICAOF", "127.0.0.1", std::to_string(all.master().port())});
  const auto another = open_lock(client, "y");
  EXPECT_EQ(MORTISE_OK, acquire(another, patience_ms).status);
}

// ---- what has to be fixed ------------------------------------------------------------------

TEST(acknowledgement, all_of_nobody_knows_how_many_are_refused) {
  const test_server server;
  const auto message = problem_of(server.url() + "?acks=all", MORTISE_INVALID_ARGUMENT);
  EXPECT_NE(message.find("acks: all: the replicas of a single server"), std::string::npos)
      << message;
}

TEST(acknowledgement, numbers_out_of_range_are_refused) {
  const test_server server;
  for (const auto* given : {"65", "-1", "many", ""}) {
    const auto message = problem_of(server.url() + "?acks=" + given, MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(message.rfind("acks: ", 0), 0U) << message;
    EXPECT_NE(message.find("\"all\""), std::string::npos) << message;
  }
  const auto text = problem_of(server.url() + "?durability=disk", MORTISE_INVALID_ARGUMENT);
  EXPECT_NE(text.find("memory, fsync"), std::string::npos) << text;
}

TEST(acknowledgement, a_missing_right_to_wait_is_reported) {
  replicated all;
  all.master().command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-wait"});
  const auto text =
      problem_of("redis://app:secret@127.0.0.1:" + std::to_string(all.master().port()) + "?acks=1",
                 MORTISE_REFUSED);
  EXPECT_NE(text.find("+wait"), std::string::npos) << text;
}

TEST(acknowledgement, a_server_that_hides_its_runs_is_refused) {
  replicated all;
  all.master().command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-info"});
  const auto text =
      problem_of("redis://app:secret@127.0.0.1:" + std::to_string(all.master().port()) + "?acks=1",
                 MORTISE_REFUSED);
  EXPECT_NE(text.find("+info"), std::string::npos) << text;
}

// ---- durability -----------------------------------------------------------------------------

bool knows_waitaof(test_server& server) {
  return server.command({"COMMAND", "INFO", "WAITAOF"}).find("waitaof") != std::string::npos;
}

TEST(acknowledgement, durability_is_there_or_refused) {
  test_server without;
  const auto message = problem_of(without.url() + "?durability=fsync", MORTISE_REFUSED);
  EXPECT_EQ(message.rfind("durability: ", 0), 0U) << message;
  EXPECT_NE(message.find("durability=memory"), std::string::npos) << message;
  test_server durable({{"--appendonly", "yes", "--appendfsync", "always"}});
  if (!knows_waitaof(durable)) {
    EXPECT_NE(message.find("Redis 7.2"), std::string::npos) << message;
    return;
  }
  EXPECT_NE(message.find("appendonly yes"), std::string::npos) << message;
  const auto client = open_client(durable.url() + "?durability=fsync");
  const auto lock = open_lock(client, "x");
  expect_acquired(lock);
  const auto token = durable.command({"GET", key});
  durable.kill();
  durable.start();
  EXPECT_EQ(token, durable.command({"GET", key}));
}

}  // namespace
}  // namespace mortise::testing::replica_acknowledgement_test
