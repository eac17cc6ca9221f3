// A hold that leaves its handle as an id, and another handle continues.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "protocol/scripts/scripts.hpp"
#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::exported_hold_test {
namespace {

constexpr const char* name = "order";

// The id, or the reason why there is none.
std::string export_of(const lock_handle& lock, std::int64_t lease_ms) {
  const auto error = new_error();
  const hold_id_handle id(mortise_lock_export(lock.get(), lease_ms, error.get()));
  return id ? mortise_hold_id_text(id.get()) : mortise_error_message(error.get());
}

mortise_status adopt(const lock_handle& lock, const std::string& id) {
  return mortise_lock_adopt(lock.get(), id.data(), id.size(), nullptr);
}

// Also an export and what undoes an adoption, which have the same script.
bool is_adoption(const fake_command& command) {
  return command.words.size() > 1 && (command.words[1] == scripts::queued_adopt.sha1 ||
                                      command.words[1] == scripts::queued_adopt.text);
}

class exported_hold : public ::testing::Test {
 protected:
  // Another process. It acquires, exports and sends the id.
  [[nodiscard]] auto exporter(const std::string& terms, std::int64_t lease_ms) const {
    return [=, url = server.url() + terms](child_end& test) {
      const auto client = open_client(url);
      const auto lock = open_lock(client, name);
      expect_acquired(lock);
      test.send(export_of(lock, lease_ms));
      test.receive();
      test.send(status_name(mortise_lock_extend(lock.get(), 0, nullptr)));
      test.send(status_name(mortise_lock_unlock(lock.get(), nullptr)));
      test.receive();
    };
  }
  // The owner token at the server.
  std::string owner() { return server.command({"GET", lock_key(name)}); }

  test_server server;
};

TEST_F(exported_hold, hazard_17_the_death_of_the_exporter_ends_no_exported_hold) {
  child killed(exporter("?lease=10m&release_on_death=on", 60 * second_ms));
  const auto id = killed.receive();
  killed.kill();
  EXPECT_TRUE(always([&] { return owner() != "(nil)"; }, second_ms / 2));
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, name);
  EXPECT_EQ(MORTISE_OK, adopt(lock, id)) << id;
  expect_released(lock);
}

TEST_F(exported_hold, hazard_19_a_stopped_exporter_resumes_without_a_hold) {
  child stopped(exporter("?lease=1s", 60 * second_ms));
  const auto id = stopped.receive();
  stopped.pause();
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, name);
  ASSERT_EQ(MORTISE_OK, adopt(lock, id)) << id;
  const auto adopter = owner();
  stopped.resume();
  stopped.send("go on");
  EXPECT_EQ(status_name(MORTISE_NOT_OWNER), stopped.receive());
  EXPECT_EQ(status_name(MORTISE_NOT_OWNER), stopped.receive());
  EXPECT_EQ(adopter, owner());
  expect_released(lock);
}

// What the exporter sent before names its own owner token, not that of the id.
TEST_F(exported_hold, hazard_16_a_late_renewal_of_the_exporter_is_refused) {
  const auto client = open_client(server.url());
  const auto exporter = open_lock(client, name);
  const auto adopter = open_lock(client, name);
  expect_acquired(exporter);
  const auto own = owner();
  const auto id = export_of(exporter, 60 * second_ms);
  const auto exported = owner();
  ASSERT_NE(own, exported) << id;
  ASSERT_EQ(MORTISE_OK, adopt(adopter, id)) << id;
  export_of(adopter, 60 * second_ms);
  EXPECT_EQ(exported, owner());
  const std::string script(scripts::queued_renew.text);
  EXPECT_EQ("0",
            server.command({"EVAL", script, "2", lock_key(name), "mortise:fence", own, "100", "0"})
                .substr(0, 1));
  EXPECT_EQ(exported, owner());
  EXPECT_EQ("1", server.command({"EVAL", "return redis.call('PTTL', KEYS[1]) > 30000 and 1 or 0",
                                 "1", lock_key(name)}));
  EXPECT_EQ(MORTISE_OK, adopt(exporter, id)) << "the id is valid again";
}

// The server carries the adoption out, and nobody gets to know.
TEST_F(exported_hold, hazard_15_an_adoption_whose_reply_never_comes_is_undone) {
  proxy between(server.socket_path());
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, name);
  expect_acquired(lock);
  const auto id = export_of(lock, 60 * second_ms);
  const auto exported = owner();
  // Otherwise the lost reply is that the server does not know the script.
  server.command({"SCRIPT", "LOAD", std::string(scripts::queued_adopt.text)});
  const auto late = open_client(between.url() + "?command_timeout=300ms");
  const auto late_lock = open_lock(late, name);
  const auto may_undo = std::make_shared<std::atomic<bool>>(false);
  // Shared, because the proxy copies the rule for each command.
  const auto is_done = std::make_shared<std::atomic<bool>>(false);
  between.set_rule([may_undo, is_done](const fake_command& command) {
    if (!is_adoption(command) || *may_undo) return fault::none();
    return is_done->exchange(true) ? fault::cut_before() : fault::swallow();
  });
  EXPECT_EQ(MORTISE_UNKNOWN, adopt(late_lock, id));
  EXPECT_NE(exported, owner()) << "the test has to lose the reply of an adoption";
  *may_undo = true;
  EXPECT_TRUE(eventually([&] { return owner() == exported; }));
  EXPECT_EQ("1", server.command({"EVAL", "return redis.call('PTTL', KEYS[1]) > 30000 and 1 or 0",
                                 "1", lock_key(name)}));
  EXPECT_EQ(MORTISE_OK, adopt(lock, id));
}

// Nobody else knows the id, so without it the lock would stay taken for the whole lease.
TEST_F(exported_hold, hazard_15_an_export_whose_reply_is_lost_is_repeated) {
  proxy between(server.socket_path());
  const auto client = open_client(between.url());
  const auto lock = open_lock(client, name);
  expect_acquired(lock);
  const auto is_cut = std::make_shared<std::atomic<bool>>(false);
  between.set_rule([is_cut](const fake_command& command) {
    return is_adoption(command) && !is_cut->exchange(true) ? fault::cut_after() : fault::none();
  });
  const auto id = export_of(lock, 60 * second_ms);
  EXPECT_EQ(MORTISE_OK, adopt(lock, id)) << id;
  expect_released(lock);
}

// The waiter is behind the adopter in the queue of their client.
TEST_F(exported_hold, hazard_17_a_waiter_gets_no_hold_that_was_exported) {
  proxy between(server.socket_path());
  const auto client = open_client(server.url());
  const auto exporter = open_lock(client, name);
  expect_acquired(exporter);
  const auto id = export_of(exporter, 60 * second_ms);
  const auto exported = owner();
  const auto late = open_client(between.url() + "?command_timeout=300ms");
  const auto adopter = open_lock(late, name);
  const auto waiter = open_lock(late, name);
  between.set_rule([](const fake_command& command) {
    return is_adoption(command) ? fault::swallow() : fault::none();
  });
  auto adoption = std::async(std::launch::async, [&] { return adopt(adopter, id); });
  EXPECT_TRUE(eventually([&] { return owner() != exported; }));
  auto wait = std::async(std::launch::async, [&] {
    return mortise_lock_acquire(waiter.get(), 2 * second_ms, nullptr);
  });
  EXPECT_EQ(MORTISE_UNKNOWN, adoption.get());
  between.set_rule({});
  between.cut_all();
  EXPECT_TRUE(eventually([&] { return owner().substr(0, exported.size()) == exported; }));
  EXPECT_EQ(MORTISE_TIMED_OUT, wait.get());
  EXPECT_EQ(MORTISE_OK, adopt(exporter, id));
}

TEST_F(exported_hold, hazard_1_a_late_adopter_gets_nothing_of_the_next_holder) {
  const auto client = open_client(server.url());
  const auto exporter = open_lock(client, name);
  const auto next = open_lock(client, name);
  expect_acquired(exporter);
  const auto id = export_of(exporter, 100);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr)) << id;
  const auto holder = owner();
  EXPECT_EQ(MORTISE_NOT_OWNER, adopt(exporter, id));
  EXPECT_EQ(holder, owner());
  expect_released(next);
  EXPECT_EQ(MORTISE_NOT_OWNER, adopt(exporter, id));
}

TEST_F(exported_hold, hazard_6_the_lease_ends_the_hold_of_a_dead_adopter) {
  child adopter([url = server.url() + "?lease=2s"](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, name);
    const auto id = test.receive();
    test.send(status_name(adopt(lock, id)));
    test.send(status_name(mortise_lock_extend(lock.get(), 0, nullptr)));
    test.receive();
  });
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, name);
  expect_acquired(lock);
  const auto id = export_of(lock, 60 * second_ms);
  adopter.send(id);
  EXPECT_EQ(status_name(MORTISE_OK), adopter.receive());
  EXPECT_EQ(status_name(MORTISE_OK), adopter.receive());
  adopter.kill();
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_LT(ms_since(begin), 20 * second_ms);
  expect_released(lock);
  EXPECT_EQ(MORTISE_NOT_OWNER, adopt(lock, id));
}

}  // namespace
}  // namespace mortise::testing::exported_hold_test
