// Read-write locks and semaphores where something breaks: dead holders, lost replies, crowds.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/scripts/scripts.hpp"
#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::shared_test {
namespace {

bool runs(const fake_command& command, const redis::script& script) {
  return command.words.size() > 1 && (command.is("EVALSHA") || command.is("EVAL")) &&
         (command.words[1] == script.sha1 || command.words[1] == script.text);
}

// Does this to the first run of a script, and nothing to all others.
proxy::rule once(const fault& what, const redis::script& script) {
  auto is_done = std::make_shared<std::atomic<bool>>(false);
  return [=, &script](const fake_command& command) {
    return runs(command, script) && !is_done->exchange(true) ? what : fault::none();
  };
}

std::vector<fault> lost_replies() {
  return {fault::cut_after(), fault::cut_before(), fault::swallow()};
}

std::string reader_queue(const std::string& name) { return lock_key(name) + ":rq"; }

// How many commands the server has carried out, those inside scripts included.
std::int64_t commands_done(test_server& server) {
  const auto text = server.command({"INFO", "commandstats"});
  std::int64_t sum = 0;
  for (auto at = text.find(":calls="); at != std::string::npos; at = text.find(":calls=", at + 1)) {
    sum += std::atoll(text.c_str() + at + 7);
  }
  return sum;
}

TEST(safety, a_dead_readers_hold_lapses_while_others_read_on) {
  // Forked before this process has threads; the server's address comes later.
  child dying([](child_end& test) {
    const auto client = open_client(test.receive() + "?lease=2s");
    const auto rw = open_rw(client, "lapse");
    test.send(status_name(mortise_rw_read_try(rw.get(), nullptr)));
    test.receive();
  });
  test_server server;
  const auto client = open_client(server.url() + "?lease=2s");
  const auto reader = open_rw(client, "lapse");
  const auto writer = open_rw(client, "lapse");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(reader.get(), nullptr));
  dying.send(server.url());
  ASSERT_EQ("ok", dying.receive());
  dying.kill();
  // Alone, it can become the writer once the dead reader's lease has ended, and never stops
  // reading.
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(1, mortise_rw_is_reading(reader.get()) + mortise_rw_is_writing(reader.get()));
    return mortise_rw_upgrade(reader.get(), nullptr) == MORTISE_OK;
  }));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(reader.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_try(writer.get(), nullptr));
}

TEST(safety, a_writer_is_not_starved_by_readers_that_overlap) {
  test_server server;
  const auto client = open_client(server.url());
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      const auto rw = open_rw(client, "starve");
      while (!is_over) {
        if (mortise_rw_read_acquire(rw.get(), patience_ms, nullptr) != MORTISE_OK) continue;
        const timespec pause{0, 5'000'000};
        nanosleep(&pause, nullptr);
        mortise_rw_read_unlock(rw.get(), nullptr);
        ++reads;
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return reads > 20; }));
  const auto writer = open_rw(client, "starve");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(writer.get(), nullptr));
  }
  is_over = true;
  for (auto& reader : readers) reader.join();
}

TEST(safety, one_release_lets_in_all_readers_at_the_head_at_little_cost) {
  test_server server;
  // No renewal is due while commands are counted.
  const auto client = open_client(server.url() + "?lease=10m");
  const auto queue = open_queue(client);
  const auto writer = open_rw(client, "batch");
  constexpr int crowd = 1000;
  // As of so many clients: each asks the server.
  const options_handle strict(mortise_options_new());
  ASSERT_EQ(MORTISE_OK, mortise_options_set_fair_strict(strict.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(writer.get(), nullptr));
  std::vector<rw_handle> readers;
  for (int i = 0; i < crowd; ++i) {
    readers.push_back(open_rw(client, "batch", strict.get()));
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire_async(readers.back().get(), queue.get(), i,
                                                        MORTISE_FOREVER, nullptr));
  }
  ASSERT_TRUE(eventually([&] {
    return server.command({"LLEN", reader_queue("batch")}) == std::to_string(crowd);
  }));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_unlock(writer.get(), nullptr));
  // All are in before the first of them leaves, with one token.
  for (int i = 0; i < crowd; ++i) ASSERT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_EQ(std::to_string(crowd + 1), server.command({"ZCARD", lock_key("batch")}));
  EXPECT_EQ(mortise_rw_token(readers.front().get()), mortise_rw_token(readers.back().get()));
  // The grants are being confirmed, with pauses where the machine has little time.
  auto before = commands_done(server);
  int quiet_looks = 0;
  EXPECT_TRUE(eventually([&] {
    const auto now = commands_done(server);
    quiet_looks = std::exchange(before, now) + 1 == now ? quiet_looks + 1 : 0;
    return quiet_looks == 10;
  }));
  // What one of a thousand costs does not depend on how many there are.
  before = commands_done(server);
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(readers.back().get(), nullptr));
  EXPECT_LT(commands_done(server) - before, 15);
  readers.clear();
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", lock_key("batch")}) == "0"; }));
}

TEST(safety, hazard_15_an_upgrade_whose_reply_is_lost_is_settled_by_the_next_renewal) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=30s&command_timeout=1s");
  const auto other = open_client(server.url());
  for (const auto& harm : lost_replies()) {
    const auto rw = open_rw(client, "up");
    const auto reader = open_rw(other, "up");
    ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
    between.set_rule(once(harm, scripts::shared_raise));
    if (harm.what != fault::kind::swallow) {
      // The connection is back before the time is up: undone, and asked again.
      EXPECT_EQ(MORTISE_OK, mortise_rw_upgrade(rw.get(), nullptr));
      EXPECT_EQ(1, mortise_rw_is_writing(rw.get()));
      EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(reader.get(), nullptr));
      EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
      continue;
    }
    ASSERT_EQ(MORTISE_UNKNOWN, mortise_rw_upgrade(rw.get(), nullptr));
    EXPECT_EQ(1, mortise_rw_is_reading(rw.get()));
    EXPECT_EQ(0, mortise_rw_is_writing(rw.get()));
    // It reads at the server, too, and has stayed the same hold.
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(reader.get(), 10 * second_ms, nullptr));
    EXPECT_EQ(1, mortise_rw_is_reading(rw.get()));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(reader.get(), nullptr));
    // Its own connection may not be back yet.
    EXPECT_TRUE(eventually([&] { return mortise_rw_upgrade(rw.get(), nullptr) == MORTISE_OK; }));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("up")}));
  }
}

// Another client may have changed it since. A step that may have been executed is not sent again.
TEST(safety, hazard_28_a_resize_whose_reply_is_lost_is_unknown_and_not_repeated) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url());
  const auto semaphore = open_semaphore(client, "size", 2);
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_resize(semaphore.get(), 3, nullptr));
  std::atomic<int> count{0};
  between.set_rule([&](const fake_command& command) {
    const bool is_resize = command.is("EVALSHA", scripts::semaphore_resize.sha1);
    return is_resize && ++count > 0 ? fault::cut_after() : fault::none();
  });
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNKNOWN, mortise_semaphore_resize(semaphore.get(), 4, error.get()));
  EXPECT_EQ(1, mortise_error_is_ambiguous(error.get()));
  EXPECT_TRUE(answers(client));
  EXPECT_EQ(count, 1);
}

TEST(safety, hazard_15_a_downgrade_whose_reply_is_lost_lets_readers_in) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=30s&command_timeout=1s");
  const auto other = open_client(server.url());
  for (const auto& harm : lost_replies()) {
    const auto rw = open_rw(client, "down");
    const auto reader = open_rw(other, "down");
    ASSERT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw.get(), patience_ms, nullptr));
    between.set_rule(once(harm, scripts::shared_renew));
    // With the next connection, if that comes in time.
    const auto expected = harm.what == fault::kind::swallow ? MORTISE_UNKNOWN : MORTISE_OK;
    EXPECT_EQ(expected, mortise_rw_downgrade(rw.get(), nullptr));
    EXPECT_EQ(0, mortise_rw_is_writing(rw.get()));
    EXPECT_EQ(1, mortise_rw_is_reading(rw.get()));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(reader.get(), 10 * second_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(reader.get(), nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
    EXPECT_EQ("0", server.command({"EXISTS", lock_key("down")}));
  }
}

TEST(safety, hazard_16_a_semaphores_release_whose_reply_is_lost_ends_once) {
  test_server server;
  proxy between(server.socket_path());
  const auto client = open_client(between.url() + "?lease=30s&command_timeout=1s");
  const auto other = open_client(server.url());
  for (const auto& harm : lost_replies()) {
    const auto semaphore = open_semaphore(client, "once", 3);
    const auto heir = open_semaphore(other, "once", 3);
    ASSERT_EQ(MORTISE_OK, mortise_semaphore_acquire(semaphore.get(), 2, patience_ms, nullptr));
    between.set_rule(once(harm, scripts::shared_release));
    // What broke is asked again behind the reconnect; what hangs is given up.
    const bool hangs = harm.what == fault::kind::swallow;
    EXPECT_EQ(hangs ? MORTISE_UNKNOWN : MORTISE_OK,
              mortise_semaphore_release(semaphore.get(), nullptr));
    EXPECT_EQ(0, mortise_semaphore_is_held(semaphore.get()));
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(heir.get(), 3, 10 * second_ms, nullptr));
    // The release that is tried again gives back nothing of what the heir has. Its own connection
    // may not be back yet.
    EXPECT_TRUE(
        eventually([&] { return mortise_client_ping(client.get(), nullptr) == MORTISE_OK; }));
    EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(semaphore.get(), 1, nullptr));
    EXPECT_EQ("-3", server.command({"ZSCORE", lock_key("once"), "semaphore"}));
    EXPECT_EQ(MORTISE_OK, mortise_semaphore_release(heir.get(), nullptr));
  }
}

TEST(safety, hazard_24_waiters_are_let_in_although_every_message_is_lost) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=2s");
  const auto waiting_client = open_client(server.url() + "?lease=2s");
  const auto queue = open_queue(waiting_client);
  const auto writer = open_rw(client, "deaf");
  const auto reader = open_rw(waiting_client, "deaf");
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(writer.get(), nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_rw_read_acquire_async(reader.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", reader_queue("deaf")}) == "1"; }));
  // The release finds no subscriber, and the connection comes back a little later.
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(writer.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_EQ(1, mortise_rw_is_reading(reader.get()));
}

TEST(safety, a_lost_part_stays_lost) {
  test_server server;
  const auto client = open_client(server.url() + "?lease=600ms");
  const auto queue = open_queue(client);
  const auto semaphore = open_semaphore(client, "terminal", 2);
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_watch(semaphore.get(), queue.get(), 5, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore.get(), 2, nullptr));
  const auto token = mortise_semaphore_token(semaphore.get());
  server.pause();
  const auto loss = next_loss(queue);
  EXPECT_EQ(MORTISE_EVENT_LOST, loss.kind);
  EXPECT_EQ(token, loss.token);
  server.resume();
  EXPECT_TRUE(always([&] { return mortise_semaphore_is_held(semaphore.get()) == 0; }, 500));
  EXPECT_EQ(MORTISE_LOST, mortise_semaphore_release(semaphore.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(semaphore.get(), 2, patience_ms, nullptr));
}

}  // namespace
}  // namespace mortise::testing::shared_test
