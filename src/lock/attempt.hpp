// The first phase of a claim, from its first question to the grant: asking, and then waiting at
// the server, which is looked at again and again.
#pragma once

#include <cstdint>
#include <optional>

#include "lock/claim_event.hpp"
#include "lock/contention.hpp"
#include "lock/protocol_facts.hpp"
#include "lock/step_requests.hpp"

namespace mortise::lock {

// How a claim that does not get the lock at once goes on. The two numbers are for protocols
// without a queue.
struct wait_terms {
  bool waits = false;
  std::int64_t poll_interval_ms = 100;
  std::int64_t poll_attempts = -1;  // how often it asks at most; -1 without a limit
  bool follows_own = false;         // something of this client is just being given back
  contention expected = {};         // of a quorum
};

class attempt {
 public:
  attempt(const protocol_facts& protocol, const wait_terms& terms, std::int64_t grant_ms)
      : protocol_(protocol), terms_(terms), grant_ms_(grant_ms) {}

  // All as of a claim. An answer that grants counts from when its question was sent.
  void start(bool directly, const operation* by, step_requests& to, time_ns now);
  claim_event on_answer(const open_request& asked, const step_result& said, step_requests& to,
                        time_ns now);
  // From when a grant by message counts; nothing when it cannot be relied on.
  std::optional<time_ns> on_grant(std::int64_t server_us, step_requests& to, time_ns now);
  void on_head(std::int64_t ttl_ms, step_requests& to, time_ns now) noexcept;
  void on_free(step_requests& to, time_ns now);
  void on_up(step_requests& to, time_ns now);
  void on_timer(step_requests& to, time_ns now);
  void retry_later(step_requests& to, time_ns now) noexcept { ask_at_ = to.retry_time(now); }
  void take_over(const wait_terms& terms) noexcept;

  [[nodiscard]] time_ns next_timer() const noexcept { return ask_at_; }
  [[nodiscard]] bool is_queued() const noexcept { return is_queued_; }
  // Whether a server has said that somebody else has it, or is ahead.
  [[nodiscard]] bool knows_of_others() const noexcept { return knows_of_others_; }
  // Whether the last question was sent, but its connection broke.
  [[nodiscard]] bool was_broken() const noexcept { return was_broken_; }
  [[nodiscard]] std::int64_t place() const noexcept { return place_; }
  [[nodiscard]] contention next_contention() const noexcept { return terms_.expected.next(); }
  // The lease of a grant by message, which the token tells the server.
  [[nodiscard]] std::int64_t grant_ms() const noexcept { return grant_ms_; }

 private:
  // Where it stands, and its grant if it can be had.
  void ask_again(step_requests& to, time_ns now);
  // At once, or when others had the chance to.
  void ask_within(time_ns window_ns, step_requests& to, time_ns now);
  void plan_split(step_requests& to, time_ns now) noexcept;
  claim_event on_not_free(const open_request& asked, const step_result& said, step_requests& to,
                          time_ns now);
  void plan_look(std::int64_t ttl_ms, std::int64_t place, step_requests& to, time_ns now) noexcept;
  void plan_poll(std::int64_t ttl_ms, step_requests& to, time_ns now) noexcept;

  const protocol_facts& protocol_;
  wait_terms terms_;
  const std::int64_t grant_ms_;
  bool is_queued_ = false;  // or refused, and waiting
  bool knows_of_others_ = false;
  bool was_broken_ = false;
  std::int64_t place_ = -1;
  time_ns ask_at_ = time_never;  // the next look at the server
  time_ns reference_ns_ = 0;  // when a question that the server answered (or the first) was sent,
  std::int64_t reference_us_ = 0;  // and the server's time in that answer, 0 without one
  bool told_free_ = false;         // a message has said so since the open question was sent
  time_ns told_head_at_ = -1;      // when a message said that it is the head of the queue,
  time_ns head_look_at_ = 0;       // and when it was to look because of that
};

}  // namespace mortise::lock
