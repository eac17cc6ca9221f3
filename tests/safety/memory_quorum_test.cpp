// Memory that runs out in a round of votes, a release or a renewal. The call ends with a true
// result, and no vote stays at a server.
#include <gtest/gtest.h>

#include <string>

#include "integration/redlock/quorum_fixture.hpp"
#include "safety/scarce_memory.hpp"

namespace mortise::testing::memory_quorum_test {
namespace {

class memory_of_a_quorum : public quorum {
 protected:
  void open(const std::string& query) {
    start(3);
    client = open_client_patiently(url("quarantine=0&command_timeout=400ms&" + query));
    bystander = open_client(servers[0]->url());
    queue = open_queue(bystander);
    lock = open_lock(client, name);
  }
  // What it may come to that memory has failed: never that another has it.
  static bool is_honest(mortise_status status) {
    if (status == MORTISE_OK) return true;
    const bool is_excused =
        status == MORTISE_NO_MEMORY || status == MORTISE_UNREACHABLE || status == MORTISE_UNKNOWN;
    return is_excused && scarcity::failures() > 0;
  }
  // No server has a vote long before a lease would end, and the handle works as ever.
  void expect_recovery() {
    ASSERT_TRUE(eventually([&] { return is_free(); }));
    expect_acquired(lock);
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    ASSERT_TRUE(eventually([&] { return is_free(); }));
  }

  // A connection that has nothing to do gives its memory back, and then needs some again.
  void let_idle() { ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue, 130).kind); }

  client_handle client;
  client_handle bystander;
  queue_handle queue;  // of another client: a caller that waits at it reads no reply of this client
  lock_handle lock;
};

TEST_F(memory_of_a_quorum, that_is_won_and_released) {
  open("lease=60s");
  for (const auto subject : {whose::caller, whose::library}) {
    const int failures = sweep(subject, [&](scarcity& memory) {
      let_idle();
      memory.begin();
      const auto got = mortise_lock_acquire(lock.get(), 5 * second_ms, nullptr);
      EXPECT_TRUE(is_honest(got)) << status_name(got);
      EXPECT_EQ(got == MORTISE_OK ? 1 : 0, mortise_lock_is_held(lock.get()));
      auto released = got == MORTISE_OK ? mortise_lock_unlock(lock.get(), nullptr) : MORTISE_OK;
      memory.end();
      EXPECT_TRUE(is_honest(released)) << status_name(released);
      if (mortise_lock_is_held(lock.get()) == 1) mortise_lock_unlock(lock.get(), nullptr);
      expect_recovery();
    });
    EXPECT_GT(failures, 0);
  }
}

// Two servers have another's votes, so that of the third has to be given back.
TEST_F(memory_of_a_quorum, that_another_has) {
  open("lease=60s");
  for (const auto subject : {whose::caller, whose::library}) {
    sweep(subject, [&](scarcity& memory) {
      for (const std::size_t of : {0U, 1U}) {
        servers[of]->command({"SET", lock_key(name), "theirs", "PX", "60000"});
      }
      let_idle();
      let_idle();
      memory.begin();
      const auto got = mortise_lock_acquire(lock.get(), 50, nullptr);
      memory.end();
      // On a slow machine the time is over before all have answered.
      const bool is_late = got == MORTISE_TIMED_OUT || got == MORTISE_UNKNOWN;
      EXPECT_TRUE(is_late || (got != MORTISE_OK && is_honest(got))) << status_name(got);
      EXPECT_TRUE(eventually([&] { return is_free_at(2); }));
      for (const std::size_t of : {0U, 1U}) {
        EXPECT_EQ("theirs", owner_at(of));
        servers[of]->command({"DEL", lock_key(name)});
      }
      expect_recovery();
    });
  }
}

// One server has forgotten its vote and is asked for it again.
TEST_F(memory_of_a_quorum, that_is_prolonged_and_topped_up) {
  // Long enough that a slow machine renews in time.
  open("lease=1800ms");
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    expect_acquired(lock);
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 7, nullptr));
    ASSERT_TRUE(eventually([&] { return !is_free_at(2); }));
    servers[2]->command({"DEL", lock_key(name)});
    memory.begin();
    const bool is_settled = eventually([&] {
      const bool is_topped_up = owner_at(2) == owner_at(1) && !is_free_at(1);
      return is_topped_up || mortise_lock_is_held(lock.get()) == 0;
    });
    memory.end();
    ASSERT_TRUE(is_settled);
    if (mortise_lock_is_held(lock.get()) == 1) {
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    } else {
      // On a slow machine the failed try may have been the last.
      EXPECT_EQ(7, next_loss(queue).tag);
      EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
    }
    expect_recovery();
    EXPECT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), nullptr, 0, nullptr));
  });
  EXPECT_GT(failures, 5);
}

TEST_F(memory_of_a_quorum, that_is_waited_for) {
  open("lease=60s");
  const auto rival = open_client(url("quarantine=0&lease=60s"));
  const auto held = open_lock(rival, name);
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    expect_acquired(held);
    const auto begin = boot_now();
    memory.begin();
    ASSERT_EQ(MORTISE_OK,
              mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
    ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue, 100).kind);
    mortise_lock_unlock(held.get(), nullptr);
    const auto seen = next_event(queue);
    memory.end();
    EXPECT_EQ(MORTISE_EVENT_ACQUIRED, seen.kind);
    EXPECT_TRUE(is_honest(seen.status)) << status_name(seen.status);
    EXPECT_LT(ms_since(begin), 10 * second_ms) << "and not only when the lease would be over";
    if (seen.status == MORTISE_OK) {
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
    }
    mortise_lock_unlock(held.get(), nullptr);
    expect_recovery();
  });
  EXPECT_GT(failures, 5);
}

}  // namespace
}  // namespace mortise::testing::memory_quorum_test
