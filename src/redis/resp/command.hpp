// Commands as RESP arrays of bulk strings, appended to a buffer that the caller keeps.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/text/decimal.hpp"

namespace mortise::redis {

// A server-side step: a Lua file of src/protocol/scripts, embedded at build time with its SHA-1.
struct script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;  // 40 hexadecimal digits
};

// Accepts any kind of string.
template <class Text>
class command_writer {
 public:
  explicit command_writer(Text& out) : out_(out) {}

  // Begins a command of `count` arguments, which must follow.
  command_writer& begin(std::size_t count) {
    char* const start = grow(head_room);
    return cut(put_head(start, '*', count));
  }
  command_writer& arg(std::string_view bytes) {
    char* const start = grow(room_for(bytes));
    return cut(put(start, bytes));
  }
  command_writer& arg(std::int64_t number) { return arg(decimal(number)); }
  // Writes all arguments at once, the cheapest way.
  command_writer& command(std::span<const std::string_view> args) {
    std::size_t room = head_room;
    for (const auto item : args) room += room_for(item);
    char* at = put_head(grow(room), '*', args.size());
    for (const auto item : args) at = put(at, item);
    return cut(at);
  }
  command_writer& command(std::initializer_list<std::string_view> args) {
    return command(std::span(args.begin(), args.size()));
  }

 private:
  // A mark, 20 digits and a line end.
  static constexpr std::size_t head_room = 23;

  static std::size_t room_for(std::string_view bytes) { return head_room + bytes.size() + 2; }
  static char* put_end(char* at) {
    *at++ = '\r';
    *at++ = '\n';
    return at;
  }
  static char* put_head(char* at, char mark, std::size_t count) {
    *at++ = mark;
    if (count < 10) {
      *at++ = static_cast<char>('0' + count);
    } else {
      at = std::to_chars(at, at + 20, count).ptr;
    }
    return put_end(at);
  }
  static char* put(char* at, std::string_view bytes) {
    at = put_head(at, '$', bytes.size());
    return put_end(std::copy(bytes.begin(), bytes.end(), at));
  }
  // Adds room after the present bytes. cut() drops the unused rest.
  char* grow(std::size_t room) {
    const auto before = out_.size();
    out_.resize(before + room);
    return out_.data() + before;
  }
  command_writer& cut(const char* end) {
    out_.resize(static_cast<std::size_t>(end - out_.data()));
    return *this;
  }

  Text& out_;
};

}  // namespace mortise::redis
