// A gate in its simulated process, with its user. The user locks and unlocks during the run, and
// checks that tokens rise (hazard 30).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deployment/api/deployment.hpp"
#include "lock/gate/gate.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::process_simulation {

class process;

class user final : public deployment::lock_requester,
                   private lock::lock_io,
                   private lock::gate_listener,
                   private lock::acquire_operation {
 public:
  user(process& of, int number, lock::lock_kind kind);
  void start();
  // Gives back what it holds and waits no more.
  void retire();
  void on_end();
  void on_up();
  void on_unacknowledged();
  void on_free();
  void on_message(const protocol::message& message);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& key() const { return keys_.front(); }
  [[nodiscard]] deployment::named_key named() const { return {name_, keys_.front()}; }
  // The channel of releases of its lock; empty without one.
  [[nodiscard]] std::string channel() const;
  [[nodiscard]] bool is_idle() const { return !is_acquiring_ && gate_.is_idle(); }
  [[nodiscard]] bool is_waiting() const { return is_acquiring_; }
  [[nodiscard]] bool holds() const;

 private:
  // An upgrade or a downgrade.
  struct mode_change final : lock::operation {
    explicit mode_change(user& by) : by_(by) {}
    void finish(const outcome& result, std::int64_t token) noexcept override;
    user& by_;
  };

  template <class Step>
  auto enter(Step&& step);
  void settle();
  void listen_while_queued();
  void acquire();
  void unlock();
  void end_hold(time_ns at);
  [[nodiscard]] std::int64_t highest_before() const;
  void take_token(std::int64_t token);
  void change_mode();
  // The hold continues with this amount.
  void hold_as(const lock::amount& changed);
  void record_hold(time_ns end);
  void trace_deadline();
  [[nodiscard]] bool is_rw() const { return owner_.capacity > 1; }
  void later(time_ns delay, void (user::*what)());
  void note_token(std::int64_t token);
  void on_result(deployment::lock_request& answered, const lock::step_result& result,
                 time_ns now) noexcept override;
  bool ask(const lock::step_request& request, const lock::operation* by) noexcept override;
  std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                              lock::claim_reuse reuse) override;
  lock::grant_secret new_grant_secret() noexcept override;
  std::int64_t random_below(std::int64_t bound) noexcept override;
  [[nodiscard]] outcome problem() const override;
  void on_lost(lock::owner& loser) noexcept override;
  void on_at_risk(lock::owner& /*holder*/, reason /*why*/) noexcept override {}
  void on_contended(lock::owner& /*holder*/) noexcept override {}
  void on_not_released(const outcome& /*result*/) noexcept override {}
  void finish(const outcome& result, std::int64_t token) noexcept override;

  process& of_;
  const std::uint64_t number_;
  const std::string name_;
  const protocol::table& rules_;
  const protocol::key_set keys_;
  lock::owner owner_;
  lock::gate gate_;
  std::vector<std::unique_ptr<deployment::lock_request>> requests_;
  std::vector<deployment::lock_request*> idle_;
  std::uint64_t attempts_ = 0;
  std::string owner_token_;  // of the latest attempt
  mode_change change_{*this};
  bool is_acquiring_ = false, is_holding_ = false, is_retired_ = false, is_listening_ = false;
  bool is_changing_ = false;
  time_ns timer_at_ = time_never;  // true time
  time_ns held_from_ = 0;
  time_ns valid_until_ = 0;  // local
  bool is_traced_ = false;   // this hold
  std::int64_t token_ = 0;
  std::int64_t granted_before_ = 0;  // the highest token when it began to acquire or to upgrade
  std::int64_t seen_ = 0;            // the highest that it has had
};

}  // namespace mortise::process_simulation
