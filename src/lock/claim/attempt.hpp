// The first phase of a claim, from its first request to the grant. The attempt sends a request, and
// then waits at the server and checks again and again.
#pragma once

#include <cstdint>
#include <optional>

#include "lock/claim_event.hpp"
#include "lock/gate/contention.hpp"
#include "lock/gate/step_requests.hpp"
#include "lock/lease.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::lock {

// What a claim does when it does not get the lock at once. The two poll numbers are for protocols
// without a queue.
struct wait_terms {
  bool waits = false;
  std::int64_t poll_interval_ms = 100;
  std::int64_t poll_attempts = -1;  // maximum number of requests; -1: no limit
  bool follows_own = false;         // directly after a pending release of this client
  contention expected = {};         // with a quorum
};

class attempt {
 public:
  attempt(step_requests& requests, const protocol_facts& protocol, const wait_terms& terms)
      : requests_(requests),
        protocol_(protocol),
        terms_(terms),
        grant_ms_(lock::grant_ms(requests.terms().lease_ms)) {}

  // Sends the first request. `directly` skips the cheap try because the lock is likely taken.
  void start(bool directly, const operation* requester, time_ns now);
  // As in `claim`. A granting reply counts from the time at which its request was sent.
  claim_event on_answer(const open_request& request, const step_result& result, time_ns now);
  // The time from which a grant by message counts, or nothing if the grant is not reliable.
  std::optional<time_ns> on_grant(std::int64_t server_us, time_ns now);
  // A grant without the claim's secret. The servers know whether it is true.
  void on_false_grant(time_ns now);
  // The message "head of the queue": check again when the present lease ends.
  void on_head(std::int64_t ttl_ms, time_ns now) noexcept;
  // The message "released", which a channel publishes to all possible waiters.
  void on_free(time_ns now);
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);
  // Repeats the request a little later, because the server's refusal is temporary.
  void retry_later(time_ns now) noexcept { ask_at_ = requests_.retry_time(now); }
  // Another handle of this client takes over the request or the place.
  void take_over(const lease_terms& lease, const wait_terms& terms) noexcept;

  [[nodiscard]] time_ns next_timer() const noexcept { return ask_at_; }
  [[nodiscard]] bool is_queued() const noexcept { return is_queued_; }
  // False after a server has reported another holder, or a waiter ahead.
  [[nodiscard]] bool awaits_first_reply() const noexcept { return !is_queued_ || !is_taken_; }
  // Whether a request has no reply, so that the result of giving up now is unknown.
  [[nodiscard]] bool is_unanswered() const noexcept { return requests_.open() > 0 || was_broken_; }
  // The place in the queue that the server last reported. 0 is the head, -1 unknown.
  [[nodiscard]] std::int64_t place() const noexcept { return place_; }
  [[nodiscard]] contention next_contention() const noexcept { return terms_.expected.next(); }
  // The lease of a grant by message. The server reads it from the owner token.
  [[nodiscard]] std::int64_t grant_ms() const noexcept { return grant_ms_; }

 private:
  // Asks for the place in the queue, or for the grant if the lock is available.
  void ask_again(time_ns now);
  // Whether the lease of this adoption has ended by our clock before the reply.
  [[nodiscard]] bool is_late_adoption(const open_request& request, time_ns now) const noexcept;
  // Asks at a random time within the window, so that other clients have a chance. 0: at once.
  void ask_within(time_ns window_ns, time_ns now);
  void plan_split(time_ns now) noexcept;
  claim_event on_small_token(time_ns now);
  claim_event on_not_free(const open_request& request, const step_result& result, time_ns now);
  void plan_check(std::int64_t ttl_ms, std::int64_t place, time_ns now) noexcept;
  void plan_poll(std::int64_t ttl_ms, time_ns now) noexcept;

  step_requests& requests_;
  const protocol_facts& protocol_;
  wait_terms terms_;
  const std::int64_t grant_ms_;
  bool is_queued_ = false;  // also after a refusal, while it waits
  bool is_taken_ = false;
  bool had_small_token_ = false;
  bool was_broken_ = false;  // the last request was sent, and its connection broke before the reply
  std::int64_t place_ = -1;
  time_ns ask_at_ = time_never;    // the time of the next request
  time_ns reference_ns_ = 0;       // send time of the last answered request, or the first
  std::int64_t reference_us_ = 0;  // the server's time in that reply, or 0
  bool is_free_reported_ = false;  // a message reported a free lock after the open request
  time_ns head_reported_at_ = -1;  // when a message last reported it as head of the queue
  time_ns head_check_at_ = 0;      // the check that this message planned
};

}  // namespace mortise::lock
