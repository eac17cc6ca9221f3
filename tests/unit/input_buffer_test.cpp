#include "redis/resp/input_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace mortise::redis::input_buffer_test {
namespace {

// Receives as much of the text as there is room for, and returns how much.
std::size_t receive(input_buffer& buffer, std::string_view text) {
  buffer.make_room();
  const auto count = std::min(buffer.room(), text.size());
  std::memcpy(buffer.tail(), text.data(), count);
  buffer.received(count);
  return count;
}

std::string text_of(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('!' + i % 89);
  return text;
}

TEST(input_buffer, keeps_what_was_not_parsed) {
  const auto text = text_of(20 * input_buffer::roomy);
  input_buffer buffer;
  std::string parsed;
  for (std::size_t at = 0; at < text.size();) {
    at += receive(buffer, std::string_view(text).substr(at));
    // A part is parsed now and then, as with replies of different lengths.
    const auto count = parsed.size() % 3 == 0 ? buffer.unread().size() / 3 : 0;
    parsed.append(buffer.unread().substr(0, count));
    buffer.consume(count);
  }
  EXPECT_EQ(text, parsed.append(buffer.unread()));
}

TEST(input_buffer, keeps_no_memory_of_a_long_reply) {
  const auto text = text_of(20 * input_buffer::roomy);
  input_buffer buffer;
  for (std::size_t at = 0; at < text.size();) {
    at += receive(buffer, std::string_view(text).substr(at));
  }
  buffer.consume(text.size());
  EXPECT_LT(input_buffer::roomy, buffer.room());
  buffer.make_room();
  EXPECT_GE(input_buffer::roomy, buffer.room());
}

}  // namespace
}  // namespace mortise::redis::input_buffer_test
