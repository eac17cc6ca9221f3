// The owners of a client that share one claim at the servers: its waiters and its holders. All
// users of a mutex share one claim queue, and the lock passes from one to the next. Readers of a
// read-write lock may share one claim queue and hold together (reader_sharing.hpp). A writer
// or a user of permits has a claim queue of its own, and so its own place in the queue at the
// server.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

#include "lock/claim/acquire_operation.hpp"
#include "lock/claim/claim.hpp"
#include "lock/claim_event.hpp"
#include "lock/exported_claim.hpp"
#include "lock/gate/gate_context.hpp"
#include "lock/gate/holders.hpp"
#include "lock/gate/passes.hpp"
#include "lock/hold_calls.hpp"
#include "lock/queue/reader_sharing.hpp"
#include "lock/queue/retention.hpp"

namespace mortise::lock {

class claim_queue {
 public:
  explicit claim_queue(gate_context& context) : gate_(context) {}
  claim_queue(const claim_queue&) = delete;
  claim_queue& operator=(const claim_queue&) = delete;

  // Accepts an acquire of an owner that is in no claim queue.
  void enter(acquire_operation& acquire, time_ns now);
  // The other calls are for an owner that holds or waits in this claim queue.
  outcome acquire_again(acquire_operation& acquire);
  outcome unlock(owner& owner, hold_mode mode, operation* done, time_ns now);
  outcome extend(owner& owner, std::int64_t lease_ms, operation& done, time_ns now);
  outcome raise(owner& owner, operation& done, time_ns now);
  outcome lower(owner& owner, std::int64_t permits, operation& done, time_ns now);
  void note_progress(lock::owner& owner, time_ns now) {
    sharing_.note_progress(owner, *current_, now);
  }
  outcome set_value(std::string_view text, operation& done, time_ns now);
  // The lease of an export: that of the owner, or the rest of the time of an adopted hold.
  [[nodiscard]] std::int64_t export_lease_ms(const lock::owner& owner, time_ns now) const noexcept {
    return std::max(owner.lease_ms, (hold().granted_until() - now) / ns_per_ms);
  }
  // Ends the hold of this owner without a release, so that another client can adopt it. If the
  // result is ok, `exported` describes it.
  outcome export_hold(lock::owner& owner, exported_claim& exported, time_ns now);
  // ok unless a call is changing the mode of the hold.
  [[nodiscard]] outcome check_free() const;
  void abandon_acquire(acquire_operation& given_up, status why, time_ns now);
  // The same with this result.
  void end_acquire(acquire_operation& given_up, const outcome& result, time_ns now);
  [[nodiscard]] bool has_open(const operation& call) const noexcept { return calls_.has(call); }
  // An extension, an upgrade or a downgrade.
  void abandon(operation& given_up, outcome result, status why, const outcome& problem);
  void end_calls_of(owner& owner, const outcome& result) {
    calls_.finish_of(owner, result);
    note_targets();
  }
  void close(time_ns now);

  // Whether a try would be refused, because another handle of this client is ahead.
  [[nodiscard]] bool is_ahead_of_tries() const noexcept {
    return !is_retained() && (current_ || !waiters_.empty());
  }
  [[nodiscard]] const char* obstacle() const noexcept {
    return holders_.is_empty() ? "another handle of this client is ahead"
                               : "another handle of this client holds it";
  }
  // Whether this acquire may share the claim of other readers of this client.
  [[nodiscard]] bool admits(const acquire_operation& reader, time_ns now) const noexcept;
  // From now on no reader joins the holders or waiters of this claim queue.
  void admit_no_more() noexcept {
    if (!sharing_.is_on() || !current_) return;
    current_->on_waiter();
    report_contention();
  }
  // Reports waiters to each holder that asks for it and was not notified during its hold.
  void report_contention() noexcept;
  // Whether the acquire may take the retained claim; and the end of the retention.
  [[nodiscard]] bool may_take_up(const acquire_operation& next, time_ns now) const noexcept;
  void end_retention(time_ns now) {
    if (is_retained()) release_claim(now);
  }

  // Events.
  void on_answer(std::uint32_t serial, const step_result& result, time_ns now);
  void on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait, time_ns now);
  void on_waiter(time_ns now);
  void on_forced(time_ns now);
  void on_up(time_ns now);
  void on_timer(time_ns now);
  // Ends the holds that are over before a timer reports them.
  void settle(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // The claim at the servers, or nullptr.
  [[nodiscard]] lock::claim* claim() const noexcept { return current_.get(); }
  // The attempt of this claim, or nullptr in another phase.
  [[nodiscard]] lock::attempt* attempt() const noexcept {
    return current_ ? current_->attempt() : nullptr;
  }
  [[nodiscard]] bool is_idle() const noexcept { return !current_ && waiters_.empty(); }
  [[nodiscard]] bool is_queued() const noexcept {
    return attempt() != nullptr && attempt()->is_queued();
  }
  [[nodiscard]] bool is_retained() const noexcept { return retention_.is_on(); }
  [[nodiscard]] time_ns retained_until() const noexcept { return retention_.until(); }
  // Whether readers share the claim, so that more readers may join without a request.
  [[nodiscard]] bool is_joined() const noexcept { return sharing_.is_joined(); }
  [[nodiscard]] const holders& held_by() const noexcept { return holders_; }
  [[nodiscard]] std::size_t waiter_count() const noexcept { return waiters_.size(); }
  // The first waiter, or nullptr.
  [[nodiscard]] const acquire_operation* first_waiter() const noexcept {
    return waiters_.empty() ? nullptr : waiters_.front();
  }
  [[nodiscard]] time_ns valid_until(const owner& holder) const noexcept {
    return current_ ? std::min(hold().valid_until(), holder.joint.end.at()) : 0;
  }
  [[nodiscard]] const std::list<acquire_operation*>& waiters() const noexcept { return waiters_; }
  // Records that others hold or await the lock, so the acquire waits or is refused.
  void note_taken(acquire_operation& acquire) noexcept;

 private:
  // The hold of the claim. Only while it is held.
  [[nodiscard]] lock::hold& hold() const noexcept { return *current_->hold(); }
  void end_hold(lock::owner& owner, operation* done, time_ns now);
  // The requests without a reply that may execute this call.
  [[nodiscard]] std::size_t open_requests_for(const operation& call) const noexcept {
    const auto& requests = current_->requests();
    return calls_.is(sole_call::value, call) ? requests.open(step::set_value) : requests.open();
  }
  void keep_extended(lock::owner& holder, std::int64_t lease_ms, time_ns target);
  // Renewals request what the waiting calls need.
  void note_targets() noexcept {
    if (current_ && current_->hold() != nullptr) hold().need_until(calls_.latest_target());
  }
  outcome lower_hold(lock::owner& owner, std::int64_t permits, operation* done, time_ns now);
  [[nodiscard]] outcome check_modes() const;
  [[nodiscard]] outcome give_up_outcome(const acquire_operation& given_up, status why,
                                        time_ns now) const;
  [[nodiscard]] outcome timed_out(const acquire_operation& given_up, time_ns now) const;

  [[nodiscard]] bool may_pass(time_ns now) const noexcept;
  [[nodiscard]] bool suits(const acquire_operation& next, time_ns now) const noexcept;
  bool pass_to_next(time_ns now);

  void start_next(time_ns now) noexcept;
  std::unique_ptr<lock::claim> new_claim(const acquire_operation& first, time_ns now);
  void handle(claim_event what, time_ns now);
  void grant_to_next(time_ns now);
  void set_value_of(const lock::owner& holder, time_ns now) noexcept;
  void grant(acquire_operation& next, time_ns from, time_ns now);
  void refuse_next(time_ns now);
  // Whether others are known to wait for the release of this hold.
  [[nodiscard]] bool is_wanted() const noexcept {
    return !waiters_.empty() || current_->has_known_waiter() ||
           (gate_.reports_waiters() && current_->others_wait());
  }
  // A renewal that draws tokens for a waiter extends no hold. Readers that share a claim count one
  // renewal once.
  void note_renewal(bool is_ok) noexcept {
    if (auto* const holder = holders_.first()) holder->counts_of_hold->renewed(is_ok);
  }
  void raised(time_ns now);
  void renewed(time_ns now);
  void lose(time_ns now);
  void lose_one(lock::owner& loser, reason why, bool is_risk_reported, time_ns now);
  void end_holds_in_time(time_ns now);
  // Releases the claim, for an unlock that waits for it or is counted, if any. replace_claim() also
  // starts the claim of the next waiter.
  void release_claim(time_ns now, pending_release release = {});
  void replace_claim(time_ns now, pending_release release = {});
  void finish(acquire_operation& ended, const outcome& result, time_ns now);

  gate_context& gate_;
  std::list<acquire_operation*> waiters_;
  std::unique_ptr<lock::claim> current_;
  holders holders_;  // of current_: one owner, or several readers
  passes passes_;
  hold_calls calls_{gate_.operations};
  reader_sharing sharing_{gate_};  // of current_
  retention retention_{gate_};     // of current_
  bool is_refilling_ = false;  // fencing tokens are being drawn, then the next waiter gets the lock
};

}  // namespace mortise::lock
