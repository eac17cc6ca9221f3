// Memory that runs out in the middle of a call. The call reports it, or ends without an effect, and
// nothing of it stays anywhere.
#include <gtest/gtest.h>

#include "safety/scarce_memory.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::memory_test {
namespace {

struct free_multi {
  void operator()(mortise_multi* handle) const { mortise_multi_free(handle); }
};
using multi_handle = std::unique_ptr<mortise_multi, free_multi>;

class memory_test : public ::testing::Test {
 protected:
  memory_test()
      : client_(open_client(server_.url() + "?lease=60s")),
        queue_(open_queue(client_)),
        lock_(open_lock(client_, "one")),
        other_(open_lock(client_, "two")),
        rw_(open_rw(client_, "rw")),
        multi_(mortise_multi_new(client_.get(), nullptr)) {
    mortise_multi_add_lock(multi_.get(), lock_.get(), nullptr);
    mortise_multi_add_lock(multi_.get(), other_.get(), nullptr);
    mortise_multi_add_writer(multi_.get(), rw_.get(), nullptr);
  }

  // What became of a call whose allocation number `after` has failed, by its event if it was
  // accepted; OK when it needed fewer.
  template <class Call>
  mortise_status ends(int after, const Call& call) {
    scarcity memory(whose::caller, after, 1);
    memory.begin();
    const mortise_status accepted = call();
    memory.end();
    has_failed_ = scarcity::failures() > 0;
    const auto status = accepted == MORTISE_OK ? next_event(queue_).status : accepted;
    EXPECT_TRUE(status == MORTISE_OK || (has_failed_ && status == MORTISE_NO_MEMORY))
        << status_name(status);
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 0).kind);  // one end, and no more
    return status;
  }
  bool is_free() {
    return eventually([&] {
      return server_.command({"EXISTS", lock_key("one"), lock_key("two"), lock_key("rw")}) == "0";
    });
  }

  test_server server_;
  client_handle client_;
  queue_handle queue_;
  lock_handle lock_;
  lock_handle other_;
  rw_handle rw_;
  multi_handle multi_;
  bool has_failed_ = true;
};

TEST_F(memory_test, of_an_acquire) {
  for (int after = 0; has_failed_; ++after) {
    const auto got = ends(after, [&] {
      return mortise_lock_acquire_async(lock_.get(), queue_.get(), 1, patience_ms, nullptr);
    });
    EXPECT_EQ(got == MORTISE_OK ? 1 : 0, mortise_lock_is_held(lock_.get()));
    if (got == MORTISE_OK) mortise_lock_unlock(lock_.get(), nullptr);
    ASSERT_TRUE(is_free()) << after;
  }
}

// An event that cannot be allocated is dropped and counted, and the acquire does not notice.
TEST_F(memory_test, of_the_events_of_an_acquire) {
  const queue_handle events(mortise_queue_new(client_.get(), 0, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_client_watch_locks(client_.get(), events.get(), 2, nullptr));
  for (int after = 0; has_failed_; ++after) {
    const auto got = ends(after, [&] {
      return mortise_lock_acquire_async(lock_.get(), queue_.get(), 1, patience_ms, nullptr);
    });
    EXPECT_EQ(got == MORTISE_OK ? 1 : 0, mortise_lock_is_held(lock_.get()));
    if (got == MORTISE_OK) mortise_lock_unlock(lock_.get(), nullptr);
    ASSERT_TRUE(is_free()) << after;
  }
  const event_handle event(mortise_event_new());
  std::int64_t reported = 0;
  std::int64_t dropped = 0;
  while (mortise_queue_next(events.get(), 0, event.get(), nullptr) == MORTISE_OK) {
    ++reported;
    dropped += mortise_event_dropped_records(event.get());
  }
  EXPECT_GT(reported, 0);
  EXPECT_GT(dropped, 0);
}

TEST_F(memory_test, of_an_unlock_and_an_extension) {
  for (int after = 0; has_failed_; ++after) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    ends(after,
         [&] { return mortise_lock_extend_async(lock_.get(), queue_.get(), 1, 0, nullptr); });
    const bool is_extended = !has_failed_;
    const auto got = ends(
        after, [&] { return mortise_lock_unlock_async(lock_.get(), queue_.get(), 1, nullptr); });
    if (got != MORTISE_OK) {
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr)) << after;
    }
    has_failed_ = has_failed_ || !is_extended;
    ASSERT_TRUE(is_free()) << after;
  }
}

// An idle connection has given its memory back, and needs some again to send.
TEST_F(memory_test, of_an_extension_on_an_idle_connection) {
  const auto client = open_client_patiently(server_.url() + "?lease=60s&command_timeout=400ms");
  const auto lock = open_lock(client, "idle");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  // Twice, because what the gate needs it keeps.
  int failures = 0;
  for (int round = 0; round < 2; ++round) {
    has_failed_ = true;
    for (int after = 0; has_failed_; ++after) {
      ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 150).kind);
      ends(after,
           [&] { return mortise_lock_extend_async(lock.get(), queue_.get(), 1, 0, nullptr); });
      failures += scarcity::failures();
    }
  }
  EXPECT_GT(failures, 2);
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
}

TEST_F(memory_test, of_a_new_handle) {
  const auto error = new_error();
  const auto check = [&](const auto& made, scarcity& memory) {
    memory.end();
    const auto status = made ? MORTISE_OK : mortise_error_status(error.get());
    EXPECT_EQ(scarcity::failures() > 0 ? MORTISE_NO_MEMORY : MORTISE_OK, status)
        << status_name(status);
  };
  sweep(whose::caller, [&](scarcity& memory) {
    memory.begin();
    const lock_handle made(mortise_lock_new(client_.get(), "new", 3, nullptr, error.get()));
    check(made, memory);
  });
  sweep(whose::caller, [&](scarcity& memory) {
    memory.begin();
    const rw_handle made(mortise_rw_new(client_.get(), "new", 3, nullptr, error.get()));
    check(made, memory);
  });
  sweep(whose::caller, [&](scarcity& memory) {
    memory.begin();
    const queue_handle made(mortise_queue_new(client_.get(), 0, error.get()));
    check(made, memory);
  });
  sweep(whose::caller, [&](scarcity& memory) {
    memory.begin();
    const multi_handle made(mortise_multi_new(client_.get(), error.get()));
    check(made, memory);
  });
}

TEST_F(memory_test, of_an_upgrade_and_a_downgrade) {
  for (int after = 0; has_failed_; ++after) {
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw_.get(), patience_ms, nullptr));
    const auto got =
        ends(after, [&] { return mortise_rw_upgrade_async(rw_.get(), queue_.get(), 1, nullptr); });
    EXPECT_EQ(got == MORTISE_OK ? 1 : 0, mortise_rw_is_writing(rw_.get()));
    const bool is_upgraded = !has_failed_;
    if (got == MORTISE_OK) {
      ends(after, [&] { return mortise_rw_downgrade_async(rw_.get(), queue_.get(), 1, nullptr); });
    }
    const auto unlocked = mortise_rw_is_writing(rw_.get()) == 1
                              ? mortise_rw_write_unlock(rw_.get(), nullptr)
                              : mortise_rw_read_unlock(rw_.get(), nullptr);
    EXPECT_EQ(MORTISE_OK, unlocked) << after;
    has_failed_ = has_failed_ || !is_upgraded;
    ASSERT_TRUE(is_free()) << after;
  }
}

TEST_F(memory_test, of_a_multi) {
  for (int after = 0; has_failed_; ++after) {
    const auto got = ends(after, [&] {
      return mortise_multi_acquire_async(multi_.get(), queue_.get(), 1, patience_ms, nullptr);
    });
    EXPECT_EQ(got == MORTISE_OK ? 1 : 0, mortise_multi_is_held(multi_.get()));
    if (got == MORTISE_OK) mortise_multi_unlock(multi_.get(), nullptr);
    ASSERT_TRUE(is_free()) << after;
  }
  has_failed_ = true;
  for (int after = 0; has_failed_; ++after) {
    ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi_.get(), patience_ms, nullptr));
    ends(after, [&] { return mortise_multi_unlock_async(multi_.get(), queue_.get(), 1, nullptr); });
    mortise_multi_unlock(multi_.get(), nullptr);  // if the first was not accepted
    ASSERT_TRUE(is_free()) << after;
  }
}

}  // namespace
}  // namespace mortise::testing::memory_test
