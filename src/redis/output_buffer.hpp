// Bytes on their way out: those that are being sent, which belong to whoever sends, and those that
// were appended meanwhile. Two strings that change places, so that a busy connection allocates
// nothing; they are wiped when it has nothing to say any more, as a password may have been among
// it.
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
  // How many bytes were ever appended, and how many of them have left.
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
  // The same without a copy, if nothing waits.
  void append(wiped_bytes&& bytes) {
    if (!waiting_.empty()) return append(std::string_view(bytes));
    appended_ += bytes.size();
    waiting_ = std::move(bytes);
  }
  // What to send next. Stays where it is, whatever is appended, until note_sent.
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
  }

  // Forgets everything; the counts go on from the same number.
  void clear() noexcept {
    sent_ = appended_;
    release();
  }
  // Gives the memory back, if it is empty; only while nobody sends.
  void release() noexcept {
    if (!is_empty()) return;
    wiped_bytes().swap(sending_);
    wiped_bytes().swap(waiting_);
    offset_ = 0;
  }

 private:
  wiped_bytes sending_;
  wiped_bytes waiting_;
  std::size_t offset_ = 0;  // how much of sending_ has left
  std::uint64_t appended_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace mortise::redis
