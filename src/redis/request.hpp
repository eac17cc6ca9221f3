// One command on its way, or several that belong together.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "net/caller.hpp"
#include "redis/resp.hpp"

namespace mortise::redis {

struct login;

// Owned by the sender, who keeps it alive until exactly one of the two calls below was made. They
// come without any lock of the engine held, on whichever thread reads (a leading caller, or the I/O
// thread), in the order of sending. They may submit further requests, must not block, and the
// request may be destroyed in them.
class request {
 public:
  virtual ~request() = default;
  // `now` was read when the reply came in.
  virtual void on_reply(const value& reply, time_ns now) noexcept = 0;
  // The connection broke. `was_sent`: at least its first byte may have left.
  virtual void on_broken(bool was_sent) noexcept = 0;

  // MULTI … EXEC in one write has as many replies as commands, of which the sender is given the
  // first error, as soon as it is there, or else the last reply.
  int reply_count = 1;
  // Whether it is given each of them instead, in order and errors as well. It is over with the
  // last.
  bool takes_each = false;
  // SUBSCRIBE or UNSUBSCRIBE of one channel, whose reply is a message: it is answered by that or by
  // an error.
  bool is_subscription = false;
  // The login that it says, which an error may repeat.
  const login* says = nullptr;
  // Who blocks for it, if anybody; looked at in submit() only.
  net::caller* caller = nullptr;

 private:
  friend class pipeline;
  friend class reply_reader;
  friend class request_list;
  request* next_ = nullptr;
  std::uint64_t start_ = 0;  // how many bytes the connection was given before its first
  int replies_left_ = 0;
  bool is_for_callers_ = false;  // to read: one waits for it, or nobody does
};

// Blocking callers flush themselves; what is submitted by_io_thread is sent in batches. With
// before_await the request's caller is the submitting thread, and it comes to await() in any case:
// it can have the lead before the answer is on its way, which then wakes nobody else. Unattended is
// by_io_thread for a thread that does not come to await() for the answer. Sent is written at once
// by the submitting thread, and whoever reads next comes upon its answer, a caller as well as the
// I/O thread.
enum class flush { now, before_await, by_io_thread, unattended, sent };

}  // namespace mortise::redis
