// Received bytes that are not parsed yet, in one piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace mortise::redis {

class input_buffer {
 public:
  static constexpr std::size_t smallest = 512;
  static constexpr std::size_t roomy = 64U << 10U;

  [[nodiscard]] std::string_view unread() const noexcept {
    return {bytes_.get() + begin_, end_ - begin_};
  }
  void consume(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() noexcept { begin_ = end_ = 0; }

  // The place for received bytes. Call make_room first.
  [[nodiscard]] char* tail() const noexcept { return bytes_.get() + end_; }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - end_; }
  // A filled room means that more arrives at a time than expected. The next room is larger.
  void received(std::size_t count) noexcept {
    is_tight_ = count == room();
    end_ += count;
  }
  // Frees the memory of a long reply, because a connection may never be idle.
  void make_room() {
    if (capacity_ > roomy) release();
    if (begin_ > 0) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if ((is_tight_ && capacity_ < roomy) || room() < smallest / 4) {
      resize(std::max(capacity_ * 2, smallest));
    }
    is_tight_ = false;
  }
  // Frees the memory. The next input allocates it again.
  void release() noexcept {
    if (begin_ != end_) return;
    bytes_.reset();
    capacity_ = begin_ = end_ = 0;
  }

 private:
  void resize(std::size_t capacity) {
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (end_ > begin_) std::memcpy(bytes.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_tight_ = false;
};

}  // namespace mortise::redis
