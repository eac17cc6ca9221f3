// The messages between clients for a listing, and the report of a gate.
#include "protocol/listing/listing.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include <string>

#include "protocol/listing/key_scan.hpp"
#include "redis/resp/command.hpp"
#include "unit/gate_fixture.hpp"

namespace mortise::testing::listing_test {
namespace {

using protocol::listing_page;
using protocol::read_page;
using protocol::read_request;

listing_page some_page() {
  listing_page page{7, "the client", 3, 9, {}};
  protocol::listing_entry one;
  one.name = std::string("a\0b\r\n", 5);
  one.kind = "mutex";
  one.mode = "exclusive";
  one.label = "\"l\"";
  one.holds = 1;
  one.token = 1'800'000'000'000'001;
  one.waited_total_ms = 12;
  page.entries = {one, {}};
  return page;
}

TEST(listing, a_question_attaches_as_it_was_asked) {
  const auto text = protocol::write_request({UINT64_MAX, 2, 3, "asker", {}, 15});
  EXPECT_EQ("Q 18446744073709551615 2 3 asker 15", text);
  const auto read = read_request(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(UINT64_MAX, read->round);
  EXPECT_EQ(2U, read->serial);
  EXPECT_EQ(3U, read->from);
  EXPECT_EQ("asker", read->asker);
  EXPECT_EQ(15, read->database);
  EXPECT_EQ(-1, read_request(protocol::write_request({1, 2, 3, "asker"}))->database);
}

TEST(listing, an_asker_is_no_way_to_another_channel) {
  EXPECT_FALSE(read_request("Q 1 2 3 "));
  EXPECT_FALSE(read_request("Q 1 2 3"));
  EXPECT_FALSE(read_request("Q 1 2 3 a:b"));
  EXPECT_FALSE(read_request("Q 1 2 3 a{1}"));
  EXPECT_FALSE(read_request("Q 1 2 3 a\r\n"));
  EXPECT_FALSE(read_request("Q 1 2 3 " + std::string(65, 'a')));
  EXPECT_FALSE(read_request("W 1 2 3 a"));
}

TEST(listing, a_page_is_read_as_it_was_written) {
  const auto page = some_page();
  const auto read = read_page(protocol::write_page(page));
  ASSERT_TRUE(read);
  EXPECT_EQ(7U, read->round);
  EXPECT_EQ("the client", read->client);
  EXPECT_EQ(3U, read->from);
  EXPECT_EQ(9U, read->next);
  ASSERT_EQ(2U, read->entries.size());
  const auto& one = read->entries[0];
  EXPECT_EQ("the client", one.client);
  EXPECT_EQ(getpid(), one.pid);
  EXPECT_FALSE(one.host.empty());
  EXPECT_EQ(page.entries[0].name, one.name);
  EXPECT_EQ("\"l\"", one.label);
  EXPECT_EQ(1'800'000'000'000'001, protocol::listing_number(one, "token"));
  EXPECT_EQ(12, protocol::listing_number(one, "waited_total_ms"));
  EXPECT_EQ("exclusive", *protocol::listing_text(one, "mode"));
  EXPECT_EQ(nullptr, protocol::listing_text(one, "token"));
  EXPECT_EQ(0, protocol::listing_number(one, "name"));
  EXPECT_EQ(0, protocol::listing_number(one, "nothing"));
}

TEST(listing, a_page_of_a_later_version_may_tell_more) {
  std::string text = "A ";
  redis::command_writer writer(text);
  writer.begin(7 + 2 * 16);
  for (const auto* head : {"7", "c", "h", "5", "0", "0", "16"}) writer.arg(head);
  for (const auto* name : {"a", "b"}) {
    writer.arg("label").arg(name).arg("mutex").arg("shared");
    for (int i = 0; i < 10; ++i) writer.arg(std::to_string(i));
    writer.arg("0.005:2").arg("more");
  }
  const auto read = read_page(text);
  ASSERT_TRUE(read);
  ASSERT_EQ(2U, read->entries.size());
  EXPECT_EQ("b", read->entries[1].name);
  EXPECT_EQ(9, read->entries[1].waited_total_ms);
  EXPECT_EQ("0.005:2", *protocol::listing_text(read->entries[1], "waits"));
}

// The reply to one step: the next cursor, and the fields of keys.
void answer(const protocol::command& command, std::string_view next,
            const std::vector<std::string>& fields) {
  std::string text = "*" + std::to_string(fields.size() + 1) + "\r\n";
  redis::command_writer writer(text);
  writer.arg(next);
  for (const auto& field : fields) {
    const bool is_number = field.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) {
      text += ":" + field + "\r\n";
    } else {
      writer.arg(field);
    }
  }
  redis::parser parser;
  ASSERT_EQ(redis::parse_result::complete, parser.parse(text));
  command.read(parser.reply());
}

TEST(key_scan, goes_on_until_the_server_has_no_more) {
  protocol::key_scan scan({"", 1'000'000});
  protocol::listing found;
  {
    const auto dialogue = scan.begin();
    for (const auto* next : {"17", "5", "0"}) {
      const auto* const record = dialogue->next();
      ASSERT_NE(nullptr, record);
      answer(*record, next, {"{mortise:a}:b}", "string", "1", "1", "m1:me:1.1:l l:9*"});
    }
    EXPECT_EQ(nullptr, dialogue->next());
  }
  scan.take_into(found);
  EXPECT_EQ(1, found.answered);
  EXPECT_EQ(0, found.truncated);
  ASSERT_EQ(3U, found.entries.size());
  EXPECT_EQ("a}:b", found.entries[0].name);
  EXPECT_EQ("mutex", found.entries[0].kind);
  EXPECT_EQ("me", found.entries[0].client);
  EXPECT_EQ("l l", found.entries[0].label);
  EXPECT_EQ("key", found.entries[0].source);
}

TEST(key_scan, looks_at_no_more_than_it_may) {
  protocol::key_scan scan({"", 2500});
  protocol::listing found;
  {
    const auto dialogue = scan.begin();
    int steps = 0;
    while (const auto* const record = dialogue->next()) {
      std::string text;
      record->write(text, true);
      EXPECT_NE(std::string::npos, text.find(steps < 2 ? "\r\n1000\r\n" : "\r\n500\r\n"));
      answer(*record, "7", {});
      ++steps;
    }
    EXPECT_EQ(3, steps);
    const auto never_answered = scan.begin();
    EXPECT_NE(nullptr, never_answered->next());
  }
  scan.take_into(found);
  EXPECT_EQ(1, found.answered);
  EXPECT_EQ(2, found.truncated);
}

TEST(key_scan, keeps_so_many_and_says_that_there_were_more) {
  protocol::key_scan scan({"", 1'000'000'000});
  protocol::listing found;
  std::vector<std::string> fields;
  for (int i = 0; i < 1000; ++i) {
    fields.insert(fields.end(), {"{mortise:a}", "string", "1", "1", "x"});
  }
  {
    const auto dialogue = scan.begin();
    for (std::size_t i = 1; i < protocol::key_scan::most_entries / 1000; ++i) {
      answer(*dialogue->next(), "7", fields);
    }
    fields.insert(fields.end(), {"{mortise:b}", "string", "1", "1", "x"});
    answer(*dialogue->next(), "0", fields);
    EXPECT_EQ(nullptr, dialogue->next());
  }
  scan.take_into(found);
  EXPECT_EQ(protocol::key_scan::most_entries, found.entries.size());
  EXPECT_EQ(1, found.truncated);
}

TEST(key_scan, leaves_what_was_not_asked_for) {
  protocol::key_scan scan({"", 1000});
  protocol::listing found;
  {
    const auto dialogue = scan.begin();
    answer(*dialogue->next(), "0", {"{", "string", "1", "1", "x", "{mortise:", "zset", "1", "1"});
  }
  scan.take_into(found);
  EXPECT_TRUE(found.entries.empty());
}

TEST(key_scan, reads_nothing_of_other_programs) {
  protocol::key_scan scan({"lock:*", 1000});
  protocol::listing found;
  {
    const auto dialogue = scan.begin();
    const auto* const record = dialogue->next();
    std::string text;
    record->write(text, true);
    EXPECT_EQ(std::string::npos, text.find("\r\nlocks\r\n"));
    answer(*record, "0", {"lock:1", "string", "5", "1", "x"});
  }
  scan.take_into(found);
  ASSERT_EQ(1U, found.entries.size());
  EXPECT_EQ("lock:1", found.entries[0].name);
  EXPECT_EQ("other", found.entries[0].kind);
}

TEST(listing, a_page_of_an_earlier_version_may_tell_less) {
  std::string text = "A ";
  redis::command_writer writer(text);
  writer.begin(7 + 2 * 3);
  for (const auto* head : {"7", "c", "h", "5", "0", "0", "3"}) writer.arg(head);
  for (const auto* name : {"a", "b"}) writer.arg("label").arg(name).arg("mutex");
  const auto read = read_page(text);
  ASSERT_TRUE(read);
  ASSERT_EQ(2U, read->entries.size());
  EXPECT_EQ("b", read->entries[1].name);
  EXPECT_EQ("", read->entries[1].waits);
}

TEST(listing, what_is_no_page_is_left) {
  EXPECT_FALSE(
      read_page("A *7\r\n$1\r\n7\r\n$1\r\nc\r\n$1\r\nh\r\n$1\r\n5\r\n$1\r\n0\r\n"
                "$1\r\n0\r\n$1\r\n0\r\n"));
  const auto whole = protocol::write_page(some_page());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_page(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(read_page("A :1\r\n"));
  EXPECT_FALSE(read_page("A *7\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:14\r\n"));
  EXPECT_FALSE(
      read_page("A *7\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n"
                "$1\r\n0\r\n"));
}

TEST(listing, json_has_each_field_and_no_byte_that_is_none_of_json) {
  protocol::listing all;
  all.answered = 1;
  all.silent = {"x", "y"};
  all.missing.add("a:1", outcome::of(status::unreachable, "\"refused\""));
  all.missing.add("a:1", outcome::of(status::unknown, "named once"));
  all.entries = some_page().entries;
  const auto json = all.json();
  EXPECT_TRUE(json.starts_with(R"({"answered":1,"truncated":0,"silent":["x","y"],"missing":[)"
                               R"({"server":"a:1","why":"\"refused\""}],"entries":[{)"))
      << json;
  EXPECT_NE(std::string::npos, json.find(R"("label":"\"l\"","name":"a\u0000b\u000d\u000a",)"));
  EXPECT_NE(std::string::npos, json.find(R"("token":1800000000000001,)"));
}

class gate_report_test : public gate_test {};

TEST_F(gate_report_test, tells_of_its_holder_and_of_who_waits_for_how_long) {
  first_.label = "first";
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(10)).ok());
  const auto report = gate_.report(start_ns + ms(41));
  EXPECT_EQ(report.holds, 1U);
  EXPECT_EQ("first", report.label);
  EXPECT_EQ(first_.token, report.token);
  EXPECT_EQ(ms(40), report.held_ns);
  EXPECT_EQ(first_call_.result.code, status::ok);
  EXPECT_EQ(gate_.valid_until(first_) - (start_ns + ms(41)), report.left_ns);
  EXPECT_EQ(1U, report.waiters);
  EXPECT_EQ(ms(31), report.waited_ns);
  EXPECT_EQ(1, report.traffic.grants);
  EXPECT_EQ(1, report.traffic.contended);
  EXPECT_EQ(ms(1), report.traffic.waited_ns);
}

TEST_F(gate_report_test, tells_of_no_hold_whose_time_is_over) {
  hold_first();
  EXPECT_EQ(gate_.report(gate_.valid_until(first_)).holds, 0U);
}

}  // namespace
}  // namespace mortise::testing::listing_test
