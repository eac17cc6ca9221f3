// The messages between clients for the history of a lock.
#include "protocol/listing/history.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "protocol/listing/listing.hpp"
#include "redis/resp/command.hpp"

namespace mortise::testing::history_test {
namespace {

using protocol::history_page;
using protocol::read_history;
using protocol::read_request;

constexpr time_ns now = 1'000 * ns_per_s;

history_page some_page() {
  history_page page;
  page.round = 7;
  page.client = "the client";
  page.label = std::string("a\0b\r\n", 5);
  page.from = 3;
  page.next = 9;
  lock::lock_event granted;
  granted.kind = lock::event_kind::granted;
  granted.permits = 2;
  granted.handle = 5;
  granted.token = 1'800'000'000'000'001;
  granted.at = now - ns_per_s;
  granted.since = now - 3 * ns_per_s;
  lock::lock_event ended;
  ended.kind = lock::event_kind::ended;
  ended.mode = lock::hold_mode::shared;
  ended.code = static_cast<std::int32_t>(status::unreachable);
  ended.at = ended.since = now;
  page.events = {granted, ended};
  return page;
}

TEST(history, a_request_has_the_name_as_any_bytes) {
  const std::string name("a name\0 \r\n", 10);
  const auto text =
      protocol::write_request({1, 2, 3, "asker", protocol::history_terms{name, 60'000}, 3});
  const auto read = read_request(text);
  ASSERT_TRUE(read);
  EXPECT_EQ("asker", read->asker);
  EXPECT_EQ(3U, read->from);
  EXPECT_EQ(3, read->database);
  ASSERT_TRUE(read->history);
  EXPECT_EQ(name, read->history->name);
  EXPECT_EQ(60'000, read->history->window_ms);
}

TEST(history, hazard_32_a_request_stays_within_its_limits) {
  EXPECT_TRUE(read_request("H 1 2 3 asker 0 1 x"));
  EXPECT_TRUE(read_request("H 1 2 3 asker 0 86400000 x"));
  for (const auto* text :
       {"H 1 2 3 asker 0 0 x", "H 1 2 3 asker 0 -1 x", "H 1 2 3 asker 0 86400001 x",
        "H 1 2 3 asker 0 1 ", "H 1 2 3 asker", "H 1 2 3 asker 0", "H 1 2 3 a:b 0 1 x", "H 1 2 3"}) {
    EXPECT_FALSE(read_request(text)) << text;
  }
}

TEST(history, a_page_is_read_as_it_was_written) {
  const auto read = read_history(protocol::write_history(some_page(), now));
  ASSERT_TRUE(read);
  EXPECT_EQ(7U, read->round);
  EXPECT_EQ("the client", read->client);
  EXPECT_EQ(some_page().label, read->label);
  EXPECT_EQ(3U, read->from);
  EXPECT_EQ(9U, read->next);
  EXPECT_FALSE(read->host.empty());
  ASSERT_EQ(2U, read->events.size());
  const auto& granted = read->events[0];
  EXPECT_EQ(lock::event_kind::granted, granted.kind);
  EXPECT_EQ(1'800'000'000'000'001, granted.token);
  EXPECT_EQ(5U, granted.handle);
  EXPECT_EQ(2, granted.permits);
  EXPECT_EQ(-ns_per_s, granted.at);
  EXPECT_EQ(-3 * ns_per_s, granted.since);
  EXPECT_EQ(lock::hold_mode::shared, read->events[1].mode);
  EXPECT_EQ(static_cast<std::int32_t>(status::unreachable), read->events[1].code);
}

TEST(history, a_part_of_a_page_is_none) {
  const auto whole = protocol::write_history(some_page(), now);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_history(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(read_history("E :1\r\n"));
  EXPECT_FALSE(read_history("A" + whole.substr(1)));
}

// A page with one event of these numbers.
std::string page_with(const std::vector<std::string>& numbers) {
  std::string out = "E ";
  redis::command_writer writer(out);
  writer.begin(8 + numbers.size());
  for (const auto* head : {"1", "c", "h", "5", "", "0", "0"}) writer.arg(head);
  writer.arg(std::to_string(numbers.size()));
  for (const auto& one : numbers) writer.arg(one);
  return out;
}

TEST(history, hazard_32_an_impossible_event_is_omitted) {
  const auto count = [](std::size_t field, const char* value) {
    std::vector<std::string> numbers{"2", "0", "1", "1", "1", "0", "1", "1"};
    numbers.at(field) = value;
    const auto read = read_history(page_with(numbers));
    return read ? read->events.size() : 99;
  };
  EXPECT_EQ(1U, count(0, "2"));
  const auto* const huge = "9223372036854775807";
  for (const auto& [field, value] :
       std::vector<std::pair<std::size_t, const char*>>{{0, "17"},
                                                        {0, "-1"},
                                                        {1, "2"},
                                                        {1, "-1"},
                                                        {2, huge},
                                                        {2, "-1"},
                                                        {3, huge},
                                                        {3, "9007199254740992"},
                                                        {3, "-1"},
                                                        {4, "-1"},
                                                        {4, huge},
                                                        {5, "2147483648"},
                                                        {5, huge},
                                                        {6, "-1"},
                                                        {6, huge},
                                                        {7, "-1"},
                                                        {7, huge}}) {
    EXPECT_EQ(0U, count(field, value)) << field << " " << value;
  }
}

TEST(history, a_later_version_may_add_fields) {
  const auto read = read_history(page_with({"2", "0", "1", "77", "1", "0", "1", "1", "new"}));
  ASSERT_TRUE(read);
  ASSERT_EQ(1U, read->events.size());
  EXPECT_EQ(77, read->events[0].token);
  EXPECT_FALSE(read_history(page_with({"2", "0", "1"})));
}

// The answer was written at some time between the request and its arrival.
TEST(history, times_are_on_the_servers_clock_and_as_exact_as_the_answers_were_quick) {
  auto page = some_page();
  page = *read_history(protocol::write_history(page, now));
  const protocol::clock_reading clock{1'700'000'000'000'000, 50 * ns_per_s, 100};
  const auto events = events_of(page, clock, 60 * ns_per_s, 60 * ns_per_s + 2 * ns_per_ms);
  ASSERT_EQ(2U, events.size());
  EXPECT_EQ(1'700'000'009'001'000, events[0].time_us);
  EXPECT_EQ(2'000'000, events[0].lasted_us);
  EXPECT_EQ(1'101, events[0].error_us);
  EXPECT_EQ("granted", events[0].event);
  EXPECT_EQ("ended", events[1].event);
  EXPECT_EQ("shared", events[1].mode);
  EXPECT_EQ(status_text(status::unreachable), events[1].why);
}

std::vector<protocol::history_event> events_at(std::initializer_list<std::int64_t> times_us,
                                               std::int64_t error_us) {
  std::vector<protocol::history_event> events;
  for (const auto time_us : times_us) {
    auto& event = events.emplace_back();
    event.time_us = time_us;
    event.error_us = error_us;
  }
  return events;
}

// A slow page is only known to be within a wide range, and the next may seem to begin before its
// end although it was quick.
TEST(history, a_page_begins_after_the_end_of_the_page_before_it) {
  auto events = events_at({5'500, 5'700}, 10);
  const auto last = protocol::keep_order({6'000, 900}, events);
  EXPECT_EQ(6'000, events[0].time_us);
  EXPECT_EQ(6'200, events[1].time_us);
  EXPECT_EQ(900, events[1].error_us);
  EXPECT_EQ(6'200, last.time_us);
  EXPECT_EQ(900, last.error_us);
}

TEST(history, a_page_keeps_its_times_if_they_are_in_order_or_impossible) {
  for (const std::int64_t first_us : {6'000, 6'001, 5'089}) {
    auto events = events_at({first_us, first_us + 1}, 10);
    const auto last = protocol::keep_order({6'000, 900}, events);
    EXPECT_EQ(first_us, events[0].time_us);
    EXPECT_EQ(10, events[0].error_us);
    EXPECT_EQ(first_us + 1, last.time_us);
  }
  std::vector<protocol::history_event> none;
  EXPECT_EQ(6'000, protocol::keep_order({6'000, 900}, none).time_us);
}

TEST(history, json_has_each_field_of_an_event) {
  protocol::listing listing;
  listing.events = events_of(*read_history(protocol::write_history(some_page(), now)), {}, 0, 0);
  const auto json = listing.json();
  EXPECT_NE(std::string::npos, json.find("\"event\":\"granted\"")) << json;
  EXPECT_EQ(2U, listing.size());
  EXPECT_EQ("granted", *listing.text(0, "event"));
  EXPECT_EQ(2, listing.number(0, "permits"));
  EXPECT_EQ(nullptr, listing.text(2, "event"));
  EXPECT_EQ(nullptr, listing.text(0, "token"));
  EXPECT_EQ(0, listing.number(2, "permits"));
  for (const auto* field : {"client", "host", "pid", "label", "event", "mode", "handle", "token",
                            "permits", "place", "why", "time_us", "lasted_us", "error_us"}) {
    EXPECT_NE(std::string::npos, json.find(std::string("\"") + field + "\":")) << field;
  }
}

}  // namespace
}  // namespace mortise::testing::history_test
