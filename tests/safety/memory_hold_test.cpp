// Memory that runs out during a hold or a wait. The hold continues or is reported as lost, the wait
// ends, and a refusal keeps its code.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "safety/scarce_memory.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::memory_hold_test {
namespace {

// A connection gives its memory back after an eighth of the timeout, and then needs some again.
constexpr const char* short_memory = "?command_timeout=400ms";

// The queues of these tests belong to another client. A caller that waits at its own client would
// read its replies, which here the I/O thread has to read.

struct free_multi {
  void operator()(mortise_multi* handle) const { mortise_multi_free(handle); }
};

bool exists(test_server& server, const std::string& name) {
  return server.command({"EXISTS", lock_key(name)}) == "1";
}

// ---- holds -----------------------------------------------------------------------------------

class memory_of_a_hold : public ::testing::Test {
 protected:
  void hold() {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock_.get(), queue_.get(), 7, nullptr));
  }
  // The hold is lost: one event reports it.
  void expect_loss() {
    const auto seen = next_loss(queue_);
    ASSERT_EQ(MORTISE_EVENT_LOST, seen.kind);
    EXPECT_EQ(7, seen.tag);
    EXPECT_EQ(0, mortise_lock_is_held(lock_.get()));
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 0).kind);
  }
  // And with memory the handle works as ever.
  void expect_recovery() {
    EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock_.get(), nullptr));
    server_.command({"DEL", lock_key("hold")});
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  }

  test_server server_;
  client_handle client_ = open_client_patiently(server_.url() + short_memory + "&lease=600ms");
  client_handle bystander_ = open_client(server_.url());
  queue_handle queue_ = open_queue(bystander_);
  lock_handle lock_ = open_lock(client_, "hold");
};

TEST_F(memory_of_a_hold, that_is_renewed) {
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    hold();
    const auto begin = boot_now();
    memory.begin();
    const bool is_renewed = eventually([&] {
      const auto end_ms = ms_since(begin) + mortise_lock_valid_ms(lock_.get());
      return end_ms > 900 || mortise_lock_is_held(lock_.get()) == 0;
    });
    ASSERT_TRUE(is_renewed);
    memory.end();
    const bool is_there = exists(server_, "hold");
    if (mortise_lock_is_held(lock_.get()) == 0) {
      // On a slow machine the failed try may have been the last.
      expect_loss();
      expect_recovery();
    } else {
      EXPECT_TRUE(is_there);
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
    }
  });
  EXPECT_GT(failures, 5);
}

TEST_F(memory_of_a_hold, that_the_server_has_lost) {
  sweep(whose::library, [&](scarcity& memory) {
    hold();
    memory.begin();
    server_.command({"DEL", lock_key("hold")});
    expect_loss();
    memory.end();
    expect_recovery();
  });
}

// Nothing can be sent or read any longer. Only time reveals the loss.
TEST_F(memory_of_a_hold, that_is_lost_without_any_memory) {
  for (int round = 0; round < 3; ++round) {
    hold();
    scarcity memory(whose::library);
    memory.begin();
    if (round == 0) server_.command({"DEL", lock_key("hold")});
    if (round == 1) server_.command({"SET", lock_key("hold"), "m1:somebodyelse00:1.1::2000"});
    expect_loss();
    memory.end();
    expect_recovery();
  }
}

TEST_F(memory_of_a_hold, that_is_being_extended_when_it_is_lost) {
  hold();
  server_.pause();
  ASSERT_EQ(MORTISE_OK, mortise_lock_extend_async(lock_.get(), queue_.get(), 1, 0, nullptr));
  scarcity memory(whose::library);
  memory.begin();
  int ends = 0;
  int losses = 0;
  while (losses == 0) {
    const auto seen = next_event(queue_);
    ASSERT_NE(MORTISE_EVENT_NONE, seen.kind);
    if (seen.kind == MORTISE_EVENT_LOST) ++losses;
    if (seen.kind != MORTISE_EVENT_EXTENDED) continue;
    EXPECT_NE(MORTISE_OK, seen.status);
    ++ends;
  }
  EXPECT_EQ(1, ends);
  memory.end();
  server_.resume();
  expect_recovery();
}

// ---- what the server refuses -----------------------------------------------------------------

struct refusal {
  std::string reply;
  mortise_status status;
  friend void PrintTo(const refusal& it, std::ostream* out) { *out << it.reply; }
};

class memory_of_a_refusal : public ::testing::TestWithParam<refusal> {};

TEST_P(memory_of_a_refusal, of_an_acquire_and_an_extension) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=20s");
  const auto bystander = open_client(server.url());
  const auto queue = open_queue(bystander);
  const auto rw = open_rw(client, "refused");  // whose acquire is a script, too
  const auto refuse = [](const fake_command& command) {
    return command.is("EVALSHA") ? fault::answer(GetParam().reply + "\r\n") : fault::none();
  };
  const auto expect_one_end = [&](mortise_kind kind) {
    const auto seen = next_event(queue);
    EXPECT_EQ(kind, seen.kind);
    EXPECT_EQ(GetParam().status, seen.status) << status_name(seen.status);
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
  };
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    between.set_rule(refuse);
    memory.begin();
    ASSERT_EQ(MORTISE_OK,
              mortise_rw_read_acquire_async(rw.get(), queue.get(), 1, patience_ms, nullptr));
    expect_one_end(MORTISE_EVENT_ACQUIRED);
    memory.end();
    EXPECT_EQ(0, mortise_rw_is_reading(rw.get()));
    between.set_rule({});
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
    between.set_rule(refuse);
    memory.begin();
    ASSERT_EQ(MORTISE_OK, mortise_rw_extend_async(rw.get(), queue.get(), 1, 0, nullptr));
    expect_one_end(MORTISE_EVENT_EXTENDED);
    memory.end();
    EXPECT_EQ(1, mortise_rw_is_reading(rw.get()));
    between.set_rule({});
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
    ASSERT_TRUE(eventually([&] { return !exists(server, "refused"); }));
  });
  EXPECT_GT(failures, 2);
}

std::string name_of_refusal(const ::testing::TestParamInfo<refusal>& chosen) {
  return chosen.param.reply.substr(1, chosen.param.reply.find(' ') - 1);
}

INSTANTIATE_TEST_SUITE_P(
    replies, memory_of_a_refusal,
    ::testing::Values(
        refusal{"-OOM command not allowed when used memory > 'maxmemory'.", MORTISE_REFUSED},
        refusal{"-WRONGTYPE Operation against a key of the wrong kind of value", MORTISE_REFUSED},
        refusal{"-STRANGE words that no server has ever said to anybody", MORTISE_UNKNOWN}),
    name_of_refusal);

// ---- waiters ---------------------------------------------------------------------------------

// A way to wait: for a place in the queue, or for a message on a channel; on one socket or two.
// Each waiter is alone, so no other waiter's message helps it.
struct way_to_wait {
  std::string protocol;
  bool has_two_sockets;
  int waiters;
  friend void PrintTo(const way_to_wait& it, std::ostream* out) { *out << it.protocol; }
};

class memory_of_a_wait : public ::testing::TestWithParam<way_to_wait> {
 protected:
  [[nodiscard]] std::string url() const {
    return server_.url() + short_memory + "&lease=20s&protocol=" + GetParam().protocol;
  }

  test_server server_{GetParam().has_two_sockets
                          ? server_options{.arguments = {"--rename-command", "HELLO", ""}}
                          : server_options{}};
  client_handle holder_ = open_client_patiently(url());
  client_handle waiter_ = open_client_patiently(url());
  client_handle bystander_ = open_client(server_.url());
  queue_handle queue_ = open_queue(bystander_);
  lock_handle held_ = open_lock(holder_, "turn");
};

TEST_P(memory_of_a_wait, that_ends_with_the_lock) {
  std::vector<lock_handle> waits;
  for (int i = 0; i < GetParam().waiters; ++i) waits.push_back(open_lock(waiter_, "turn"));
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(held_.get(), patience_ms, nullptr));
    const auto begin = boot_now();
    memory.begin();
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const auto tag = static_cast<std::int64_t>(i);
      ASSERT_EQ(MORTISE_OK, mortise_lock_acquire_async(waits[i].get(), queue_.get(), tag,
                                                       patience_ms, nullptr));
    }
    // Long enough, mostly, for the connections to be idle.
    ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 130).kind);
    const auto unlocked = mortise_lock_unlock(held_.get(), nullptr);
    ASSERT_TRUE(unlocked == MORTISE_OK || scarcity::failures() > 0) << status_name(unlocked);
    int held = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const auto seen = next_event(queue_);
      ASSERT_EQ(MORTISE_EVENT_ACQUIRED, seen.kind);
      const bool is_excused = seen.status == MORTISE_NO_MEMORY && scarcity::failures() > 0;
      ASSERT_TRUE(seen.status == MORTISE_OK || is_excused) << status_name(seen.status);
      const auto& own = waits.at(static_cast<std::size_t>(seen.tag));
      if (seen.status != MORTISE_OK) continue;
      ++held;
      EXPECT_EQ(1, mortise_lock_is_held(own.get()));
      const auto given_back = mortise_lock_unlock(own.get(), nullptr);
      ASSERT_TRUE(given_back == MORTISE_OK || scarcity::failures() > 0) << status_name(given_back);
    }
    memory.end();
    EXPECT_GT(held, 0);
    EXPECT_LT(ms_since(begin), 10 * second_ms);  // and not only when the lease would be over
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue_, 0).kind);
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(held_.get(), patience_ms, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(held_.get(), nullptr));
  });
  EXPECT_GT(failures, 0);
}

std::string name_of_way(const ::testing::TestParamInfo<way_to_wait>& chosen) {
  return chosen.param.protocol + (chosen.param.has_two_sockets ? "_two_sockets" : "") +
         (chosen.param.waiters == 1 ? "_alone" : "");
}

INSTANTIATE_TEST_SUITE_P(ways, memory_of_a_wait,
                         ::testing::Values(way_to_wait{"queued", false, 2},
                                           way_to_wait{"queued", true, 2},
                                           way_to_wait{"hash", false, 2},
                                           way_to_wait{"hash", false, 1},
                                           way_to_wait{"hash", true, 1}),
                         name_of_way);

TEST(memory_of_a_multi, that_waits_for_its_members) {
  test_server server;
  const auto client = open_client_patiently(server.url() + short_memory + "&lease=20s");
  const auto other = open_client(server.url() + "?lease=20s");
  const auto queue = open_queue(other);
  const auto lock = open_lock(client, "a");
  const auto rw = open_rw(client, "b");
  const auto semaphore = open_semaphore(client, "c", 3);
  const auto taken = open_lock(other, "a");
  const std::unique_ptr<mortise_multi, free_multi> multi(mortise_multi_new(client.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi.get(), lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_writer(multi.get(), rw.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_semaphore(multi.get(), semaphore.get(), 2, nullptr));
  const auto is_one_end = [&](mortise_kind kind) {
    const auto seen = next_event(queue);
    EXPECT_EQ(kind, seen.kind);
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
    EXPECT_TRUE(seen.status == MORTISE_OK || scarcity::failures() > 0) << status_name(seen.status);
    return seen.status == MORTISE_OK;
  };
  const int failures = sweep(whose::library, [&](scarcity& memory) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(taken.get(), patience_ms, nullptr));
    memory.begin();
    ASSERT_EQ(MORTISE_OK,
              mortise_multi_acquire_async(multi.get(), queue.get(), 1, patience_ms, nullptr));
    ASSERT_EQ(MORTISE_EVENT_NONE, next_event(queue, 100).kind);
    mortise_lock_unlock(taken.get(), nullptr);
    const bool is_held = is_one_end(MORTISE_EVENT_ACQUIRED);
    EXPECT_EQ(is_held ? 1 : 0, mortise_multi_is_held(multi.get()));
    if (is_held) {
      ASSERT_EQ(MORTISE_OK, mortise_multi_unlock_async(multi.get(), queue.get(), 2, nullptr));
      is_one_end(MORTISE_EVENT_UNLOCKED);
    }
    memory.end();
    EXPECT_EQ(0, mortise_multi_is_held(multi.get()));
    const bool is_free = eventually([&] {
      return server.command({"EXISTS", lock_key("a"), lock_key("b"), lock_key("c")}) == "0";
    });
    ASSERT_TRUE(is_free);
  });
  EXPECT_GT(failures, 5);
}

// Whatever fails, the call has one end, and what was held is held.
TEST(memory_of_a_multi, that_is_extended) {
  test_server server;
  const auto client = open_client_patiently(server.url() + short_memory + "&lease=20s&renewal=off");
  const auto other = open_client(server.url());
  // A place that is lost is missed.
  const queue_handle queue(mortise_queue_new(other.get(), 1, nullptr));
  const auto lock = open_lock(client, "a");
  const auto rw = open_rw(client, "b");
  const std::unique_ptr<mortise_multi, free_multi> multi(mortise_multi_new(client.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_lock(multi.get(), lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_add_writer(multi.get(), rw.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, nullptr));
  int failures = sweep(whose::caller, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    memory.begin();
    const auto accepted = mortise_multi_extend_async(multi.get(), queue.get(), 1, 60'000, nullptr);
    memory.end();
    EXPECT_TRUE(accepted == MORTISE_OK || accepted == MORTISE_NO_MEMORY) << status_name(accepted);
    if (accepted == MORTISE_OK) {
      EXPECT_EQ(MORTISE_EVENT_EXTENDED, next_event(queue).kind);
    }
    EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
    EXPECT_EQ(1, mortise_multi_is_held(multi.get()));
  });
  EXPECT_GT(failures, 5);
  // A loss has words, for which there may be no memory.
  failures = sweep(whose::library, [&](scarcity& memory) {
    ASSERT_TRUE(answers(client));
    server.command({"DEL", lock_key("a")});
    memory.begin();
    ASSERT_EQ(MORTISE_OK, mortise_multi_extend_async(multi.get(), queue.get(), 2, 60'000, nullptr));
    const auto seen = next_event(queue);
    memory.end();
    EXPECT_EQ(MORTISE_EVENT_EXTENDED, seen.kind);
    EXPECT_TRUE(seen.status == MORTISE_LOST || scarcity::failures() > 0)
        << status_name(seen.status);
    mortise_multi_unlock(multi.get(), nullptr);
    ASSERT_EQ(MORTISE_OK, mortise_multi_acquire(multi.get(), patience_ms, nullptr));
  });
  EXPECT_GT(failures, 0);
  ASSERT_TRUE(answers(client));
  EXPECT_EQ(MORTISE_OK, mortise_multi_extend(multi.get(), 100'000, nullptr));
  EXPECT_GT(mortise_multi_valid_ms(multi.get()), 60'000);
  EXPECT_EQ(MORTISE_OK, mortise_multi_unlock(multi.get(), nullptr));
}

}  // namespace
}  // namespace mortise::testing::memory_hold_test
