// How a claim queue retains its claim (`retain`). An unlock without waiters leaves the claim with
// the client for a while, without a holder. The next acquire takes up the claim without a round
// trip.
//
// At the servers a retained claim is an ordinary hold. A waiter there notifies this client ("W"),
// which releases the claim at once. The message is only a hint (hazard 24), so the retention also
// ends by itself. A claim is never renewed without a holder. Its retention ends before the lease is
// so short that a renewal would be necessary (hazard 18).
#pragma once

#include <algorithm>

#include "lock/claim/claim.hpp"
#include "lock/gate/gate_context.hpp"

namespace mortise::lock {

class retention {
 public:
  explicit retention(const gate_context& context) : gate_(context) {}

  // A new claim, which is requested for this owner.
  void begin_claim(const owner& first) noexcept {
    is_possible_ = first.retain_ms > 0 && gate_.reports_waiters();
  }
  // Whether the claim may be retained. Then its owner token shows this to other clients.
  [[nodiscard]] bool is_possible() const noexcept { return is_possible_; }
  // Retains the claim of the last holder, or returns false. Only if the servers report waiters, and
  // while a connection can deliver the reports.
  bool begin(const owner& last, claim& claim, time_ns now) {
    if (last.retain_ms == 0 || !is_possible_ || !last.renews) return false;
    if (!claim.is_settled(now) || !gate_.has_connection()) return false;
    claim.hold()->rest();
    until_ = std::min(now + to_ns(last.retain_ms), claim.hold()->rests_until());
    return true;
  }
  void end() noexcept { until_ = 0; }

  [[nodiscard]] bool is_on() const noexcept { return until_ != 0; }
  // Only while it is on.
  [[nodiscard]] time_ns until() const noexcept { return until_; }

 private:
  const gate_context& gate_;
  bool is_possible_ = false;
  time_ns until_ = 0;  // 0: the claim is not retained
};

}  // namespace mortise::lock
