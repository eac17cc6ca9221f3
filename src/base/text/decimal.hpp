// A number as decimal digits, without allocation.
#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>

namespace mortise {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

class decimal {
 public:
  template <class Integer>
  explicit decimal(Integer number) noexcept
      : size_(static_cast<std::size_t>(
            std::to_chars(digits_, digits_ + sizeof digits_, number).ptr - digits_)) {}
  // Valid while this object lives.
  operator std::string_view() const noexcept { return {digits_, size_}; }

 private:
  char digits_[20];  // "-9223372036854775808"
  std::size_t size_;
};

}  // namespace mortise
