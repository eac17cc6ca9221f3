// A listing of a real server: pages, how often a client answers, and what it does not reveal.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "client/presence/listing_responder.hpp"
#include "protocol/listing/listing.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::listing_server_test {
namespace {

struct free_listing {
  void operator()(mortise_listing* listing) const { mortise_listing_free(listing); }
};
using listing_handle = std::unique_ptr<mortise_listing, free_listing>;

// The inbox of the one client of a server.
std::string inbox_of_client(test_server& server) {
  auto channel = server.command({"PUBSUB", "CHANNELS", "mortise:inbox:*"});
  return channel.substr(0, channel.find('\n'));
}

std::string question(std::uint64_t round, std::uint64_t serial) {
  return protocol::write_request({round, serial, 0, "asker"});
}

// How many commands PUBLISH the server has carried out.
int published(test_server& server) {
  const auto info = server.command({"INFO", "commandstats"});
  const std::string before = "cmdstat_publish:calls=";
  const auto at = info.find(before);
  return at == std::string::npos ? 0 : std::stoi(info.substr(at + before.size()));
}

TEST(listing, tells_of_more_locks_than_a_page_has) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  std::vector<lock_handle> locks;
  const auto count = 2 * client::listing_responder::page_entries + 100;
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back(open_lock(client, ("lock " + std::to_string(i)).c_str()));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(locks.back().get(), nullptr));
  }
  const listing_handle taken(mortise_client_list_locks(other.get(), patience_ms, nullptr));
  ASSERT_TRUE(taken);
  EXPECT_EQ(2, mortise_listing_answered(taken.get()));
  EXPECT_EQ(0, mortise_listing_silent(taken.get()) + mortise_listing_truncated(taken.get()));
  ASSERT_EQ(static_cast<std::int64_t>(count), mortise_listing_count(taken.get()));
  std::set<std::string> names;
  for (std::int64_t i = 0; i < mortise_listing_count(taken.get()); ++i) {
    names.insert(mortise_listing_text(taken.get(), i, "name", 4));
    EXPECT_EQ(1, mortise_listing_number(taken.get(), i, "holds", 5));
  }
  EXPECT_EQ(count, names.size());
}

TEST(listing, has_the_locks_of_one_database) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url() + "?db=1");
  const auto held = open_lock(client, "order");
  const auto same_name = open_lock(other, "order");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(held.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(same_name.get(), nullptr));
  for (const auto* const asker : {&client, &other}) {
    const listing_handle taken(mortise_client_list_locks(asker->get(), patience_ms, nullptr));
    ASSERT_TRUE(taken);
    EXPECT_EQ(2, mortise_listing_answered(taken.get()));
    EXPECT_EQ(1, mortise_listing_count(taken.get()));
    const listing_handle history(
        mortise_client_list_history(asker->get(), "order", 5, 60'000, patience_ms, nullptr));
    ASSERT_TRUE(history);
    for (std::int64_t i = 0; i < mortise_listing_count(history.get()); ++i) {
      EXPECT_STREQ(mortise_listing_text(taken.get(), 0, "client", 6),
                   mortise_listing_text(history.get(), i, "client", 6));
    }
  }
}

TEST(listing, a_question_that_is_heard_twice_is_answered_once) {
  test_server server;
  const auto client = open_client(server.url());
  const auto inbox = inbox_of_client(server);
  raw_client asker(server.socket_path());
  asker.command({"SUBSCRIBE", "mortise:inbox:asker"});
  for (const auto& text : {question(1, 7), question(1, 7), question(2, 8)}) {
    ASSERT_EQ("1", server.command({"PUBLISH", inbox, text}));
  }
  for (const std::uint64_t round : {1U, 2U}) {
    const auto message = asker.read_reply();
    const auto page = protocol::read_page(message.substr(message.find("\nA ") + 1));
    ASSERT_TRUE(page) << message;
    EXPECT_EQ(round, page->round);
  }
}

TEST(listing, an_answer_has_no_owner_token) {
  test_server server;
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "x");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto inbox = inbox_of_client(server);
  const auto owner = server.command({"GET", "{mortise:x}"});
  raw_client asker(server.socket_path());
  asker.command({"SUBSCRIBE", "mortise:inbox:asker"});
  ASSERT_EQ("1", server.command({"PUBLISH", inbox, question(1, 1)}));
  const auto text = asker.read_reply();
  EXPECT_NE(std::string::npos, text.find("\nx\r\n")) << text;
  EXPECT_EQ(std::string::npos, text.find(owner)) << text;
  EXPECT_EQ(std::string::npos, text.find("m1:")) << text;
}

// What draws a queue: the order from a query, and how long each has waited from a listing.
TEST(listing, who_is_in_a_queue_is_found_by_the_client_in_its_owner) {
  test_server server;
  std::vector<client_handle> clients;
  std::vector<lock_handle> locks;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(open_client(server.url()));
    locks.push_back(open_lock(clients.back(), "x"));
    if (i == 0) {
      ASSERT_EQ(MORTISE_OK, mortise_lock_try(locks[0].get(), nullptr));
      continue;
    }
    waiting.emplace_back([lock = locks.back().get()] {
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, nullptr));
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock, nullptr));
    });
    while (server.command({"LLEN", "{mortise:x}:q"}) != std::to_string(i)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the next waits that much less
  }
  const info_handle info(mortise_info_new());
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(locks[0].get(), info.get(), nullptr));
  const time_ns asked_at = boot_now();
  const listing_handle taken(mortise_client_list_locks(clients[0].get(), patience_ms, nullptr));
  // Each client answers at another time.
  const auto apart_ms = (boot_now() - asked_at) / ns_per_ms + 1;
  ASSERT_EQ(3, mortise_info_entry_count(info.get()));
  std::int64_t longest_ms = 0;
  for (std::int64_t i = 2; i > 0; --i) {
    const std::string owner = mortise_info_entry_owner(info.get(), i);
    const auto client = owner.substr(3, owner.find(':', 3) - 3);
    int found = 0;
    for (std::int64_t j = 0; j < mortise_listing_count(taken.get()); ++j) {
      if (client != mortise_listing_text(taken.get(), j, "client", 6)) continue;
      ++found;
      EXPECT_EQ(1, mortise_listing_number(taken.get(), j, "waiters", 7));
      const auto waited_ms = mortise_listing_number(taken.get(), j, "waited_ms", 9);
      EXPECT_GE(waited_ms + apart_ms, longest_ms);
      longest_ms = waited_ms;
    }
    EXPECT_EQ(1, found);
  }
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(locks[0].get(), nullptr));
}

listing_handle scan(const client_handle& client, std::int64_t most_keys,
                    mortise_error* error = nullptr) {
  return listing_handle(
      mortise_client_scan_locks(client.get(), "", 0, most_keys, patience_ms, error));
}

TEST(key_scan, finds_each_lock_among_many_keys_and_never_says_keys) {
  test_server server;
  const auto client = open_client(server.url());
  constexpr std::int64_t count = 5000;
  server.command({"EVAL",
                  "for i = 1, 5000 do redis.call('SET', 'other:' .. i, '') "
                  "redis.call('SET', '{mortise:' .. i .. '}', 'm1:dead:1.1::9', 'PX', 600000) end",
                  "0"});
  server.command({"CONFIG", "RESETSTAT"});
  const auto found = scan(client, 1'000'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(1, mortise_listing_answered(found.get()));
  EXPECT_EQ(0, mortise_listing_truncated(found.get()));
  std::set<std::string> names;
  for (std::int64_t i = 0; i < mortise_listing_count(found.get()); ++i) {
    names.insert(mortise_listing_text(found.get(), i, "name", 4));
    EXPECT_STREQ("dead", mortise_listing_text(found.get(), i, "client", 6));
  }
  EXPECT_EQ(count, static_cast<std::int64_t>(names.size()));
  const auto statistics = server.command({"INFO", "commandstats"});
  EXPECT_EQ(std::string::npos, statistics.find("cmdstat_keys:")) << statistics;
  EXPECT_NE(std::string::npos, statistics.find("cmdstat_scan:")) << statistics;

  const auto some = scan(client, 1000);
  ASSERT_TRUE(some);
  EXPECT_EQ(1, mortise_listing_truncated(some.get()));
  EXPECT_LT(mortise_listing_count(some.get()), count);
}

TEST(key_scan, names_the_right_that_it_lacks) {
  test_server server;
  ASSERT_EQ("OK", server.command({"ACL", "SETUSER", "default", "-scan"}));
  const auto client = open_client(server.url());
  const auto error = new_error();
  EXPECT_FALSE(scan(client, 1000, error.get()));
  EXPECT_EQ(MORTISE_REFUSED, mortise_error_status(error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(std::string::npos, message.find("+scan")) << message;
}

// A holder whose lease is over is none, although its entry may be there still.
TEST(key_scan, counts_those_whose_lease_lasts) {
  test_server server;
  const auto client = open_client(server.url());
  const auto semaphore = open_semaphore(client, "slots", 5);
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore.get(), 2, nullptr));
  server.command({"ZADD", "{mortise:slots}", "1000", "1 m1:dead:1.1::9"});
  const auto found = scan(client, 1000);
  ASSERT_TRUE(found);
  ASSERT_EQ(1, mortise_listing_count(found.get()));
  EXPECT_GT(mortise_listing_number(found.get(), 0, "time_left_ms", 12), 0);
  EXPECT_STREQ("semaphore", mortise_listing_text(found.get(), 0, "kind", 4));
  EXPECT_EQ(1, mortise_listing_number(found.get(), 0, "holds", 5));
}

// Each hold by itself, as the first may be a living client's; of many the rest together.
TEST(key_scan, tells_each_who_shares_a_lock) {
  test_server server;
  const auto client = open_client(server.url());
  const auto rw = open_rw(client, "shared");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
  for (int i = 0; i < 20; ++i) {
    server.command({"ZADD", "{mortise:shared}", "99999999999999",
                    "1 m1:dead" + std::to_string(i) + ":1.1::9"});
  }
  const auto found = scan(client, 1000);
  ASSERT_TRUE(found);
  ASSERT_EQ(17, mortise_listing_count(found.get()));
  std::set<std::string> clients;
  std::int64_t holds = 0;
  for (std::int64_t i = 0; i < 17; ++i) {
    clients.insert(mortise_listing_text(found.get(), i, "client", 6));
    holds += mortise_listing_number(found.get(), i, "holds", 5);
  }
  EXPECT_EQ(17U, clients.size());
  EXPECT_EQ(21, holds);
}

// A server that is never reached is not scanned, and the listing reports that.
TEST(key_scan, says_which_servers_it_has_not_seen) {
  test_server servers[2];
  const auto client = open_client("shard:" + servers[0].url() + "," + servers[1].url());
  servers[1].pause();
  const listing_handle found(
      mortise_client_scan_locks(client.get(), "", 0, 1000, second_ms, nullptr));
  servers[1].resume();
  ASSERT_TRUE(found);
  EXPECT_EQ(1, mortise_listing_answered(found.get()));
  EXPECT_EQ(1, mortise_listing_truncated(found.get()));
}

TEST(listing, who_asks_all_the_time_is_not_answered_all_the_time) {
  test_server server;
  const auto client = open_client(server.url());
  const auto inbox = inbox_of_client(server);
  constexpr int questions = 500;
  const auto before = published(server);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 1; i <= questions; ++i) {
    ASSERT_EQ("1", server.command({"PUBLISH", inbox, question(i, i)}));
  }
  const auto most = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return 1 + static_cast<int>(client::listing_responder::pages_per_second * (1 + passed.count()));
  };
  int answers = 0;
  for (int i = 0; i < 200 && answers < client::listing_responder::pages_per_second; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    answers = published(server) - before - questions;
  }
  EXPECT_GE(answers, client::listing_responder::pages_per_second);
  EXPECT_LE(published(server) - before - questions, most());
}

}  // namespace
}  // namespace mortise::testing::listing_server_test
