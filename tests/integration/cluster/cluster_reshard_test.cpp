// Slots that are moved key by key, as by `redis-cli --cluster reshard`, while their locks are in
// use. Until the last key has moved no script sees all keys of a lock (hazard 29). Callers may only
// notice the delay.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "support/contention.hpp"

namespace mortise::testing::cluster_reshard_test {
namespace {

constexpr int moves = 40;
constexpr int users_of_a_name = 3;
constexpr std::int64_t most = 3;  // permits
const std::array<std::string, 2> names = {"order", "second"};

// One call with the error that it may end with.
using call = std::function<mortise_status(mortise_error* error)>;

// A lock of a kind, as a program uses it.
struct lock_in_use {
  call acquire, attempt, extend, query, release;
};

lock_in_use use_mutex(const client_handle& client, const std::string& name, bool /*is_whole*/) {
  const std::shared_ptr<mortise_lock> lock(open_lock(client, name).release(), free_handle());
  return {
      [=](auto* error) { return mortise_lock_acquire(lock.get(), patience_ms, error); },
      [=](auto* error) { return mortise_lock_try(lock.get(), error); },
      [=](auto* error) { return mortise_lock_extend(lock.get(), 3 * second_ms, error); },
      [=](auto* error) {
        return mortise_lock_query(lock.get(), info_handle(mortise_info_new()).get(), error);
      },
      [=](auto* error) { return mortise_lock_unlock(lock.get(), error); },
  };
}

lock_in_use use_rw(const client_handle& client, const std::string& name, bool is_whole) {
  const std::shared_ptr<mortise_rw> rw(open_rw(client, name).release(), free_handle());
  const call extend = [=](auto* error) {
    return mortise_rw_extend(rw.get(), 3 * second_ms, error);
  };
  const call query = [=](auto* error) {
    return mortise_rw_query(rw.get(), info_handle(mortise_info_new()).get(), error);
  };
  if (is_whole) {
    return {
        [=](auto* error) { return mortise_rw_write_acquire(rw.get(), patience_ms, error); },
        [=](auto* error) { return mortise_rw_write_try(rw.get(), error); },
        extend,
        query,
        [=](auto* error) { return mortise_rw_write_unlock(rw.get(), error); },
    };
  }
  return {
      [=](auto* error) { return mortise_rw_read_acquire(rw.get(), patience_ms, error); },
      [=](auto* error) { return mortise_rw_read_try(rw.get(), error); },
      extend,
      query,
      [=](auto* error) { return mortise_rw_read_unlock(rw.get(), error); },
  };
}

lock_in_use use_semaphore(const client_handle& client, const std::string& name, bool is_whole) {
  const std::shared_ptr<mortise_semaphore> of(open_semaphore(client, name, most).release(),
                                              free_handle());
  const auto permits = is_whole ? most : 1;
  return {
      [=](auto* error) { return mortise_semaphore_acquire(of.get(), permits, patience_ms, error); },
      [=](auto* error) { return mortise_semaphore_try(of.get(), permits, error); },
      [=](auto* error) { return mortise_semaphore_extend(of.get(), 3 * second_ms, error); },
      [=](auto* error) {
        return mortise_semaphore_query(of.get(), info_handle(mortise_info_new()).get(), error);
      },
      [=](auto* error) { return mortise_semaphore_release(of.get(), error); },
  };
}

struct lock_kind {
  const char* name;
  lock_in_use (*use)(const client_handle& client, const std::string& name, bool is_whole);
};
constexpr lock_kind kinds[] = {{"mutex", use_mutex}, {"rw", use_rw}, {"semaphore", use_semaphore}};

// The results of calls, except success and the refusal of a try.
class complaints {
 public:
  void add(const char* what, mortise_status code, const error_handle& error) {
    const std::lock_guard guard(mutex_);
    all_.push_back(std::string(what) + ": " + status_name(code) + ": " +
                   mortise_error_message(error.get()));
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard guard(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

class clusters_reshard : public clusters, public ::testing::WithParamInterface<lock_kind> {
 protected:
  static void SetUpTestSuite() {
    clusters::SetUpTestSuite();
    all->pause_between_keys = std::chrono::milliseconds(5);
  }
  static void TearDownTestSuite() { all->pause_between_keys = {}; }

  void TearDown() override {
    stop();
    clusters::TearDown();
  }
  void stop() {
    is_over_ = true;
    for (auto& one : users_) one.join();
    users_.clear();
  }
  // Uses the lock in a thread of its own until stop().
  void begin(const std::string& name, unsigned number) {
    users_.emplace_back([this, name, number] {
      const auto client = open_client(all->url() + "?lease=2s&command_timeout=20s");
      const auto lock = GetParam().use(client, name, number % 3 == 0);
      std::mt19937 chance(number);
      while (!is_over_) use_once(lock, chance);
    });
  }
  void use_once(const lock_in_use& lock, std::mt19937& chance) {
    const bool is_try = chance() % 4 == 0;
    if (!does(is_try ? "try" : "acquire", is_try ? lock.attempt : lock.acquire)) return;
    if (chance() % 3 == 0) does("extend", lock.extend);
    if (chance() % 5 == 0) does("query", lock.query);
    if (chance() % 8 == 0) eventually([] { return false; }, 1 + chance() % 50);
    does("release", lock.release);
    ++holds_;
  }
  bool does(const char* what, const call& ask) {
    const auto error = new_error();
    const auto code = ask(error.get());
    if (code == MORTISE_OK) return true;
    if (code != MORTISE_NOT_ACQUIRED) complaints_.add(what, code, error);
    return false;
  }
  void move(const std::string& name) {
    const auto key = lock_key(name);
    const auto from = all->owner_of(key);
    all->move_slot(cluster::slot_of(key), from, all->other_master(from),
                   [] { eventually([] { return false; }, 20); });
  }

  complaints complaints_;
  std::atomic<int> holds_{0};

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> users_;
};

class clusters_move_slowly : public clusters {};

struct slot_move {
  int slot;
  std::size_t from, to;
};

TEST_P(clusters_reshard, hazard_29_no_caller_sees_an_error) {
  unsigned number = 0;
  for (const auto& name : names) {
    for (int i = 0; i < users_of_a_name; ++i) begin(name, number++);
  }
  for (int turn = 0; turn < moves; ++turn) {
    const auto before = holds_.load();
    move(names.at(static_cast<std::size_t>(turn) % names.size()));
    EXPECT_TRUE(eventually([&] { return holds_ > before; }));
  }
  stop();
  EXPECT_EQ(std::vector<std::string>(), complaints_.all());
}

// Each key moves a whole lease after the one before it. Renewals touch no key but one, and go after
// that.
TEST_F(clusters_move_slowly, hazard_29_holds_outlive_the_move) {
  const auto client = open_client(all->url() + "?lease=2s");
  complaints complaints;
  std::vector<lock_in_use> locks;
  std::vector<slot_move> slots;
  const auto ask = [&](const call& what) {
    const auto error = new_error();
    const auto code = what(error.get());
    if (code != MORTISE_OK) complaints.add("", code, error);
  };
  for (const auto& kind : kinds) {
    locks.push_back(kind.use(client, kind.name, true));
    ask(locks.back().acquire);
    const auto key = lock_key(kind.name);
    const auto from = all->owner_of(key);
    slots.push_back({cluster::slot_of(key), from, all->other_master(from)});
    all->begin_move(slots.back().slot, from, slots.back().to);
  }
  for (bool has_moved = true; has_moved;) {
    eventually([] { return false; }, 2 * second_ms + 100);
    has_moved = false;
    for (const auto& move : slots) has_moved |= all->move_key(move.slot, move.from, move.to);
  }
  for (const auto& move : slots) all->end_move(move.slot, move.from, move.to);
  for (const auto& lock : locks) {
    ask(lock.extend);
    ask(lock.release);
  }
  EXPECT_EQ(std::vector<std::string>(), complaints.all());
}

// All keys are where they were yet. The release empties the queue, and must not look at it then.
TEST_F(clusters, hazard_29_the_last_waiter_is_handed_a_lock_whose_slot_is_on_its_way) {
  const auto client = open_client(all->url());
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  const auto other = open_client(all->url());
  const auto contended = open_lock(other, "order");
  std::thread waiter([&] { expect_acquired(contended); });
  const auto key = lock_key("order");
  EXPECT_TRUE(eventually([&] {
    return all->command_at(key, {"LLEN", queue_key("order")}) == "1";
  }));
  const auto from = all->owner_of(key);
  all->move_slot(cluster::slot_of(key), from, all->other_master(from), [&] {
    expect_released(lock);
    waiter.join();
    EXPECT_EQ(1, mortise_lock_is_held(contended.get()));
  });
  expect_released(contended);
}

// The writer that waits keeps all keys where they are. Neither change may empty the lock's key.
TEST_F(clusters, hazard_29_a_reader_becomes_the_writer_and_a_reader_again_in_a_moving_slot) {
  const auto client = open_client(all->url());
  const auto rw = open_rw(client, "order");
  const auto error = new_error();
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, error.get()));
  const auto other = open_client(all->url());
  const auto contended = open_rw(other, "order");
  std::thread waiter([&] {
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(contended.get(), patience_ms, nullptr));
  });
  const auto key = lock_key("order");
  EXPECT_TRUE(eventually([&] { return all->command_at(key, {"LLEN", key + ":rq"}) == "1"; }));
  const auto from = all->owner_of(key);
  all->move_slot(cluster::slot_of(key), from, all->other_master(from), [&] {
    EXPECT_EQ(MORTISE_OK, mortise_rw_upgrade(rw.get(), error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(1, mortise_rw_is_writing(rw.get()));
    EXPECT_EQ(MORTISE_OK, mortise_rw_downgrade(rw.get(), error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(1, mortise_rw_is_reading(rw.get()));
  });
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), error.get()))
      << mortise_error_message(error.get());
  waiter.join();
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(contended.get(), error.get()));
}

// The slot stays where it is, so no client attaches it to another server.
TEST_F(clusters, hazard_29_what_was_refused_is_asked_again_after_an_aborted_move) {
  const auto client = open_client(all->url());
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  expect_released(lock);
  const auto key = lock_key("order");
  const auto slot = std::to_string(cluster::slot_of(key));
  const auto owner = all->owner_of(key);
  auto& from = all->at(owner);
  auto& to = all->at(all->other_master(owner));
  const auto id = [](auto& server) { return server.command({"CLUSTER", "MYID"}); };
  ASSERT_EQ("OK", to.command({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)}));
  ASSERT_EQ("OK", from.command({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)}));
  std::thread wants([&] { expect_acquired(lock); });
  eventually([] { return false; }, 300);
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
  ASSERT_EQ("OK", from.command({"CLUSTER", "SETSLOT", slot, "STABLE"}));
  ASSERT_EQ("OK", to.command({"CLUSTER", "SETSLOT", slot, "STABLE"}));
  wants.join();
  expect_released(lock);
}

INSTANTIATE_TEST_SUITE_P(safety, clusters_reshard, ::testing::ValuesIn(kinds),
                         [](const auto& item) { return std::string(item.param.name); });

}  // namespace
}  // namespace mortise::testing::cluster_reshard_test
