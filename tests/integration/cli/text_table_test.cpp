#include "cli/text/text_table.hpp"

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

TEST(text_table, prints_the_characters_of_all_languages) {
  for (const auto* const text : {"plain ~", "\u00A0", "\u00e4\u07FF", "\u0800\uD7FF\uE000\uFFFD",
                                 "\U00010000\U0010FFFF", "e\u0301"}) {
    EXPECT_EQ(printable_of(text), text);
  }
}

TEST(text_table, escapes_what_a_terminal_may_obey) {
  EXPECT_EQ(printable_of("\x1B[2J\x7F\n"), "\\x1B[2J\\x7F\\x0A");
  EXPECT_EQ(printable_of("a\xC2\x9B"
                         "2J"),
            "a\\xC2\\x9B2J");
  EXPECT_EQ(printable_of("\xC2\x80\xC2\x9F"), "\\xC2\\x80\\xC2\\x9F");
}

TEST(text_table, escapes_bytes_that_are_not_utf_8) {
  EXPECT_EQ(printable_of("a\x9B"
                         "2J"),
            "a\\x9B2J");
  // Cut off, before another character, overlong, a surrogate, beyond Unicode.
  EXPECT_EQ(printable_of("\xC3"), "\\xC3");
  EXPECT_EQ(printable_of("\xE2\x82"), "\\xE2\\x82");
  EXPECT_EQ(printable_of("\xC3z"), "\\xC3z");
  EXPECT_EQ(printable_of("\xC1\xBF"), "\\xC1\\xBF");
  EXPECT_EQ(printable_of("\xE0\x9F\xBF"), "\\xE0\\x9F\\xBF");
  EXPECT_EQ(printable_of("\xF0\x8F\xBF\xBF"), "\\xF0\\x8F\\xBF\\xBF");
  EXPECT_EQ(printable_of("\xED\xA0\x80"), "\\xED\\xA0\\x80");
  EXPECT_EQ(printable_of("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  EXPECT_EQ(printable_of("\xFF\xFE"), "\\xFF\\xFE");
}

}  // namespace
}  // namespace mortise::cli
