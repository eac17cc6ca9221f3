// A reply that hiredis has read.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>

namespace mortise::bench {

struct free_reply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using reply_ptr = std::unique_ptr<redisReply, free_reply>;

}  // namespace mortise::bench
