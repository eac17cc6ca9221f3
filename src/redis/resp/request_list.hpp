// Requests in the order of sending.
#pragma once

#include "redis/resp/request.hpp"

namespace mortise::redis {

class request_list : public fifo<request> {
 public:
  // From here on the request waits for all its replies.
  void push(request& item) noexcept {
    item.replies_left_ = item.reply_count;
    fifo::push(item);
  }
};

}  // namespace mortise::redis
