// Memory that runs out in what looks, lives and ends: queries, the sign of life, frees and
// shutdowns.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "safety/scarce_memory.hpp"
#include "support/clock_shim.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::memory_ending_test {
namespace {

struct free_multi {
  void operator()(mortise_multi* handle) const { mortise_multi_free(handle); }
};
using multi_handle = std::unique_ptr<mortise_multi, free_multi>;

TEST(memory_of_a_look, is_reported_or_not_needed) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=20s&label=somebody");
  const auto lock = open_lock(client, "looked at");
  const auto semaphore = open_semaphore(client, "resized", 3);
  const info_handle info(mortise_info_new());
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto check = [&](mortise_status status, scarcity& memory) {
    memory.end();
    const bool is_excused = status == MORTISE_NO_MEMORY || status == MORTISE_UNKNOWN;
    EXPECT_TRUE(status == MORTISE_OK || (is_excused && scarcity::failures() > 0))
        << status_name(status);
  };
  int failures = sweep(whose::both, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    memory.begin();
    check(mortise_lock_query(lock.get(), info.get(), nullptr), memory);
  });
  failures += sweep(whose::both, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    memory.begin();
    check(mortise_semaphore_resize(semaphore.get(), 4, nullptr), memory);
  });
  failures += sweep(whose::both, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    memory.begin();
    check(mortise_client_ping(client.get(), nullptr), memory);
  });
  EXPECT_GT(failures, 5);
  ASSERT_TRUE(answers(client));
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
  EXPECT_EQ(1, mortise_info_is_mine(info.get()));
  EXPECT_EQ(1, mortise_info_holder_count(info.get()));
}

// A client without memory for an answer is asked again.
TEST(memory_of_a_history, is_there_at_the_next_request) {
  test_server server;
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "x");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  const auto history = [&] {
    return std::shared_ptr<mortise_listing>(
        mortise_client_list_history(client.get(), "x", 1, 600'000, patience_ms, nullptr),
        mortise_listing_free);
  };
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    memory.begin();
    const auto taken = history();
    memory.end();
    ASSERT_TRUE(taken || scarcity::failures() > 0);
    if (taken) {
      EXPECT_EQ(2, mortise_listing_count(taken.get()));
    }
  });
  EXPECT_GT(failures, 5);
  ASSERT_TRUE(answers(client));
  EXPECT_EQ(2, mortise_listing_count(history().get()));
}

// The client's sign of life lapses after 60 s and is given every 20 s.
TEST(memory_of_a_heartbeat, is_there_from_the_beginning) {
  test_server server;
  const auto child = fork();
  if (child == 0) {
    const auto client = open_client(server.url());
    const auto queue = open_queue(client);
    const auto lock = open_lock(client, "alive");
    const auto look = [&] {
      // A timer that is near, because the kernel's do not jump with the clock.
      if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK) _exit(2);
      mortise_lock_acquire_async(lock.get(), queue.get(), 1, 50, nullptr);
      next_event(queue, 200);
      mortise_lock_unlock(lock.get(), nullptr);
    };
    look();
    scarcity memory(whose::library);
    memory.begin();
    shift_clock(CLOCK_BOOTTIME, 25 * ns_per_s);
    look();
    memory.end();
    mortise_lock_unlock(lock.get(), nullptr);
    _exit(answers(client) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status)) << "by signal " << WTERMSIG(status);
  EXPECT_EQ(0, WEXITSTATUS(status));
}

// ---- ends ------------------------------------------------------------------------------------

class memory_of_an_end : public ::testing::Test {
 protected:
  // A client in the middle of everything.
  struct busy_client {
    busy_client(test_server& server, int round)
        : label("round" + std::to_string(round)),
          client(open_client(server.url() + "?lease=1s&label=" + label)),
          queue(open_queue(client)),
          held(open_lock(client, "held")),
          waits(open_lock(client, "taken")),
          member(open_lock(client, "member")),
          taken(open_rw(client, "taken rw")),
          multi(mortise_multi_new(client.get(), nullptr)) {
      mortise_multi_add_lock(multi.get(), member.get(), nullptr);
      mortise_multi_add_writer(multi.get(), taken.get(), nullptr);
      mortise_lock_watch(held.get(), queue.get(), 9, nullptr);
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(held.get(), patience_ms, nullptr));
      EXPECT_EQ(MORTISE_OK,
                mortise_lock_acquire_async(waits.get(), queue.get(), 1, patience_ms, nullptr));
      EXPECT_EQ(MORTISE_OK,
                mortise_multi_acquire_async(multi.get(), queue.get(), 2, patience_ms, nullptr));
      // What an earlier one could not take back is there as well.
      const auto waits_in = [&](const std::string& queue_of) {
        return server.command({"LRANGE", queue_of, "0", "-1"}).find(label) != std::string::npos;
      };
      EXPECT_TRUE(eventually(
          [&] { return waits_in(queue_key("taken")) && waits_in(lock_key("taken rw") + ":rq"); }));
    }
    // Each wait has ended once, with this.
    void expect_ends(mortise_status status) {
      int ends = 0;
      while (ends < 2) {
        const auto seen = next_event(queue);
        ASSERT_NE(MORTISE_EVENT_NONE, seen.kind);
        if (seen.kind != MORTISE_EVENT_ACQUIRED) continue;
        EXPECT_EQ(status, seen.status) << status_name(seen.status);
        ++ends;
      }
    }

    std::string label;
    client_handle client;
    queue_handle queue;
    lock_handle held;
    lock_handle waits;
    lock_handle member;
    rw_handle taken;
    multi_handle multi;
  };

  memory_of_an_end() {
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(taken_.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(taken_rw_.get(), patience_ms, nullptr));
  }
  // What was held or waited for is given back, at the latest by its lease.
  void expect_nothing_left() {
    EXPECT_TRUE(eventually([&] {
      return server_.command({"EXISTS", lock_key("held"), lock_key("member")}) == "0";
    }));
  }

  test_server server_;
  client_handle other_ = open_client(server_.url() + "?lease=20s");
  lock_handle taken_ = open_lock(other_, "taken");
  rw_handle taken_rw_ = open_rw(other_, "taken rw");
};

TEST_F(memory_of_an_end, of_a_client) {
  for (const int after : {0, 1, 3, 8}) {
    busy_client busy(server_, after);
    scarcity memory(whose::both, after);
    memory.begin();
    mortise_client_free(busy.client.release());
    memory.end();
    busy.expect_ends(MORTISE_CLOSED);
    EXPECT_EQ(0, mortise_lock_is_held(busy.held.get()));
    expect_nothing_left();
  }
}

TEST_F(memory_of_an_end, of_its_handles) {
  for (const int after : {0, 1, 2, 3, 5, 8, 13}) {
    busy_client busy(server_, after);
    scarcity memory(whose::both, after);
    memory.begin();
    mortise_lock_free(busy.waits.release());
    mortise_multi_free(busy.multi.release());
    mortise_lock_free(busy.held.release());
    memory.end();
    busy.expect_ends(MORTISE_CLOSED);
    ASSERT_TRUE(answers(busy.client));
    expect_nothing_left();
  }
}

TEST_F(memory_of_an_end, of_a_queue_that_is_shut_down) {
  for (const int after : {0, 1, 2, 3, 5, 8, 13}) {
    busy_client busy(server_, after);
    scarcity memory(whose::both, after);
    memory.begin();
    mortise_queue_shutdown(busy.queue.get());
    memory.end();
    busy.expect_ends(MORTISE_CANCELLED);
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(busy.held.get(), nullptr));
    expect_nothing_left();
  }
}

TEST_F(memory_of_an_end, of_a_queue_that_is_freed_unread) {
  for (const int after : {0, 1, 2, 3, 5, 8, 13}) {
    busy_client busy(server_, after);
    const auto free = open_lock(busy.client, "free");
    for (int tag = 10; tag < 20; ++tag)
      mortise_lock_try_async(free.get(), busy.queue.get(), tag, nullptr);
    scarcity memory(whose::both, after);
    memory.begin();
    mortise_queue_free(busy.queue.release());
    memory.end();
    mortise_lock_free(busy.held.release());
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace mortise::testing::memory_ending_test
