// The history of a lock at a real server: pages, limits, and what an answer does not reveal.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "client/events/lock_history.hpp"
#include "protocol/listing/history.hpp"
#include "protocol/listing/listing.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::history_server_test {
namespace {

struct free_listing {
  void operator()(mortise_listing* listing) const { mortise_listing_free(listing); }
};
using listing_handle = std::unique_ptr<mortise_listing, free_listing>;

constexpr std::int64_t window_ms = 600'000;

listing_handle history_of(const client_handle& client, std::string_view name,
                          std::int64_t timeout_ms = patience_ms) {
  return listing_handle(mortise_client_list_history(client.get(), name.data(), name.size(),
                                                    window_ms, timeout_ms, nullptr));
}

int count(const listing_handle& history, std::string_view event) {
  int number = 0;
  for (std::int64_t i = 0; i < mortise_listing_count(history.get()); ++i) {
    if (event == mortise_listing_text(history.get(), i, "event", 5)) ++number;
  }
  return number;
}

std::int64_t number_of(const listing_handle& history, std::int64_t index, std::string_view key) {
  return mortise_listing_number(history.get(), index, key.data(), key.size());
}

std::string inbox_of_client(test_server& server) {
  auto channel = server.command({"PUBSUB", "CHANNELS", "mortise:inbox:*"});
  return channel.substr(0, channel.find('\n'));
}

void make_pairs(const lock_handle& lock, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
}

TEST(history, has_more_events_than_a_page_and_only_of_its_name) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  const auto lock = open_lock(client, "x");
  const auto noise = open_lock(client, "y");
  constexpr int pairs = 700;
  make_pairs(noise, 10);
  make_pairs(lock, pairs);
  make_pairs(noise, 10);
  const auto history = history_of(other, "x");
  ASSERT_TRUE(history);
  EXPECT_EQ(2, mortise_listing_answered(history.get()));
  EXPECT_EQ(0, mortise_listing_truncated(history.get()));
  EXPECT_EQ(pairs, count(history, "granted"));
  EXPECT_EQ(pairs, count(history, "released"));
  ASSERT_EQ(2 * pairs, mortise_listing_count(history.get()));
  for (std::int64_t i = 0; i < 2 * pairs; ++i) {
    EXPECT_STREQ(i % 2 == 0 ? "granted" : "released",
                 mortise_listing_text(history.get(), i, "event", 5));
    if (i > 0) {
      EXPECT_GE(number_of(history, i, "time_us"), number_of(history, i - 1, "time_us"));
    }
  }
  EXPECT_EQ(20, count(history_of(other, "y"), "granted"));
}

TEST(history, reports_where_the_events_of_a_client_begin) {
  test_server server;
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "x");
  const auto held = open_lock(client, "long");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(held.get(), nullptr));
  make_pairs(lock, 1);
  EXPECT_EQ(0, count(history_of(client, "x"), "forgotten"));
  make_pairs(lock, static_cast<int>(client::lock_history::capacity / 2) + 10);
  const auto history = history_of(client, "x");
  ASSERT_TRUE(history);
  EXPECT_EQ(1, count(history, "forgotten"));
  EXPECT_EQ(static_cast<int>(client::lock_history::capacity / 2), count(history, "released"));
  // The hold is known although its begin was overwritten.
  const auto of_held = history_of(client, "long");
  EXPECT_EQ(0, count(of_held, "granted"));
  EXPECT_EQ(1, count(of_held, "holds"));
}

TEST(history, times_are_those_of_the_server) {
  test_server server;
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  const auto lock = open_lock(client, "x");
  const auto time_us = [&] {
    const auto reply = server.command({"TIME"});
    return std::stoll(reply) * 1'000'000 + std::stoll(reply.substr(reply.find('\n') + 1));
  };
  const auto before = time_us();
  make_pairs(lock, 1);
  const auto after = time_us();
  const auto history = history_of(other, "x");
  ASSERT_EQ(2, mortise_listing_count(history.get()));
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto error_us = number_of(history, i, "error_us");
    EXPECT_GE(error_us, 1);
    EXPECT_GE(number_of(history, i, "time_us"), before - error_us);
    EXPECT_LE(number_of(history, i, "time_us"), after + error_us);
  }
}

TEST(history, an_answer_has_no_owner_token) {
  test_server server;
  const auto client = open_client(server.url());
  const auto lock = open_lock(client, "x");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto inbox = inbox_of_client(server);
  raw_client asker(server.socket_path());
  asker.command({"SUBSCRIBE", "mortise:inbox:asker"});
  const auto question =
      protocol::write_request({1, 1, 0, "asker", protocol::history_terms{"x", window_ms}});
  ASSERT_EQ("1", server.command({"PUBLISH", inbox, question}));
  const auto text = asker.read_reply();
  const auto page = protocol::read_history(text.substr(text.find("\nE ") + 1));
  ASSERT_TRUE(page) << text;
  EXPECT_EQ(2U, page->events.size());
  EXPECT_EQ(std::string::npos, text.find("m1:")) << text;
}

// A subscriber with an inbox is a client for all others, whatever it sends.
class hostile_client {
 public:
  explicit hostile_client(test_server& server) : server_(server), inbox_(server.socket_path()) {
    inbox_.command({"SUBSCRIBE", "mortise:inbox:hostile"});
  }
  // Answers the next request with this many events, and promises more.
  void answer(std::size_t events) {
    const auto text = inbox_.read_reply();
    const auto request = protocol::read_request(text.substr(text.find("\nH ") + 1));
    ASSERT_TRUE(request) << text;
    protocol::history_page page;
    page.round = request->round;
    page.client = "hostile";
    page.from = request->from;
    page.next = request->from + 1;
    page.events.resize(events);
    server_.command(
        {"PUBLISH", "mortise:inbox:" + request->asker, protocol::write_history(page, 0)});
  }

 private:
  test_server& server_;
  raw_client inbox_;
};

TEST(history, hazard_32_a_client_cannot_send_more_than_it_can_have) {
  test_server server;
  const auto client = open_client(server.url());
  hostile_client hostile(server);
  listing_handle history;
  {
    const std::jthread asking([&] { history = history_of(client, "x"); });
    for (int i = 0; i < 5; ++i) hostile.answer(1000);
  }
  ASSERT_TRUE(history);
  EXPECT_EQ(2, mortise_listing_answered(history.get()));
  EXPECT_EQ(1, mortise_listing_truncated(history.get()));
  EXPECT_EQ(4000, mortise_listing_count(history.get()));
}

}  // namespace
}  // namespace mortise::testing::history_server_test
