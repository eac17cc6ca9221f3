// Drives a gate: its mutex, its timer, and its requests to the servers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "client/claim_places.hpp"
#include "client/events/event_queue.hpp"
#include "client/handover_order.hpp"
#include "deployment/api/deployment.hpp"
#include "lock/gate/gate.hpp"
#include "net/reactor.hpp"
#include "net/threads/wake_scope.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::client {

class client;

class gate_driver final : public std::enable_shared_from_this<gate_driver>,
                          private lock::lock_io,
                          private lock::gate_listener,
                          private deployment::lock_requester,
                          private net::timer {
 public:
  gate_driver(client& owner, std::uint64_t id, lock::lock_kind kind, std::string_view name,
              const protocol::table& rules, protocol::key_set keys);
  ~gate_driver() override;

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] lock::lock_kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Identifies the name in the history of this client.
  static std::uint64_t number_of(std::string_view name) noexcept;
  [[nodiscard]] const protocol::table& rules() const noexcept { return rules_; }
  [[nodiscard]] const protocol::key_set& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::string& key() const noexcept { return keys_.front(); }
  [[nodiscard]] deployment::named_key named() const noexcept { return {name_, key()}; }

  // Runs `step(gate, now)` under the mutex, then schedules the timer. `now` is the time before
  // anything is sent, which `entered` also receives. Every change of the gate uses this function.
  template <class Step>
  auto enter(Step&& step, time_ns* entered = nullptr) {
    std::unique_ptr<event_node> unread;  // may keep a handle: destroyed without the mutex
    const net::wake_scope together;      // wakes callers after the mutex is unlocked
    const std::lock_guard guard(mutex_);
    const auto now = boot_now();
    if (entered != nullptr) *entered = now;
    const settle_on_exit settle{*this, unread};
    return step(gate_, now);
  }
  // An inbox message for this gate.
  void on_message(const protocol::message& message) noexcept;
  // Keeps a finished node of a freed queue until enter() ends. Called inside enter().
  void keep_unread(std::unique_ptr<event_node> node) noexcept {
    node->next_finished = std::move(unread_);
    unread_ = std::move(node);
  }

  // Reads the gate. Does not schedule the timer.
  template <class Look>
  auto look(Look&& look) const {
    const std::lock_guard guard(mutex_);
    return look(gate_, boot_now());
  }

  // Whether nothing is open at the server, as of the last enter(). Any thread.
  [[nodiscard]] bool is_idle() const noexcept { return is_idle_.load(); }
  // The number of handles. Only the registry changes it.
  std::atomic<int> handles{0};

 private:
  struct settle_on_exit {
    gate_driver& self;
    std::unique_ptr<event_node>& unread;
    ~settle_on_exit() {
      self.plan();
      unread = std::move(self.unread_);
    }
  };

  void plan() noexcept;
  // A request that is no longer needed, or nullptr. Not `last`, whose result is being handled.
  std::unique_ptr<deployment::lock_request> take_spare(
      const deployment::lock_request& last) noexcept;
  void update_subscription() noexcept;

  // lock::lock_io
  bool ask(const lock::step_request& request, const lock::operation* requester) noexcept override;
  std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                              lock::claim_reuse reuse) override;
  lock::grant_secret new_grant_secret() noexcept override;
  std::int64_t random_below(std::int64_t bound) noexcept override;
  [[nodiscard]] outcome problem() const override;
  [[nodiscard]] bool is_granted_by_message() const noexcept override;
  [[nodiscard]] outcome lack() const noexcept override;
  void on_claim_over(std::uint64_t claim_id) noexcept override { places_.end(claim_id); }
  // lock::gate_listener
  void on_lost(lock::owner& loser) noexcept override;
  void on_at_risk(lock::owner& holder, reason why) noexcept override;
  void on_contended(lock::owner& holder) noexcept override;
  void on_not_released(const outcome& error) noexcept override;
  void on_wait_began(const lock::acquire_operation& waiter) noexcept override;
  void on_event(const lock::lock_event& event) noexcept override;
  // deployment::lock_requester
  void on_result(deployment::lock_request& request, const lock::step_result& result,
                 time_ns now) noexcept override;
  // net::timer
  void on_timer(time_ns now) noexcept override;

  client& client_;
  const std::uint64_t id_;
  const lock::lock_kind kind_;
  const protocol::table& rules_;
  const std::string name_;
  const std::uint64_t name_number_;  // of the name in the history
  const protocol::key_set keys_;
  const std::string channel_;  // empty for none
  handover_order order_;
  claim_places places_;  // before gate_, whose claims it has
  mutable std::mutex mutex_;
  lock::gate gate_;
  std::uint64_t attempts_ = 0;
  small_random random_;                                              // spreads timers
  std::vector<std::unique_ptr<deployment::lock_request>> requests_;  // all of them
  std::vector<deployment::lock_request*> free_requests_;
  std::unique_ptr<event_node> unread_;
  time_ns armed_for_ = time_never;
  bool is_renewed_ = false;        // by the result that is being handled
  status last_sent_ = status::ok;  // result of the last send
  bool awaits_message_ = false;    // as last reported to the servers
  bool is_listening_ = false;      // to the channel
  bool is_unsubscribed_ = false;   // no memory to subscribe: retried soon
  std::atomic<bool> is_idle_{true};
};

}  // namespace mortise::client
