// A demoted server stays connected as a replica of the promoted one. Its subscribers receive the
// messages of its master.
#include <gtest/gtest.h>

#include <string>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::replica_test {
namespace {

// What the life of the fence counter is beyond its own, for as long as the server is in its grace
// period.
bool is_settled(test_server& server) {
  return std::stoll(server.command({"PTTL", "mortise:fence"})) <= 7'776'000'000;
}

struct mutex {
  static constexpr const char* queue_key = "{mortise:x}:q";
  lock_handle lock;
  explicit mutex(const client_handle& client) : lock(open_lock(client, "x")) {}
  mortise_status take() { return mortise_lock_try(lock.get(), nullptr); }
  mortise_status extend() { return mortise_lock_extend(lock.get(), 0, nullptr); }
  mortise_status give_back() { return mortise_lock_unlock(lock.get(), nullptr); }
  void wait(mortise_queue* queue) {
    mortise_lock_acquire_async(lock.get(), queue, 1, patience_ms, nullptr);
  }
};

struct semaphore {
  static constexpr const char* queue_key = "{mortise:x}:sq";
  semaphore_handle permits;
  explicit semaphore(const client_handle& client)
      : permits(mortise_semaphore_new(client.get(), "x", 1, 1, nullptr, nullptr)) {}
  mortise_status take() { return mortise_semaphore_try(permits.get(), 1, nullptr); }
  mortise_status extend() { return mortise_semaphore_extend(permits.get(), 0, nullptr); }
  mortise_status give_back() { return mortise_semaphore_release(permits.get(), nullptr); }
  void wait(mortise_queue* queue) {
    mortise_semaphore_acquire_async(permits.get(), queue, 1, 1, patience_ms, nullptr);
  }
};

// A waiter is stopped when its server is demoted, and its turn comes at the promoted server. It has
// no subscription there, so the lock is free and another client takes it. But the replica forwards
// the grant.
template <class Kind>
void a_grant_is_heard_at_a_replica_only() {
  child waiter([](child_end& test) {
    const auto client = open_client(test.receive());
    Kind handle(client);
    const auto queue = open_queue(client);
    handle.wait(queue.get());
    test.send("asked");
    test.send(next_event(queue).status == MORTISE_OK ? "held" : "not held");
    test.receive();
  });
  test_server old({{"--port", "free"}});
  test_server promoted(
      {{"--port", "free", "--replicaof", "127.0.0.1", std::to_string(old.port())}});
  tcp_proxy name(old.socket_path());
  tcp_proxy name_for_holder(old.socket_path());
  const auto holding = open_client(name_for_holder.url() + "?lease=10m");
  Kind held(holding);
  ASSERT_EQ(MORTISE_OK, held.take());
  waiter.send(name.url());
  ASSERT_EQ("asked", waiter.receive());
  const auto waiting = [&] { return promoted.command({"LLEN", Kind::queue_key}); };
  ASSERT_TRUE(eventually([&] { return waiting() == "1"; }));
  waiter.pause();
  promoted.command({"REPLICAOF", "NO", "ONE"});
  old.command({"REPLICAOF", "127.0.0.1", std::to_string(promoted.port())});
  for (auto* network : {&name, &name_for_holder}) {
    network->control("redirect " + promoted.socket_path());
  }
  name_for_holder.control("cut");
  ASSERT_TRUE(eventually([&] { return held.extend() == MORTISE_OK; }));
  ASSERT_TRUE(eventually([&] { return is_settled(promoted); }));
  ASSERT_EQ(MORTISE_OK, held.give_back());
  const auto newcomer = open_client(promoted.url());
  Kind taken(newcomer);
  ASSERT_EQ(MORTISE_OK, taken.take());
  name.control("cut");
  waiter.resume();
  EXPECT_TRUE(eventually([&] { return waiting() == "1" || waiter.has_line(); }));
  ASSERT_FALSE(waiter.has_line()) << "two hold it: " << waiter.receive();
  EXPECT_EQ(MORTISE_OK, taken.give_back());
  EXPECT_EQ("held", waiter.receive());
  waiter.send("enough");
}

TEST(safety, hazard_10_a_grant_that_is_heard_at_a_replica_only_is_none) {
  a_grant_is_heard_at_a_replica_only<mutex>();
}

TEST(safety, hazard_10_permits_that_are_granted_where_a_replica_is_heard_only_are_none) {
  a_grant_is_heard_at_a_replica_only<semaphore>();
}

}  // namespace
}  // namespace mortise::testing::replica_test
