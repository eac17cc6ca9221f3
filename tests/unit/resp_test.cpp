#include "redis/resp/resp.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace mortise::redis::resp_test {
namespace {

// A value in one line, such as array[integer 1, text "a"].
std::string dump(const value& what) {
  const auto quoted = [&](const char* name) {
    return std::string(name) + " \"" + std::string(what.text()) + "\"";
  };
  const auto nested = [&](const char* name) {
    std::string text = std::string(name) + "[";
    for (std::size_t i = 0; i < what.size(); ++i) text += (i > 0 ? ", " : "") + dump(what.at(i));
    return text + "]";
  };
  switch (what.type()) {
    case kind::null:
      return "null";
    case kind::status:
      return quoted("status");
    case kind::error:
      return quoted("error");
    case kind::integer:
      return "integer " + std::to_string(what.integer());
    case kind::text:
      return quoted("text");
    case kind::boolean:
      return what.integer() == 1 ? "true" : "false";
    case kind::array:
      return nested("array");
    case kind::map:
      return nested("map");
    case kind::push:
      return nested("push");
  }
  return "?";
}

struct sample {
  std::string wire;
  std::string meaning;
};

const std::vector<sample>& good_replies() {
  static const std::vector<sample> replies = {
      {"+OK\r\n", "status \"OK\""},
      {"+\r\n", "status \"\""},
      {"-ERR no\r\n", "error \"ERR no\""},
      {"-\r\n", "error \"\""},
      {":0\r\n", "integer 0"},
      {":-1\r\n", "integer -1"},
      {":+17\r\n", "integer 17"},
      {":9223372036854775807\r\n", "integer 9223372036854775807"},
      {":-9223372036854775808\r\n", "integer -9223372036854775808"},
      {"$0\r\n\r\n", "text \"\""},
      {"$5\r\nhello\r\n", "text \"hello\""},
      {"$4\r\n\r\n\r\n\r\n", "text \"\r\n\r\n\""},
      {"$-1\r\n", "null"},
      {"*-1\r\n", "null"},
      {"_\r\n", "null"},
      {"#t\r\n", "true"},
      {"#f\r\n", "false"},
      {",1.5\r\n", "text \"1.5\""},
      {",-1e-7\r\n", "text \"-1e-7\""},
      {",+3\r\n", "text \"+3\""},
      {",1e999\r\n", "text \"1e999\""},
      {",inf\r\n", "text \"inf\""},
      {",-inf\r\n", "text \"-inf\""},
      {",nan\r\n", "text \"nan\""},
      {"(3492890328409238509324850943850943825024385\r\n",
       "text \"3492890328409238509324850943850943825024385\""},
      {"(-12\r\n", "text \"-12\""},
      {"!8\r\nERR x\r\ny\r\n", "error \"ERR x\r\ny\""},
      {"=8\r\ntxt:some\r\n", "text \"some\""},
      {"=4\r\nmkd:\r\n", "text \"\""},
      {"*0\r\n", "array[]"},
      {"~2\r\n:1\r\n+a\r\n", "array[integer 1, status \"a\"]"},
      {"%2\r\n+a\r\n:1\r\n+b\r\n_\r\n", "map[status \"a\", integer 1, status \"b\", null]"},
      {"%0\r\n", "map[]"},
      {">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$1\r\nx\r\n",
       "push[text \"message\", text \"ch\", text \"x\"]"},
      {"*3\r\n*2\r\n:1\r\n:2\r\n*0\r\n%1\r\n$1\r\nk\r\n*1\r\n#t\r\n",
       "array[array[integer 1, integer 2], array[], map[text \"k\", array[true]]]"},
      {"*2\r\n-ERR a\r\n*-1\r\n", "array[error \"ERR a\", null]"},
      // Attributes: before a reply, before an element, nested, in a row, empty.
      {"|1\r\n+ttl\r\n:3600\r\n+OK\r\n", "status \"OK\""},
      {"*2\r\n|1\r\n+a\r\n*2\r\n:1\r\n:2\r\n:7\r\n:8\r\n", "array[integer 7, integer 8]"},
      {"|1\r\n|1\r\n+x\r\n+y\r\n+k\r\n+v\r\n:5\r\n", "integer 5"},
      {"|0\r\n|1\r\n+a\r\n+b\r\n*0\r\n", "array[]"},
      {"|1\r\n+a\r\n+b\r\n>1\r\n+invalidate\r\n", "push[status \"invalidate\"]"},
  };
  return replies;
}

const std::vector<std::string>& bad_replies() {
  static const std::vector<std::string> replies = {
      "HTTP/1.1 400 Bad Request\r\n",
      std::string("\0", 1),
      "\r\n",
      "+a\n",
      "+a\rb\r\n",
      ":\r\n",
      ":-\r\n",
      ":+\r\n",
      ":+-1\r\n",
      ":1x\r\n",
      ": 1\r\n",
      ":1.5\r\n",
      ":9223372036854775808\r\n",
      ":-9223372036854775809\r\n",
      ":99999999999999999999\r\n",
      ":" + std::string(40, '0'),
      "$\r\n",
      "$-2\r\n",
      "$+1\r\na\r\n",
      "$x\r\n",
      "$1 \r\n",
      "$18446744073709551615\r\n",
      "$18446744073709551613\r\n",
      "$9223372036854775807\r\n",
      "$99999999999999999999\r\n",
      "$" + std::string(40, '1'),
      "$1\r\nabc",
      "$1\r\na\rx",
      "$?\r\n",
      "=-1\r\n",
      "=3\r\ntxt\r\n",
      "=4\r\ntxtx\r\n",
      "!-1\r\n",
      "*\r\n",
      "*-2\r\n",
      "*x\r\n",
      "*?\r\n",
      ">?\r\n",
      "*18446744073709551615\r\n",
      "%9223372036854775808\r\n",
      "|9223372036854775808\r\n",
      "~-1\r\n",
      "%-1\r\n",
      ">-1\r\n",
      "|-1\r\n",
      "*1\r\n>1\r\n+a\r\n",
      "|1\r\n+a\r\n>1\r\n+b\r\n",
      "_x\r\n",
      "#\r\n",
      "#x\r\n",
      "#tt\r\n",
      ",\r\n",
      ",1.5x\r\n",
      ",+-1\r\n",
      "(\r\n",
      "(-\r\n",
      "(1.5\r\n",
      "(12a\r\n",
      "*2\r\n:1\r\nx",
      ";4\r\n",
      ".\r\n",
  };
  return replies;
}

// Copies the first `size` bytes to a new address without anything behind them. The sanitizer then
// reports reads through an old address or beyond the end.
class moving_bytes {
 public:
  std::string_view first(std::string_view whole, std::size_t size) {
    held_ = std::make_unique<char[]>(size);
    whole.copy(held_.get(), size);
    return {held_.get(), size};
  }

 private:
  std::unique_ptr<char[]> held_;
};

TEST(resp, reads_every_type_whole) {
  for (const auto& [wire, meaning] : good_replies()) {
    parser reader;
    ASSERT_EQ(reader.parse(wire), parse_result::complete) << wire << reader.problem();
    EXPECT_EQ(dump(reader.reply()), meaning) << wire;
    EXPECT_EQ(reader.consumed(), wire.size());
  }
}

TEST(resp, reads_every_type_at_every_split) {
  for (const auto& [wire, meaning] : good_replies()) {
    for (std::size_t split = 0; split < wire.size(); ++split) {
      parser reader;
      moving_bytes bytes;
      ASSERT_EQ(reader.parse(bytes.first(wire, split)), parse_result::incomplete) << wire << split;
      EXPECT_EQ(reader.consumed(), 0U);
      EXPECT_TRUE(reader.reply().is_null());
      const auto all = bytes.first(wire, wire.size());
      ASSERT_EQ(reader.parse(all), parse_result::complete) << wire << " at " << split;
      EXPECT_EQ(dump(reader.reply()), meaning);
    }
  }
}

TEST(resp, reads_a_stream_byte_by_byte) {
  std::string stream;
  for (const auto& reply : good_replies()) stream += reply.wire;
  parser reader;
  moving_bytes bytes;
  std::size_t begin = 0;
  std::size_t count = 0;
  for (std::size_t end = 0; end <= stream.size(); ++end) {
    const auto rest = std::string_view(stream).substr(begin);
    const auto result = reader.parse(bytes.first(rest, end - begin));
    ASSERT_NE(result, parse_result::violation) << reader.problem();
    if (result == parse_result::incomplete) continue;
    EXPECT_EQ(dump(reader.reply()), good_replies().at(count).meaning);
    EXPECT_EQ(reader.consumed(), end - begin);
    begin = end;
    ++count;
  }
  EXPECT_EQ(count, good_replies().size());
}

// A parser that is warm takes a shorter way for the commonest replies; it has to agree.
TEST(resp, a_warm_parser_reads_the_same) {
  parser reader;
  for (const auto& [wire, meaning] : good_replies()) {
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(reader.parse("_\r\n"), parse_result::complete);
      ASSERT_EQ(reader.parse(wire), parse_result::complete) << wire;
      EXPECT_EQ(dump(reader.reply()), meaning);
      EXPECT_EQ(reader.consumed(), wire.size());
    }
  }
  for (const auto& wire : bad_replies()) {
    reader.reset();
    ASSERT_EQ(reader.parse("_\r\n"), parse_result::complete);
    EXPECT_EQ(reader.parse(wire), parse_result::violation) << wire;
  }
}

TEST(resp, takes_one_reply_of_many) {
  std::string_view stream = "+OK\r\n:1\r\n*1\r\n$1\r\nx\r\n+half";
  parser reader;
  std::string seen;
  while (reader.parse(stream) == parse_result::complete) {
    seen += dump(reader.reply()) + ";";
    stream.remove_prefix(reader.consumed());
  }
  EXPECT_EQ(seen, "status \"OK\";integer 1;array[text \"x\"];");
  EXPECT_EQ(stream, "+half");
}

TEST(resp, refuses_every_violation_at_every_split) {
  for (const auto& wire : bad_replies()) {
    parser whole;
    ASSERT_EQ(whole.parse(wire), parse_result::violation) << wire;
    EXPECT_STRNE(whole.problem(), "") << wire;
    EXPECT_TRUE(whole.reply().is_null());
    EXPECT_EQ(whole.consumed(), 0U);
    parser reader;
    moving_bytes bytes;
    auto result = parse_result::incomplete;
    for (std::size_t end = 0; end <= wire.size() && result != parse_result::violation; ++end) {
      result = reader.parse(bytes.first(wire, end));
      ASSERT_NE(result, parse_result::complete) << wire << " at " << end;
    }
    ASSERT_EQ(result, parse_result::violation) << wire;
    EXPECT_STREQ(reader.problem(), whole.problem()) << wire;
  }
}

TEST(resp, stays_broken_until_reset) {
  parser reader;
  EXPECT_EQ(reader.parse("?"), parse_result::violation);
  EXPECT_EQ(reader.parse("+OK\r\n"), parse_result::violation);
  reader.reset();
  EXPECT_STREQ(reader.problem(), "");
  EXPECT_EQ(reader.parse("+OK\r\n"), parse_result::complete);
}

TEST(resp, reset_forgets_half_a_reply) {
  parser reader;
  EXPECT_EQ(reader.parse("*3\r\n:1\r\n"), parse_result::incomplete);
  reader.reset();
  EXPECT_EQ(reader.parse("+OK\r\n"), parse_result::complete);
  EXPECT_EQ(reader.reply().text(), "OK");
}

TEST(resp, wrong_shapes_are_null) {
  parser reader;
  EXPECT_TRUE(reader.reply().is_null());
  ASSERT_EQ(reader.parse("*2\r\n:1\r\n+a\r\n"), parse_result::complete);
  EXPECT_TRUE(reader.reply().at(2).is_null());
  EXPECT_TRUE(reader.reply().at(SIZE_MAX).is_null());
  EXPECT_TRUE(reader.reply().at(0).at(0).at(9).is_null());
  EXPECT_EQ(reader.reply().integer(), 0);
  EXPECT_EQ(reader.reply().text(), "");
  EXPECT_EQ(reader.reply().at(0).text(), "");
  EXPECT_EQ(reader.reply().at(1).size(), 0U);
  EXPECT_TRUE(value().at(0).is_null());
  EXPECT_EQ(value().text(), "");
}

TEST(resp, a_copy_of_an_element_still_works) {
  parser reader;
  ASSERT_EQ(reader.parse("*1\r\n*2\r\n+a\r\n$1\r\nb\r\n"), parse_result::complete);
  const value inner = reader.reply().at(0);
  EXPECT_EQ(inner.at(1).text(), "b");
}

}  // namespace
}  // namespace mortise::redis::resp_test
