// Commands as RESP arrays of bulk strings, appended to a buffer that the caller keeps.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace mortise::redis {

// A server-side step: a Lua file of src/scripts, embedded at build time with its SHA-1.
struct script {
  std::string_view name;
  std::string_view text;
  std::string_view sha1;  // 40 hexadecimal digits
};

class command_writer {
 public:
  explicit command_writer(std::string& out) : out_(out) {}

  // Announces a command of `count` arguments, which must follow.
  command_writer& begin(std::size_t count) {
    head('*', count);
    return *this;
  }
  command_writer& arg(std::string_view bytes) {
    head('$', bytes.size());
    out_.append(bytes);
    out_.append("\r\n", 2);
    return *this;
  }
  command_writer& arg(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return arg(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  command_writer& command(std::initializer_list<std::string_view> args) {
    begin(args.size());
    for (const auto item : args) arg(item);
    return *this;
  }

 private:
  void head(char mark, std::size_t count) {
    char digits[24];
    digits[0] = mark;
    auto* end = std::to_chars(digits + 1, digits + sizeof digits - 2, count).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out_.append(digits, static_cast<std::size_t>(end - digits));
  }

  std::string& out_;
};

}  // namespace mortise::redis
