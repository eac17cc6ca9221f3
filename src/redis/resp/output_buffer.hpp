// Outgoing bytes: those being sent, which belong to the sender, and those appended meanwhile. Two
// strings swap places, so a busy connection allocates nothing unless it sends much at a time. They
// are wiped when all is sent, because a password may be among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/secret.hpp"

namespace mortise::redis {

class output_buffer {
 public:
  // A buffer that has become longer, as by the texts of many scripts, is freed when it was sent.
  static constexpr std::size_t longest_kept = 64U << 10U;

  // How many bytes were appended in all, and how many of them were sent.
  [[nodiscard]] std::uint64_t appended() const noexcept { return appended_; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] bool is_empty() const noexcept { return appended_ == sent_; }
  [[nodiscard]] std::size_t unsent() const noexcept {
    return static_cast<std::size_t>(appended_ - sent_);
  }

  void append(std::string_view bytes) {
    waiting_.append(bytes);
    appended_ += bytes.size();
  }
  // The same without a copy, if the buffer is empty.
  void append(wiped_bytes&& bytes) {
    if (!waiting_.empty()) return append(std::string_view(bytes));
    appended_ += bytes.size();
    waiting_ = std::move(bytes);
  }
  // The bytes to send next. They stay in place until note_sent, whatever is appended.
  std::string_view front() noexcept {
    if (offset_ == sending_.size()) {
      sending_.clear();
      offset_ = 0;
      sending_.swap(waiting_);
    }
    return std::string_view(sending_).substr(offset_);
  }
  void note_sent(std::size_t count) noexcept {
    offset_ += count;
    sent_ += count;
    if (offset_ != sending_.size() || sending_.capacity() <= longest_kept) return;
    wiped_bytes().swap(sending_);
    offset_ = 0;
  }

  // Discards all bytes. The counts continue from the same number.
  void clear() noexcept {
    sent_ = appended_;
    release();
  }
  // Frees the memory of an empty buffer. Only while no thread sends.
  void release() noexcept {
    if (!is_empty()) return;
    wiped_bytes().swap(sending_);
    wiped_bytes().swap(waiting_);
    offset_ = 0;
  }

 private:
  wiped_bytes sending_;
  wiped_bytes waiting_;
  std::size_t offset_ = 0;  // how much of sending_ was sent
  std::uint64_t appended_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace mortise::redis
