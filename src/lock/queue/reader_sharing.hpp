// How readers share a claim. All readers of a client may share one reader at the servers. Each
// reader has its own hold, deadline and end. All have the fencing token of that one reader, like
// readers that are admitted together.
//
// To the servers the claim is one hold. So a reader joins only while no waiter is known ("W" and
// renewals report waiters). After such a report new readers wait at the servers, and existing
// holders drain. The message is only a hint (hazard 24), and a renewal reports waiters at the
// latest.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lock/claim/acquire_operation.hpp"
#include "lock/claim/claim.hpp"
#include "lock/gate/gate_context.hpp"
#include "lock/gate/holders.hpp"

namespace mortise::lock {

class reader_sharing {
 public:
  explicit reader_sharing(const gate_context& context) : gate_(context) {}

  // A new claim, which is requested for this acquire.
  void begin_claim(const acquire_operation& first) noexcept {
    is_on_ = gate_.protocol.kind == lock_kind::rw && gate_.reports_waiters() &&
             first.amount.mode == hold_mode::shared && first.owner->renews &&
             !first.owner->is_strict;
    token_ = 0;
  }
  // Whether readers of this client may join the waiters or holders of the claim.
  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  // Also after a downgrade: no other reader may share a writer's token.
  void stop() noexcept { is_on_ = false; }
  // Whether readers have joined, so that more readers may join without a request.
  [[nodiscard]] bool is_joined() const noexcept { return is_joined_; }
  void end_claim() noexcept {
    is_joined_ = false;
    next_end_ = time_never;
  }

  // All readers of one claim have one token, because no writer came in between.
  [[nodiscard]] bool has_token(const hold& hold) const noexcept {
    return (is_on_ && token_ != 0) || hold.has_token();
  }
  std::int64_t next_token(hold& hold) noexcept {
    if (!is_on_) return hold.take_token();
    if (token_ == 0) token_ = hold.take_token();
    return token_;
  }

  // A new holder, which is not renewed beyond `until`. Returns the same for the claim, which lasts
  // as long as the longest allowed hold.
  time_ns join(owner& holder, time_ns until, const holders& others, const claim& claim) noexcept {
    holder.joint.until = time_never;
    if (!is_on_) return until;
    holder.joint.until = until;
    holder.joint.is_end_reported = false;
    // The next timer checks this holder, and plans the others.
    next_end_ = std::min(next_end_, end_notice(holder));
    if (others.is_empty()) return until;
    is_joined_ = true;
    return std::max(until, claim.requests().terms().until);
  }
  // Before this time no hold ends before its claim, and no such end is reported.
  [[nodiscard]] time_ns next_end() const noexcept { return next_end_; }
  // Ends each hold whose max_hold has passed before the end of other holds or of the lease, with
  // `lose(holder)`. All other holds end with the claim.
  template <class Lose>
  void end_holds(const holders& all, claim& claim, time_ns now, Lose&& lose) {
    next_end_ = time_never;
    const auto end = std::max(claim.requests().terms().until, claim.hold()->valid_until());
    all.each([&](owner& holder) {
      auto& joint = holder.joint;
      if (joint.until >= end) return;
      if (now >= joint.until) return lose(holder);
      if (!joint.is_end_reported && now >= end_notice(holder)) {
        joint.is_end_reported = true;
        gate_.listener.on_at_risk(holder, reason::max_hold);
      }
      next_end_ = std::min(next_end_, joint.is_end_reported ? joint.until : end_notice(holder));
    });
  }

 private:
  // When a holder is notified of its near end, like the holder of a claim that is no longer
  // renewed.
  static time_ns end_notice(const owner& holder) noexcept {
    return holder.joint.until == time_never ? time_never
                                            : holder.joint.until - to_ns(holder.lease_ms) / 3;
  }

  const gate_context& gate_;
  bool is_on_ = false;
  bool is_joined_ = false;
  std::int64_t token_ = 0;  // the fencing token of the readers
  time_ns next_end_ = time_never;
};

}  // namespace mortise::lock
