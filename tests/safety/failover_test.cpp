// Hazards of a name whose server changes: real servers, one the other's replica, and a name that
// the system's resolver knows.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/changing_name.hpp"
#include "support/deaf_port.hpp"
#include "support/handles.hpp"
#include "support/obstacle.hpp"
#include "support/server.hpp"

namespace mortise::testing::failover_test {
namespace {

class failover : public ::testing::Test {
 protected:
  failover() {
    if (!changing_name::obstacle().empty()) return;
    follow(second_, first_address);
    name_.lead_to({first_address});
  }
  void SetUp() override { MORTISE_SKIP_FOR(changing_name::obstacle()); }
  [[nodiscard]] std::string url(const std::string& query = "") const {
    return "redis://" + name_.text() + ":" + port_ + "?lease=60s" + query;
  }
  void follow(test_server& replica, const char* master) {
    replica.command({"REPLICAOF", master, port_});
    ASSERT_TRUE(eventually([&] {
      return replica.command({"INFO", "replication"}).find("master_link_status:up") !=
             std::string::npos;
    }));
  }
  // Both have the same now.
  // By what comes last: WAIT counts only what its own connection has written.
  void replicate() { replicate(first_, second_); }
  static void replicate(test_server& from, test_server& to) {
    const auto mark = from.command({"INCR", "replicated"});
    ASSERT_TRUE(eventually([&] { return to.command({"GET", "replicated"}) == mark; }));
  }
  // The second is the master, and the first its replica.
  void switch_over() {
    ASSERT_EQ("OK", second_.command({"REPLICAOF", "NO", "ONE"}));
    follow(first_, second_address);
  }
  // The id of the connection that is subscribed.
  [[nodiscard]] static std::string listeners_at(test_server& server) {
    const auto all = server.command({"CLIENT", "LIST", "TYPE", "pubsub"});
    return all.substr(0, all.find(' '));
  }

  static constexpr const char* first_address = "127.0.0.1";
  static constexpr const char* second_address = "127.0.0.2";
  test_server first_{{.arguments = {"--port", "free", "--repl-diskless-sync-delay", "0"}}};
  const std::string port_ = std::to_string(first_.port());
  test_server second_{{.arguments = {"--bind", second_address, "--port", port_,
                                     "--repl-diskless-sync-delay", "0"}}};
  changing_name name_;
};

TEST_F(failover, hazard_10_a_demoted_master_is_left_by_every_call_without_an_error) {
  const auto client = open_client(url("&command_timeout=20s"));
  const auto idle = open_lock(client, "idle");
  const auto held = open_lock(client, "held");
  const auto tried = open_lock(client, "tried");
  const auto rw = open_rw(client, "rw");
  const auto semaphore = open_semaphore(client, "permits", 2);
  const info_handle info(mortise_info_new());
  const auto error = new_error();
  const auto calls = {
      std::function([&] { return mortise_lock_extend(held.get(), 0, error.get()); }),
      std::function([&] { return mortise_lock_try(tried.get(), error.get()); }),
      std::function([&] { return mortise_lock_acquire(idle.get(), patience_ms, error.get()); }),
      std::function([&] { return mortise_lock_query(held.get(), info.get(), error.get()); }),
      std::function([&] { return mortise_client_ping(client.get(), error.get()); }),
      std::function([&] { return mortise_rw_upgrade(rw.get(), error.get()); }),
      std::function([&] { return mortise_rw_downgrade(rw.get(), error.get()); }),
      std::function([&] { return mortise_semaphore_resize(semaphore.get(), 3, error.get()); }),
      std::function([&] { return mortise_lock_unlock(held.get(), error.get()); }),
  };
  // Each is the first to meet the replica that its server has become, and the name follows later.
  bool is_first_master = true;
  for (const auto& call : calls) {
    ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
    for (auto* const lock : {held.get(), idle.get(), tried.get()}) {
      if (mortise_lock_is_held(lock) == (lock == held.get() ? 0 : 1)) {
        ASSERT_EQ(MORTISE_OK, lock == held.get() ? mortise_lock_acquire(lock, patience_ms, nullptr)
                                                 : mortise_lock_unlock(lock, nullptr));
      }
    }
    if (mortise_rw_is_reading(rw.get()) == 0 && mortise_rw_is_writing(rw.get()) == 0) {
      ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
    }
    auto& from = is_first_master ? first_ : second_;
    auto& to = is_first_master ? second_ : first_;
    const auto* const address = is_first_master ? second_address : first_address;
    replicate(from, to);
    ASSERT_EQ("OK", to.command({"REPLICAOF", "NO", "ONE"}));
    follow(from, address);
    std::thread later([&] {
      // The call has met the replica when it looks for another, or was no write.
      eventually(
          [&] {
            return from.command({"INFO", "errorstats"}).find("READONLY") != std::string::npos;
          },
          200);
      name_.lead_to({address});
    });
    EXPECT_EQ(MORTISE_OK, call()) << mortise_error_message(error.get());
    later.join();
    from.command({"CONFIG", "RESETSTAT"});
    is_first_master = !is_first_master;
  }
}

TEST_F(failover, hazard_14_a_hold_is_renewed_where_it_is_known_and_lost_where_it_is_not) {
  const auto client = open_client(url());
  const auto known = open_lock(client, "known");
  const auto unknown = open_lock(client, "unknown");
  const auto queue = open_queue(client);
  for (auto* const lock : {known.get(), unknown.get()}) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock, queue.get(), 7, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, nullptr));
  }
  replicate();
  ASSERT_EQ("OK", second_.command({"REPLICAOF", "NO", "ONE"}));
  ASSERT_EQ("1", second_.command({"DEL", lock_key("unknown")}));  // as if it had come too late
  follow(first_, second_address);
  name_.lead_to({second_address});
  const auto token = mortise_lock_token(known.get());
  const auto next = open_lock(client, "next");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr));
  EXPECT_GT(mortise_lock_token(next.get()), token);
  const auto lost = next_loss(queue);
  EXPECT_EQ(MORTISE_EVENT_LOST, lost.kind);
  EXPECT_EQ(0, mortise_lock_is_held(unknown.get()));
  EXPECT_EQ(1, mortise_lock_is_held(known.get()));
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(unknown.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(known.get(), nullptr));
  EXPECT_EQ("0", second_.command({"EXISTS", lock_key("known")}));
}

TEST_F(failover, hazard_26_waiters_and_holders_outlive_a_dead_master) {
  const auto client = open_client(url("&command_timeout=20s"));
  const auto other = open_client(url());
  const auto holder = open_lock(client, "dead");
  const auto waiter = open_lock(other, "dead");
  const auto queue = open_queue(other);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waiter.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return first_.command({"LLEN", queue_key("dead")}) == "1"; }));
  replicate();
  first_.kill();
  ASSERT_EQ("OK", second_.command({"REPLICAOF", "NO", "ONE"}));
  name_.lead_to({second_address});
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  const auto granted = next_event(queue);
  EXPECT_EQ(MORTISE_OK, granted.status);
  EXPECT_GT(granted.token, mortise_lock_token(holder.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
}

// It is silent for 20 s before it is given up, and the call has 15 s.
TEST_F(failover, hazard_10_a_silent_master_is_left_when_the_name_leads_to_another) {
  const auto client = open_client(url("&command_timeout=20s"));
  const auto lock = open_lock(client, "silent");
  replicate();
  first_.pause();
  ASSERT_EQ("OK", second_.command({"REPLICAOF", "NO", "ONE"}));
  name_.lead_to({second_address});
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), 15 * second_ms, error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ("1", second_.command({"EXISTS", lock_key("silent")}));
  first_.resume();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

TEST_F(failover, a_slow_master_is_not_left_while_the_name_lists_it) {
  name_.lead_to({second_address, first_address});
  const auto client = open_client(url("&command_timeout=10s"));
  const auto lock = open_lock(client, "slow");
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  const auto before = listeners_at(first_);
  std::atomic<mortise_status> status{MORTISE_BUSY};
  first_.pause();
  std::thread call([&] { status = mortise_lock_acquire(lock.get(), patience_ms, nullptr); });
  // Past the first look-up, which comes after a third of the time, give or take two eighths.
  EXPECT_TRUE(always([&] { return status == MORTISE_BUSY; }, 7 * second_ms));
  first_.resume();
  call.join();
  EXPECT_EQ(MORTISE_OK, status);
  EXPECT_EQ(listeners_at(first_), before) << "the connection was left";
}

// The system sorts them, 127.0.0.1 first: it is the master's, then the replica's.
TEST_F(failover, hazard_10_of_several_addresses_the_masters_is_found) {
  name_.lead_to({first_address, second_address});
  for (auto* const master : {&first_, &second_}) {
    if (master == &second_) switch_over();
    const auto client = open_client(url());
    const auto lock = open_lock(client, "several");
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    EXPECT_EQ("1", master->command({"EXISTS", lock_key("several")}));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
  // An address without a server costs nothing either.
  name_.lead_to({"127.0.0.3", second_address});
  EXPECT_TRUE(answers(open_client(url())));
}

TEST_F(failover, hazard_10_a_client_opens_on_a_replica_that_is_promoted) {
  name_.lead_to({second_address});
  std::thread promotion([&] {
    EXPECT_TRUE(eventually([&] {
      return second_.command({"INFO", "commandstats"}).find("cmdstat_hello") != std::string::npos;
    }));
    second_.command({"REPLICAOF", "NO", "ONE"});
  });
  const auto client = open_client(url("&command_timeout=20s"));
  promotion.join();
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
}

TEST_F(failover, hazard_28_a_server_that_loads_its_data_is_waited_for) {
  // It answers after each two MiB.
  test_server server(
      {.arguments = {"--port", "free", "--key-load-delay", "50000", "--rdbcompression", "no"}});
  constexpr std::size_t key_bytes = std::size_t{256} * 1024;
  const auto client = open_client(server.tcp_url() + "?command_timeout=20s");
  for (int i = 0; i < 20; ++i) {
    server.command({"SET", "key" + std::to_string(i), std::string(key_bytes, 'x')});
  }
  ASSERT_EQ("OK", server.command({"SAVE"}));
  server.kill();
  std::thread start([&] { server.start(); });
  const auto lock = open_lock(client, "loading");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), error.get()))
      << mortise_error_message(error.get());
  start.join();
  EXPECT_NE(server.command({"INFO", "errorstats"}).find("LOADING"), std::string::npos)
      << "it was never asked while it loaded";
}

TEST_F(failover, a_call_that_ends_before_the_fault_names_both_servers) {
  const auto client = open_client(url("&command_timeout=1s"));
  const auto lock = open_lock(client, "message");
  const auto error = new_error();
  // On a slow host a call may end before the client has seen what was changed.
  const auto check = [&](mortise_status expected, const std::string& text, auto call) {
    EXPECT_TRUE(eventually([&] {
      return call() == expected &&
             std::string(mortise_error_message(error.get())).find(text) != std::string::npos;
    })) << mortise_error_message(error.get())
        << "\nwithout " << text;
    EXPECT_EQ(1, mortise_error_is_retryable(error.get()));
    EXPECT_EQ(0, mortise_error_is_ambiguous(error.get()));
  };
  const auto attempt = [&] { return mortise_lock_try(lock.get(), error.get()); };
  const auto server = name_.text() + ":" + port_;
  first_.command({"REPLICAOF", second_address, port_});  // and no server is a master
  check(MORTISE_REFUSED, server + " (127.0.0.1:" + port_ + "): this is a read-only replica",
        attempt);
  name_.lead_to({second_address});
  check(MORTISE_REFUSED,
        server + " moved from 127.0.0.1:" + port_ + " (a replica now) to 127.0.0.2:" + port_ +
            ": this is a read-only replica",
        attempt);
  name_.lead_to({"127.0.0.3"});
  check(MORTISE_UNREACHABLE,
        server + " was 127.0.0.1:" + port_ + " (a replica now): cannot connect to 127.0.0.3:", [&] {
          return mortise_client_ping(client.get(), error.get());
        });
}

// Whichever of the two comes first; what hangs would cost half of the 40 s.
TEST(a_name_of_two_addresses, hazard_26_one_that_hangs_does_not_keep_out_the_other) {
  MORTISE_SKIP_FOR(changing_name::obstacle());
  constexpr const char* deaf_address = "127.0.0.1";
  constexpr const char* address = "127.0.0.2";
  const deaf_port deaf;
  const auto port = std::to_string(deaf.port());
  test_server server({.arguments = {"--bind", address, "--port", port}});
  changing_name name;
  for (const auto& order : {std::vector{deaf_address, address}, {address, deaf_address}}) {
    name.lead_to({order[0], order[1]});
    const auto begin = boot_now();
    const auto client = open_client("redis://" + name.text() + ":" + port + "?command_timeout=40s");
    const auto lock = open_lock(client, "k");
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    server.command({"CLIENT", "KILL", "TYPE", "normal"});  // and it connects again
    EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    EXPECT_LT(boot_now() - begin, 10 * ns_per_s);
  }
}

}  // namespace
}  // namespace mortise::testing::failover_test
