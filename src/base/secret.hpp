// A text that is overwritten before its memory is given back, such as a password.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace mortise {

class secret {
 public:
  secret() noexcept = default;
  explicit secret(std::string_view text) : text_(text) {}
  secret(const secret&) = default;
  secret(secret&& other) noexcept { text_.swap(other.text_); }
  // By value, so that what was there is overwritten with the parameter.
  secret& operator=(secret other) noexcept {
    text_.swap(other.text_);
    return *this;
  }
  ~secret() { ::explicit_bzero(text_.data(), text_.capacity()); }

  [[nodiscard]] std::string_view view() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  friend bool operator==(const secret& one, std::string_view other) noexcept {
    return one.text_ == other;
  }

 private:
  std::string text_;
};

}  // namespace mortise
