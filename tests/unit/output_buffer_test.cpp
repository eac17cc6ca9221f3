#include "redis/resp/output_buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::redis::output_buffer_test {
namespace {

std::size_t allocated() {
  const auto seen = ::mallinfo2();
  return seen.uordblks + seen.hblkhd;
}

// Sends all in parts of at most this size, and returns it.
std::string send_all(output_buffer& buffer, std::size_t most) {
  std::string sent;
  while (!buffer.is_empty()) {
    const auto part = buffer.front().substr(0, most);
    sent.append(part);
    buffer.note_sent(part.size());
  }
  return sent;
}

TEST(output_buffer, keeps_the_order_of_bytes_that_are_appended_while_others_are_sent) {
  output_buffer buffer;
  std::string appended;
  std::string sent;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::string more(i * output_buffer::longest_kept / 40, static_cast<char>('!' + i % 90));
    buffer.append(more);
    appended += more;
    const auto part = buffer.front().substr(0, output_buffer::longest_kept);
    sent.append(part);
    buffer.note_sent(part.size());
  }
  sent += send_all(buffer, output_buffer::longest_kept);
  EXPECT_EQ(appended, sent);
  EXPECT_EQ(appended.size(), buffer.sent());
}

// A connection that is never idle gives back the memory of a moment with much to send.
TEST(output_buffer, keeps_no_memory_of_a_long_text) {
  output_buffer buffer;
  const auto before = allocated();
  buffer.append(std::string(100 * output_buffer::longest_kept, 'x'));
  static_cast<void>(buffer.front());
  buffer.append(std::string(100 * output_buffer::longest_kept, 'y'));
  send_all(buffer, SIZE_MAX);
  EXPECT_LT(allocated(), before + output_buffer::longest_kept);
}

// A busy connection allocates nothing.
TEST(output_buffer, keeps_the_memory_of_short_texts) {
  output_buffer buffer;
  const std::string text(output_buffer::longest_kept / 2, 'x');
  std::size_t before = 0;
  for (int round = 0; round < 4; ++round) {
    if (round == 2) before = allocated();  // each of the two strings was used
    buffer.append(text);
    send_all(buffer, SIZE_MAX);
  }
  EXPECT_EQ(before, allocated());
}

}  // namespace
}  // namespace mortise::redis::output_buffer_test
