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
#include <utility>

#include "lock/claim/acquire_operation.hpp"
#include "lock/claim/claim.hpp"
#include "lock/gate/gate_context.hpp"
#include "lock/gate/holders.hpp"
#include "lock/queue/queue_terms.hpp"

namespace mortise::lock {

// A value belongs to one hold, and so to one claim.
inline bool may_share(const owner& reader) noexcept {
  return !reader.is_strict && reader.value.empty();
}

class reader_sharing {
 public:
  explicit reader_sharing(const gate_context& context) : gate_(context) {}

  // A new claim, which is requested for this acquire.
  void begin_claim(const acquire_operation& first) noexcept {
    is_on_ = gate_.protocol.kind == lock_kind::rw && gate_.reports_waiters() &&
             first.amount.mode == hold_mode::shared && first.owner->renews &&
             may_share(*first.owner);
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

  // A new holder, which is not renewed beyond `end`. Returns the same for the claim, which lasts as
  // long as the longest allowed hold.
  renewal_end join(owner& holder, renewal_end end, const holders& others,
                   const claim& claim) noexcept {
    holder.joint.end = {};
    if (!is_on_) return end;
    holder.joint.end = end;
    watch_end(holder);
    if (others.is_empty()) return end;
    is_joined_ = true;
    end.join(claim.requests().terms().end);
    return end;
  }
  // The holder reports progress (option `progress`), so the claim may be renewed for longer.
  void note_progress(owner& holder, claim& claim, time_ns now) {
    auto terms = claim.requests().terms();
    auto& own_end = holder.joint.end;
    const auto until = end_by_progress(holder, now);
    if (!is_on_ && own_end.at() == time_never) {
      terms.end.note_progress(until);  // the claim has never been shared
    } else {
      own_end.note_progress(until);
      watch_end(holder);
      terms.end.join(own_end);
    }
    claim.hold()->prolong(terms, now);
  }
  // Before this time no hold ends before its claim, and no such end is reported.
  [[nodiscard]] time_ns next_end() const noexcept { return next_end_; }
  // Ends each hold whose own end comes before the end of other holds or of the lease, with
  // `lose(holder)`. All other holds end with the claim.
  template <class Lose>
  void end_holds(const holders& all, claim& claim, time_ns now, Lose&& lose) {
    next_end_ = time_never;
    const auto end = std::max(claim.requests().terms().end.at(), claim.hold()->valid_until());
    all.each([&](owner& holder) {
      auto& joint = holder.joint;
      const bool is_noticed = now >= end_notice(holder);
      if (joint.end.at() < end) {
        if (now >= joint.end.at()) return lose(holder);
        if (is_noticed && !std::exchange(joint.is_end_reported, true)) {
          gate_.listener.on_at_risk(holder, joint.end.why());
        }
      }
      // Also of a hold that ends with the claim. The progress of others may prolong the claim.
      next_end_ = std::min(next_end_, is_noticed ? joint.end.at() : end_notice(holder));
    });
  }

 private:
  // When a holder is notified of its near end, like the holder of a claim that is no longer
  // renewed.
  static time_ns end_notice(const owner& holder) noexcept {
    const auto end = holder.joint.end.at();
    return end == time_never ? time_never : end - to_ns(holder.lease_ms) / 3;
  }
  // Plans the notice of this end. The next timer checks this holder, and plans the others.
  void watch_end(owner& holder) noexcept {
    holder.joint.is_end_reported = false;
    next_end_ = std::min(next_end_, end_notice(holder));
  }

  const gate_context& gate_;
  bool is_on_ = false;
  bool is_joined_ = false;
  std::int64_t token_ = 0;  // the fencing token of the readers
  time_ns next_end_ = time_never;
};

}  // namespace mortise::lock
