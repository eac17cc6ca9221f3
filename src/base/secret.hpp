// Memory that is overwritten before it is freed: a text such as a password, and the bytes of a
// conversation that contained one.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mortise {

// In pages of its own, which a core dump omits and a child process after fork() does not get.
class secret {
 public:
  secret() noexcept = default;
  explicit secret(std::string_view text);
  secret(const secret& other) : secret(other.view()) {}
  secret(secret&& other) noexcept : text_(std::exchange(other.text_, {})) {}
  // By value, so that the parameter's destructor frees the old text.
  secret& operator=(secret other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~secret();

  [[nodiscard]] std::string_view view() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  friend bool operator==(const secret& one, std::string_view other) noexcept {
    return one.text_ == other;
  }

 private:
  std::string_view text_;
};

// For growing containers, which leave old copies behind.
template <class T>
struct wiping_allocator {
  using value_type = T;
  wiping_allocator() noexcept = default;
  template <class Other>
  wiping_allocator(const wiping_allocator<Other>&) noexcept {}  // NOLINT: as allocators do
  [[nodiscard]] T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* items, std::size_t count) noexcept {
    ::explicit_bzero(items, count * sizeof(T));
    std::allocator<T>().deallocate(items, count);
  }
  friend bool operator==(const wiping_allocator&, const wiping_allocator&) { return true; }
};

// Bytes for a server. Texts in the small buffer are too short for a command with a password.
using wiped_bytes = std::basic_string<char, std::char_traits<char>, wiping_allocator<char>>;

}  // namespace mortise
