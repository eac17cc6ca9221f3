// One command in flight, or several that belong together.
#pragma once

#include <cstdint>

#include "base/fifo.hpp"
#include "base/time.hpp"
#include "net/threads/caller.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::redis {

struct login;

// The sender owns the request, and keeps it alive until exactly one of the two calls below. They
// run without any lock of the engine, on the reading thread (a leading caller, or the I/O thread),
// in the order of sending. They may submit further requests and may destroy the request, but must
// not block.
class request : public fifo_link<request> {
 public:
  virtual ~request() = default;
  // `now` was read when the reply arrived.
  virtual void on_reply(const value& reply, time_ns now) noexcept = 0;
  // The connection broke. `was_sent`: at least the first byte may have been sent.
  virtual void on_broken(bool was_sent) noexcept = 0;

  // MULTI … EXEC in one write has as many replies as commands. The sender gets the first error at
  // once, or otherwise the last reply.
  int reply_count = 1;
  // The sender gets each reply instead, in order, including errors. The request ends with the last.
  bool takes_each = false;
  // SUBSCRIBE or UNSUBSCRIBE of one channel. The reply is a message or an error.
  bool is_subscription = false;
  // The login inside the command, which an error may repeat. The command is AUTH, then HELLO. The
  // sender gets the reply to AUTH, or that to HELLO if the server dropped the first one.
  const login* says = nullptr;
  // The caller that blocks for it, if any. Read in submit() only.
  net::caller* caller = nullptr;

 private:
  friend class pipeline;
  friend class reply_reader;
  friend class request_list;
  std::uint64_t start_ = 0;  // bytes of the connection before its first one
  int replies_left_ = 0;
  bool is_for_callers_ = false;  // for callers to read: one waits for the reply, or no thread does
};

// now: a blocking caller sends immediately.
// before_await: the request's caller is the submitting thread, which calls await() in any case. It
// may take the lead before the reply arrives, so the reply wakes no other thread.
// by_io_thread: requests are sent in batches.
// unattended: like by_io_thread, for a thread that does not await the reply.
// sent: the submitting thread writes immediately. The next reader, a caller or the I/O thread, gets
// the reply.
enum class flush { now, before_await, by_io_thread, unattended, sent };

}  // namespace mortise::redis
