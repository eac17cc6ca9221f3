// Requests in the order of sending. An intrusive list, which needs no memory.
#pragma once

#include "redis/resp/request.hpp"

namespace mortise::redis {

class request_list {
 public:
  [[nodiscard]] request* first() const noexcept { return first_; }

  // From here on the request waits for all its replies.
  void push(request& item) noexcept {
    item.replies_left_ = item.reply_count;
    item.next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = &item;
    last_ = &item;
  }
  request* pop() noexcept {
    request* const item = first_;
    if (item != nullptr) {
      first_ = item->next_;
      if (first_ == nullptr) last_ = nullptr;
    }
    return item;
  }
  // Appends all requests of `other`, which is empty afterwards.
  void take_all(request_list& other) noexcept {
    if (other.first_ == nullptr) return;
    (last_ == nullptr ? first_ : last_->next_) = other.first_;
    last_ = other.last_;
    other = {};
  }

 private:
  request* first_ = nullptr;
  request* last_ = nullptr;
};

}  // namespace mortise::redis
