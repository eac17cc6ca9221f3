// A read-write lock that a quorum of independent servers gives.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "integration/redlock/quorum_fixture.hpp"
#include "lock/amount.hpp"
#include "protocol/scripts/scripts.hpp"

namespace mortise::testing::quorum_rw_test {
namespace {

constexpr int turns = 40;

class quorum_rw : public quorum {
 protected:
  static void expect_ok(mortise_status (*call)(mortise_rw*, mortise_error*), const rw_handle& of) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, call(of.get(), error.get())) << mortise_error_message(error.get());
  }
  static void expect_read(const rw_handle& rw) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
  }
  static void expect_written(const rw_handle& rw) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
  }
  std::string votes_at(std::size_t server) {
    return servers[server]->command({"HLEN", lock_key(name)});
  }
  bool has_no_votes() {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      if (votes_at(i) != "0") return false;
    }
    return true;
  }
  // Whether each server has this number of votes, all of this weight.
  bool is_voted_at_all(std::size_t count, const std::string& weight) {
    for (const auto& server : servers) {
      std::istringstream votes(server->command({"HVALS", lock_key(name)}));
      std::size_t found = 0;
      for (std::string vote; std::getline(votes, vote); ++found) {
        if (vote.rfind(weight + ' ', 0) != 0) return false;
      }
      if (found != count) return false;
    }
    return true;
  }
  const std::string reader_weight = "1";
  const std::string writer_weight = std::to_string(lock::exclusive_permits);
  bool is_held_back_at(std::size_t server) {
    return servers[server]->command({"EXISTS", lock_key(name) + ":writer"}) == "1";
  }
};

// ---- readers and writers --------------------------------------------------------------------

TEST_F(quorum_rw, readers_read_together_and_a_writer_writes_alone) {
  start(3);
  const auto clients = std::array{open_client(url()), open_client(url()), open_client(url())};
  const auto one = open_rw(clients[0], name);
  const auto two = open_rw(clients[1], name);
  const auto three = open_rw(clients[2], name);
  expect_ok(mortise_rw_read_try, one);
  expect_ok(mortise_rw_read_try, two);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(three.get(), nullptr));
  expect_ok(mortise_rw_read_unlock, one);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(three.get(), nullptr));
  expect_ok(mortise_rw_read_unlock, two);
  expect_written(three);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(one.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(two.get(), nullptr));
  expect_ok(mortise_rw_write_unlock, three);
  EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
}

// Readers and writers of one lock, each with a client of its own, which check each other. The
// clients live to the end, because a client that is freed has only a moment to notify a slow
// server.
class users {
 public:
  users(std::string url, std::string name) : url_(std::move(url)), name_(std::move(name)) {}
  void read() {
    use([](mortise_rw* rw) { return mortise_rw_read_acquire(rw, patience_ms, nullptr); },
        [this](mortise_rw* rw) {
          ++readers_;
          EXPECT_EQ(0, writers_.load());
          --readers_;
          return mortise_rw_read_unlock(rw, nullptr);
        });
  }
  void write() {
    use([](mortise_rw* rw) { return mortise_rw_write_acquire(rw, patience_ms, nullptr); },
        [this](mortise_rw* rw) {
          EXPECT_EQ(0, writers_.fetch_add(1) + readers_.load());
          --writers_;
          return mortise_rw_write_unlock(rw, nullptr);
        });
  }
  // Reads, writes if no other reads, and reads again.
  void upgrade() {
    use([](mortise_rw* rw) { return mortise_rw_read_acquire(rw, patience_ms, nullptr); },
        [this](mortise_rw* rw) {
          ++readers_;
          EXPECT_EQ(0, writers_.load());
          const auto before = highest_.load();
          if (mortise_rw_upgrade(rw, nullptr) == MORTISE_OK) {
            ++upgrades_;
            EXPECT_LT(before, mortise_rw_token(rw));
            note(mortise_rw_token(rw));
            EXPECT_EQ(0, writers_.fetch_add(1));
            EXPECT_EQ(1, readers_.load());
            --writers_;
            EXPECT_EQ(MORTISE_OK, mortise_rw_downgrade(rw, nullptr));
          }
          --readers_;
          return mortise_rw_read_unlock(rw, nullptr);
        });
  }
  [[nodiscard]] int upgrades() const { return upgrades_.load(); }

 private:
  template <class Acquire, class Unlock>
  void use(Acquire acquire, Unlock unlock) {
    const auto rw = open_rw(new_client(), name_);
    for (int turn = 0; turn < turns; ++turn) {
      const auto before = highest_.load();
      ASSERT_EQ(MORTISE_OK, acquire(rw.get()));
      const auto token = mortise_rw_token(rw.get());
      EXPECT_LT(before, token) << "of all that were granted before it was asked for";
      note(token);
      ASSERT_EQ(MORTISE_OK, unlock(rw.get()));
    }
  }
  const client_handle& new_client() {
    auto client = open_client(url_);
    const std::lock_guard guard(mutex_);
    return clients_.emplace_back(std::move(client));
  }
  void note(std::int64_t token) {
    auto seen = highest_.load();
    while (seen < token && !highest_.compare_exchange_weak(seen, token)) {
    }
  }

  const std::string url_;
  const std::string name_;
  std::mutex mutex_;
  std::list<client_handle> clients_;
  std::atomic<int> readers_{0};
  std::atomic<int> writers_{0};
  std::atomic<int> upgrades_{0};
  std::atomic<std::int64_t> highest_{0};
};

// Whichever server is down and whichever client asks, a token is above all earlier grants (hazards
// 25, 30).
TEST_F(quorum_rw, nobody_writes_while_others_read_and_tokens_rise) {
  start(3);
  users all(url(), name);
  std::vector<std::thread> threads;
  threads.reserve(5);
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { all.read(); });
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { all.write(); });
  for (std::size_t round = 0; round < 3; ++round) {
    servers[round]->pause();
    const timespec a_moment{0, 50'000'000};
    nanosleep(&a_moment, nullptr);
    servers[round]->resume();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
}

// Readers that come and go, always at least one, would starve a writer.
TEST_F(quorum_rw, a_writer_that_waits_is_not_starved_by_readers) {
  start(3);
  const auto client = open_client(url());
  const auto writer = open_rw(client, name);
  const auto first_client = open_client(url());
  const auto first = open_rw(first_client, name);
  expect_read(first);
  std::thread writes([&] {
    expect_written(writer);
    expect_ok(mortise_rw_write_unlock, writer);
  });
  EXPECT_TRUE(eventually([&] { return is_held_back_at(0) && is_held_back_at(1); }));
  const auto rival = open_client(url());
  const auto later = open_rw(rival, name);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(later.get(), nullptr));
  // A present reader continues.
  EXPECT_TRUE(mortise_rw_is_reading(first.get()));
  expect_ok(mortise_rw_read_unlock, first);
  writes.join();
  expect_read(later);
}

TEST_F(quorum_rw, a_writer_that_gives_up_holds_nobody_back) {
  start(3);
  const auto client = open_client(url());
  const auto rival = open_client(url());
  const auto reader = open_rw(client, name);
  const auto writer = open_rw(rival, name);
  expect_read(reader);
  // It tells the servers each second, and they believe it for three.
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer.get(), 1'500, nullptr));
  EXPECT_TRUE(eventually(
      [&] { return !is_held_back_at(0) && !is_held_back_at(1) && !is_held_back_at(2); }, 2'000));
  const auto another = open_client(url());
  expect_ok(mortise_rw_read_try, open_rw(another, name));
}

// ---- servers that are down ---------------------------------------------------------------------

TEST_F(quorum_rw, a_hold_outlives_a_server_and_is_completed_when_it_is_back) {
  start(3);
  const auto client = open_client(url("quarantine=0&lease=2s"));
  const auto other_client = open_client(url("quarantine=0&lease=2s"));
  const auto reader = open_rw(client, name);
  const auto other = open_rw(other_client, name);
  servers[2]->kill();
  expect_read(reader);
  expect_read(other);
  servers[2]->start();
  ASSERT_TRUE(eventually([&] { return votes_at(2) == "2"; }));
  servers[0]->kill();
  const auto read_both = [&] {
    return mortise_rw_is_reading(reader.get()) != 0 && mortise_rw_is_reading(other.get()) != 0;
  };
  EXPECT_TRUE(always(read_both, 3'000));
  expect_ok(mortise_rw_read_unlock, reader);
  expect_ok(mortise_rw_read_unlock, other);
}

TEST_F(quorum_rw, a_reader_that_a_quorum_has_forgotten_is_lost) {
  start(3);
  const auto client = open_client(url("quarantine=0&lease=2s"));
  const auto rw = open_rw(client, name);
  expect_read(rw);
  ASSERT_TRUE(eventually([&] { return votes_at(0) == "1" && votes_at(2) == "1"; }));
  EXPECT_TRUE(is_lost_when_two_forget([&] { return !mortise_rw_is_reading(rw.get()); }));
  EXPECT_EQ(MORTISE_LOST, mortise_rw_read_unlock(rw.get(), nullptr));
}

// ---- other reports -----------------------------------------------------------------------------

TEST_F(quorum_rw, a_query_tells_the_readers_that_a_quorum_knows) {
  start(3);
  const auto client = open_client(url());
  const auto other_client = open_client(url());
  const auto one = open_rw(client, name);
  const auto two = open_rw(other_client, name);
  const info_handle info(mortise_info_new());
  // One vote is no hold.
  servers[0]->command(
      {"HSET", lock_key(name), "somebody", "1 1 " + std::to_string(wall_now_us() / 1000 + 60'000)});
  ASSERT_EQ(MORTISE_OK, mortise_rw_query(one.get(), info.get(), nullptr));
  EXPECT_FALSE(mortise_info_is_held(info.get()));
  expect_read(one);
  expect_read(two);
  ASSERT_TRUE(eventually([&] { return votes_at(1) == "2" && votes_at(2) == "2"; }));
  ASSERT_EQ(MORTISE_OK, mortise_rw_query(one.get(), info.get(), nullptr));
  EXPECT_EQ(2, mortise_info_holder_count(info.get()));
  EXPECT_TRUE(mortise_info_is_mine(info.get()));
}

TEST_F(quorum_rw, a_mutex_and_a_read_write_lock_of_one_name_are_noticed) {
  start(3);
  const auto client = open_client(url());
  const auto rw = open_rw(client, name);
  const auto lock = open_lock(client, name);
  expect_read(rw);
  EXPECT_NE(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  expect_ok(mortise_rw_read_unlock, rw);
  ASSERT_TRUE(eventually([&] { return has_no_votes(); }));
  expect_acquired(lock);
  EXPECT_NE(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
}

// ---- upgrades and downgrades --------------------------------------------------------------------

TEST_F(quorum_rw, the_only_reader_upgrades_and_a_downgrade_admits_others) {
  start(3);
  const auto client = open_client(url());
  const auto rival = open_client(url());
  const auto one = open_rw(client, name);
  const auto two = open_rw(rival, name);
  expect_read(one);
  expect_read(two);
  ASSERT_TRUE(eventually([&] { return is_voted_at_all(2, reader_weight); }));
  const auto before = mortise_rw_token(two.get());
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade(one.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade(two.get(), nullptr));
  EXPECT_TRUE(mortise_rw_is_reading(one.get()) && mortise_rw_is_reading(two.get()));
  EXPECT_TRUE(is_voted_at_all(2, reader_weight));
  expect_ok(mortise_rw_read_unlock, two);
  ASSERT_TRUE(eventually([&] { return is_voted_at_all(1, reader_weight); }));
  expect_ok(mortise_rw_upgrade, one);
  EXPECT_TRUE(mortise_rw_is_writing(one.get()));
  EXPECT_GT(mortise_rw_token(one.get()), before);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(two.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(two.get(), nullptr));
  std::thread reads([&] { expect_read(two); });
  expect_ok(mortise_rw_downgrade, one);
  reads.join();
  EXPECT_TRUE(mortise_rw_is_reading(one.get()));
  expect_ok(mortise_rw_read_unlock, one);
  expect_ok(mortise_rw_read_unlock, two);
  EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
}

TEST_F(quorum_rw, a_downgrade_notifies_waiters) {
  start(3);
  const auto messages_of = [](test_server& server) {
    const auto statistics = server.command({"INFO", "commandstats"});
    const std::string key = "cmdstat_publish:calls=";
    const auto at = statistics.find(key);
    return at == std::string::npos ? 0 : std::stoi(statistics.substr(at + key.size()));
  };
  const auto client = open_client(url());
  const auto rw = open_rw(client, name);
  expect_written(rw);
  ASSERT_TRUE(eventually([&] { return is_voted_at_all(1, writer_weight); }));
  std::vector<int> before;
  for (const auto& server : servers) before.push_back(messages_of(*server));
  expect_ok(mortise_rw_downgrade, rw);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    EXPECT_TRUE(eventually([&] { return messages_of(*servers[i]) == before[i] + 1; })) << i;
  }
}

TEST_F(quorum_rw, no_two_upgraders_write_and_nobody_reads_meanwhile) {
  start(3);
  users all(url(), name);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { all.upgrade(); });
  threads.emplace_back([&] { all.read(); });
  threads.emplace_back([&] { all.write(); });
  for (std::size_t round = 0; round < 3; ++round) {
    servers[round]->pause();
    const timespec a_moment{0, 50'000'000};
    nanosleep(&a_moment, nullptr);
    servers[round]->resume();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(all.upgrades(), 0);
  EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
}

// Neither a server that is down nor a vote that is left over prevents an upgrade, and the hold is
// completed at both.
TEST_F(quorum_rw, an_upgrade_needs_a_quorum_only_and_is_completed_later) {
  start(3);
  const auto client = open_client(url("quarantine=0&lease=2s"));
  const auto rival = open_client(url("quarantine=0&lease=2s"));
  const auto rw = open_rw(client, name);
  const auto other = open_rw(rival, name);
  servers[2]->kill();
  expect_read(rw);
  expect_ok(mortise_rw_upgrade, rw);
  servers[2]->start();
  EXPECT_TRUE(eventually([&] { return is_voted_at_all(1, writer_weight); }));
  expect_ok(mortise_rw_downgrade, rw);
  EXPECT_TRUE(eventually([&] { return is_voted_at_all(1, reader_weight); }));
  servers[0]->command(
      {"HSET", lock_key(name), "somebody", "1 1 " + std::to_string(wall_now_us() / 1000 + 60'000)});
  expect_ok(mortise_rw_upgrade, rw);
  EXPECT_EQ("2", votes_at(0));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(other.get(), nullptr));
  servers[0]->command({"HDEL", lock_key(name), "somebody"});
  EXPECT_TRUE(eventually([&] { return is_voted_at_all(1, writer_weight); }));
  expect_ok(mortise_rw_write_unlock, rw);
  EXPECT_TRUE(eventually([&] { return has_no_votes(); }));
}

// Hazard 17: the reader keeps its votes, and no server keeps a vote for a writer.
TEST_F(quorum_rw, an_upgrade_without_a_quorum_is_undone_and_the_reader_reads_on) {
  start(3);
  const auto client = open_client(url("quarantine=0&command_timeout=2s"));
  const auto rival = open_client(url());
  const auto rw = open_rw(client, name);
  const auto other = open_rw(rival, name);
  expect_read(rw);
  ASSERT_TRUE(eventually([&] { return is_voted_at_all(1, reader_weight); }));
  servers[1]->pause();
  servers[2]->pause();
  const auto error = new_error();
  EXPECT_NE(MORTISE_OK, mortise_rw_upgrade(rw.get(), error.get()));
  EXPECT_TRUE(mortise_rw_is_reading(rw.get()) && !mortise_rw_is_writing(rw.get()));
  servers[1]->resume();
  servers[2]->resume();
  EXPECT_TRUE(eventually([&] { return is_voted_at_all(1, reader_weight); }));
  expect_read(other);
  EXPECT_TRUE(mortise_rw_is_reading(rw.get()));
  expect_ok(mortise_rw_read_unlock, rw);
}

TEST_F(quorum_rw, an_upgrade_of_a_hold_that_a_quorum_has_forgotten_is_a_loss) {
  start(3);
  const auto client = open_client(url("quarantine=0"));
  const auto rw = open_rw(client, name);
  expect_read(rw);
  ASSERT_TRUE(eventually([&] { return is_voted_at_all(1, reader_weight); }));
  servers[0]->command({"FLUSHALL"});
  servers[2]->command({"FLUSHALL"});
  EXPECT_EQ(MORTISE_LOST, mortise_rw_upgrade(rw.get(), nullptr));
  EXPECT_FALSE(mortise_rw_is_reading(rw.get()));
}
}  // namespace
}  // namespace mortise::testing::quorum_rw_test
