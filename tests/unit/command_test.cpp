// Commands in RESP, byte for byte.
#include "redis/resp/command.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/text/decimal.hpp"

namespace mortise::redis::command_test {
namespace {

TEST(command_writer_test, appends_words_with_their_lengths) {
  std::string out = "before";
  command_writer(out).command({"SET", "", std::string("a\0b", 3), std::string(100, 'x')});
  EXPECT_EQ(out, "before*4\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n" + std::string("a\0b", 3) +
                     "\r\n$100\r\n" + std::string(100, 'x') + "\r\n");
}

TEST(command_writer_test, a_word_by_word_command_is_the_same) {
  for (const std::size_t size : {0U, 9U, 10U, 99U, 100U, 12345U}) {
    const std::string word(size, 'w');
    std::string at_once;
    command_writer(at_once).command({"EVAL", word, "-7"});
    std::string by_words;
    command_writer(by_words).begin(3).arg("EVAL").arg(word).arg(std::int64_t{-7});
    EXPECT_EQ(by_words, at_once);
  }
}

TEST(command_writer_test, counts_words_beyond_nine) {
  std::string out;
  command_writer(out).command({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
  EXPECT_EQ(out.substr(0, 12), "*11\r\n$1\r\n0\r\n");
}

TEST(decimal_test, holds_the_longest_numbers) {
  EXPECT_EQ(std::string_view(decimal(std::numeric_limits<std::int64_t>::min())),
            "-9223372036854775808");
  EXPECT_EQ(std::string_view(decimal(std::numeric_limits<std::uint64_t>::max())),
            "18446744073709551615");
  EXPECT_EQ(std::string_view(decimal(0)), "0");
}

}  // namespace
}  // namespace mortise::redis::command_test
