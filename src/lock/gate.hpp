// All handles of one client for one name: who of them holds, who waits, and how the client's one
// claim at the server (its tenure) goes from one to the next. Waiters of this client queue here,
// and only one of them at a time stands for the client at the server. Pure: it is given time,
// answers and messages. A `fair = strict` handle has a gate of its own, and so competes by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "lock/link.hpp"
#include "lock/owner.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

// An acquire or a try that was accepted and has not ended.
class acquire_operation : public operation {
 public:
  acquire_operation* as_acquire() noexcept final { return this; }
  owner* who = nullptr;
  bool is_try = false;
  portion wanted;
  time_ns began = 0;

 private:
  friend class gate;
  std::list<acquire_operation*>::iterator place_;
};

// What the holder is told without having asked.
class gate_listener {
 public:
  virtual ~gate_listener() = default;
  virtual void on_lost(owner& who) noexcept = 0;
  virtual void on_at_risk(owner& who, reason why) noexcept = 0;
};

// Not thread-safe: its keeper serialises all calls.
class gate {
 public:
  gate(const protocol_facts& protocol, link& world, gate_listener& listener)
      : protocol_(protocol), world_(world), listener_(listener) {}

  // Each of these either rejects at once (the code is not ok, the operation was not accepted),
  // or accepts, and then finishes the operation now or later.
  outcome acquire(acquire_operation& wanted, time_ns now);
  outcome unlock(owner& who, hold_mode mode, operation* done, time_ns now);
  outcome extend(owner& who, std::int64_t lease_ms, operation& done, time_ns now);
  // ok when it holds in this mode and no other call is at work on it.
  outcome check_held(const owner& who, hold_mode mode, time_ns now);
  // From a part to the whole, if nobody else has a part; and back to `weight`.
  outcome raise(owner& who, operation& done, time_ns now);
  outcome lower(owner& who, std::int64_t weight, operation& done, time_ns now);

  // Ends an accepted operation because of its deadline (`timed_out`), a cancel or a close. What has
  // been asked of the server is taken back in the background. No effect once it is finished.
  void abandon(operation& given_up, status why, time_ns now);
  // Ends what this handle waits for, and lets no acquire of it begin until that is taken back.
  void interrupt(owner& who, bool is_on, time_ns now);
  // The handle goes away: gives back what it holds, ends what it waits for.
  void forget(owner& who, time_ns now);
  // Ends everything, gives back what is held, and accepts nothing any more. From then on it knows
  // no handle, so that they may go in any order.
  void close(time_ns now);
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  [[nodiscard]] bool is_held(const owner& who, time_ns now) const noexcept;
  [[nodiscard]] time_ns valid_until(const owner& who) const noexcept;
  // What the server knows the hold by; empty when there is none.
  [[nodiscard]] std::string_view owner_token(const owner& who) const noexcept {
    return holder_ == &who && current_ ? std::string_view(current_->token()) : std::string_view();
  }

  // How much of the lock the client's claim is for.
  [[nodiscard]] std::int64_t weight() const noexcept { return current_ ? current_->weight() : 1; }

  // From the world.
  void on_answer(std::uint64_t tenure_id, std::uint32_t serial, const verdict& said, time_ns now);
  void on_grant(std::string_view token, std::int64_t last_token, std::int64_t server_us,
                bool others_wait, time_ns now);
  void on_head(std::string_view token, std::int64_t ttl_ms, time_ns now);
  void on_wanted(std::string_view token, time_ns now);
  void on_free(time_ns now);
  void on_up(time_ns now);
  void on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // Whether somebody waits whom the server has refused, or queued.
  [[nodiscard]] bool is_queued() const noexcept {
    return current_ && current_->phase() == tenure_phase::queued;
  }
  // Whether nothing is held, waited for or being given back.
  [[nodiscard]] bool is_idle() const noexcept { return !current_ && departures_.empty(); }

 private:
  struct departure {
    std::unique_ptr<tenure> claim;
    operation* done;  // the unlock that waits for it, or nullptr
    owner* who;       // whose unlock that is
  };
  struct extension {
    operation* done;
    time_ns target;
  };

  void start_next(time_ns now) noexcept;
  void start(acquire_operation& next, time_ns now);
  void handle(news what, time_ns now);
  void grant_to_next(time_ns now);
  void refuse_next(time_ns now);
  void lose(time_ns now);
  bool pass_on(time_ns now);
  bool draw_ahead(time_ns now);
  void count_drawn(std::int64_t tokens) noexcept;
  std::int64_t hand_out_token() noexcept;
  [[nodiscard]] bool may_pass(time_ns now) const noexcept;
  [[nodiscard]] bool suits_next() const noexcept;
  void depart(operation* done, owner* who, time_ns now);
  void finish_departure(departure& gone);
  void drop_departed();
  void abandon_acquire(acquire_operation& given_up, status why, time_ns now);
  void accept(operation& accepted);
  void expect(operation& accepted);
  void retract(operation& rejected) noexcept;
  void end(operation& ended, const outcome& how, std::int64_t token);
  void finish(acquire_operation& ended, const outcome& how);
  void finish_extensions(const outcome& how, time_ns until);
  void raised(time_ns now);
  void finish_raise(const outcome& how);
  outcome acquire_again(acquire_operation& wanted);
  outcome lower_hold(owner& who, std::int64_t weight, operation* done, time_ns now);
  [[nodiscard]] outcome failure_of_question() const;
  [[nodiscard]] outcome unsent_outcome() const;
  [[nodiscard]] outcome check_held(const owner& who) const;
  [[nodiscard]] outcome check_modes() const;
  void settle(time_ns now);
  [[nodiscard]] outcome give_up_outcome(const acquire_operation& given_up, status why,
                                        time_ns now) const;
  [[nodiscard]] outcome timed_out(const acquire_operation& given_up, time_ns now) const;
  [[nodiscard]] const char* who_is_ahead() const noexcept;
  static lease_terms terms_of(const owner& who, time_ns from) noexcept;
  static patience patience_of(const acquire_operation& wanted) noexcept;

  const protocol_facts& protocol_;
  link& world_;
  gate_listener& listener_;
  std::uint64_t next_tenure_ = 1;
  std::unique_ptr<tenure> current_;
  std::vector<departure> departures_;
  std::list<acquire_operation*> waiters_;
  std::set<std::pair<time_ns, operation*>> deadlines_;
  std::vector<extension> extensions_;
  operation* raising_ = nullptr;
  owner* holder_ = nullptr;    // who holds by current_
  bool is_refilling_ = false;  // fencing tokens are being drawn, then the next waiter gets the lock
  bool is_closed_ = false;
  bool is_contended_ = false;  // the lock is likely taken, so the cheap try would be in vain
  // How many fencing tokens may be drawn ahead, in halves: see hand_out_token.
  std::int64_t credit_ = 0;
  int passes_ = 0;
  time_ns batch_start_ = 0;
  outcome last_refusal_;  // of a server that is expected to change its mind
};

}  // namespace mortise::lock
