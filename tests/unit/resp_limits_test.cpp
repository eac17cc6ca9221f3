// What the parser refuses for its size, whole and byte by byte, and that refusing is all it costs.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redis/resp/resp.hpp"

namespace mortise::redis::resp_limits_test {
namespace {

parse_result result_of(std::string_view wire, parser_limits limits) {
  parser whole(limits);
  const auto result = whole.parse(wire);
  parser slow(limits);
  auto last = parse_result::incomplete;
  for (std::size_t end = 0; end <= wire.size() && last == parse_result::incomplete; ++end) {
    last = slow.parse(wire.substr(0, end));
  }
  EXPECT_EQ(last, result) << wire;
  EXPECT_STREQ(slow.problem(), whole.problem()) << wire;
  return result;
}

TEST(resp_limits, bytes) {
  parser_limits limits;
  limits.reply_bytes = 12;
  EXPECT_EQ(result_of("+123456789\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("+1234567890\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("+1234567890123456", limits), parse_result::violation);
  EXPECT_EQ(result_of("$6\r\n123456\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("$7\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("*2\r\n:1\r\n:2\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("*2\r\n:1\r\n:22\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("*3\r\n:1\r\n:2\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("*2\r\n+\r\n$0\r\n\r\n", limits), parse_result::violation);
  // The limit is on each reply, not on what lies in the buffer.
  EXPECT_EQ(result_of("+OK\r\n+1234567890123456\r\n", limits), parse_result::complete);
  limits.reply_bytes = 0;
  EXPECT_EQ(result_of("+\r\n", limits), parse_result::violation);
}

TEST(resp_limits, elements_of_all_levels_together) {
  parser_limits limits;
  limits.elements = 4;
  EXPECT_EQ(result_of("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("*5\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("%2\r\n:1\r\n:2\r\n:3\r\n:4\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("%3\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("*2\r\n*3\r\n", limits), parse_result::violation);
  // An attribute counts as one more than its content.
  EXPECT_EQ(result_of("|1\r\n:1\r\n:2\r\n*1\r\n:3\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("|1\r\n:1\r\n:2\r\n*2\r\n", limits), parse_result::violation);
  EXPECT_EQ(result_of("|0\r\n|0\r\n|0\r\n|0\r\n:1\r\n", limits), parse_result::complete);
  EXPECT_EQ(result_of("|0\r\n|0\r\n|0\r\n|0\r\n|0\r\n", limits), parse_result::violation);
}

std::string nest(const char* head, int levels) {
  std::string wire;
  for (int i = 0; i < levels; ++i) wire += head;
  return wire + ":1\r\n";
}

TEST(resp_limits, depth) {
  const parser_limits limits;
  EXPECT_EQ(result_of(nest("*1\r\n", 8), limits), parse_result::complete);
  EXPECT_EQ(result_of(nest("*1\r\n", 9), limits), parse_result::violation);
  EXPECT_EQ(result_of(nest("%1\r\n+k\r\n", 9), limits), parse_result::violation);
  EXPECT_EQ(result_of(nest("|1\r\n", 9), limits), parse_result::violation);
  parser_limits flat;
  flat.depth = 0;
  EXPECT_EQ(result_of(":1\r\n", flat), parse_result::complete);
  EXPECT_EQ(result_of("*0\r\n", flat), parse_result::violation);
  // A bound beyond what the parser has room for is cut down, not believed.
  parser_limits wild;
  wild.depth = 1'000'000;
  EXPECT_EQ(result_of(nest("*1\r\n", 32), wild), parse_result::complete);
  EXPECT_EQ(result_of(nest("*1\r\n", 33), wild), parse_result::violation);
}

TEST(resp_limits, declared_sizes_beyond_the_limits_are_refused_at_once) {
  const parser_limits limits;
  for (const char* head : {"$4194304\r\n", "*65537\r\n", "%32769\r\n", "~65537\r\n", ">65537\r\n",
                           "|32769\r\n", "=4194304\r\n", "!4194304\r\n"}) {
    EXPECT_EQ(result_of(head, limits), parse_result::violation) << head;
  }
  EXPECT_EQ(result_of("$4194291\r\n", limits), parse_result::incomplete);
  EXPECT_EQ(result_of("*65536\r\n", limits), parse_result::incomplete);
}

// Each byte of the largest reply arrives alone, in a buffer that grows. This is linear. It would
// take hours if the parser started again each time.
TEST(resp_limits, large_replies_in_small_pieces_are_linear) {
  std::string wire = "*65536\r\n";
  for (int i = 0; i < 65536; ++i) wire += "$10\r\n0123456789\r\n";
  parser reader;
  for (std::size_t end = 0; end < wire.size(); ++end) {
    ASSERT_EQ(reader.parse(std::string_view(wire).substr(0, end)), parse_result::incomplete);
  }
  ASSERT_EQ(reader.parse(wire), parse_result::complete);
  EXPECT_EQ(reader.reply().size(), 65536U);
  EXPECT_EQ(reader.reply().at(65535).text(), "0123456789");

  wire = "-" + std::string(4'000'000, 'x');
  for (std::size_t end = 0; end <= wire.size(); ++end) {
    ASSERT_EQ(reader.parse(std::string_view(wire).substr(0, end)), parse_result::incomplete);
  }
}

}  // namespace
}  // namespace mortise::redis::resp_limits_test
