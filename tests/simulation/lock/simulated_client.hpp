// One simulated process that uses Mortise: real gates on a simulated connection, with a clock,
// pauses and a death of its own.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/registry.hpp"
#include "lock/gate/gate.hpp"
#include "redis/resp/resp.hpp"
#include "simulation/lock/simulated_server.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class simulated_client;
class user;

// A gate in its simulated surroundings: what client/gate_driver is in the real ones.
class simulated_gate_driver final : public std::enable_shared_from_this<simulated_gate_driver>,
                                    public lock::lock_io,
                                    public lock::gate_listener {
 public:
  simulated_gate_driver(simulated_client& owner, std::uint64_t id, const named_lock& of);

  // Runs one step of the gate at the client's present time, then looks at every holder and plans
  // the timer. All access to the gate goes through this function.
  template <class Step>
  auto enter(Step&& step) {
    const settle_on_exit settle{*this};
    return step(gate_, local_now());
  }
  void on_timer();
  void on_message(const protocol::message& message);
  void on_answer(std::uint64_t claim_id, std::uint32_t serial, const lock::step_result& result);
  // Looks at what every holder believes right now.
  void observe();

  [[nodiscard]] const lock::gate& gate() const { return gate_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] lock::lock_kind kind() const { return rules_.facts.kind; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const protocol::table& rules() const { return rules_; }
  // Whether it made this owner token.
  [[nodiscard]] bool has_made(std::string_view token) const;
  // Whether the client knew of a waiter for this claim by then (true time).
  [[nodiscard]] bool was_notified(std::string_view token, time_ns by) const;
  [[nodiscard]] bool is_idle() const { return gate_.is_idle() && open_requests_ == 0; }
  [[nodiscard]] const protocol::key_set& keys() const { return keys_; }
  [[nodiscard]] const std::string& key() const { return keys_.front(); }
  [[nodiscard]] time_ns local_now() const;
  // The latest deadline that any user of it has asked for by an extension, local.
  time_ns extended_until = 0;

  // lock::lock_io
  bool ask(const lock::step_request& request, const lock::operation* by) noexcept override;
  std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms,
                              lock::claim_reuse reuse) override;
  lock::grant_secret new_grant_secret() noexcept override;
  std::int64_t random_below(std::int64_t bound) noexcept override;
  [[nodiscard]] outcome problem() const override;
  // lock::gate_listener
  void on_lost(lock::owner& who) noexcept override;
  void on_at_risk(lock::owner& who, reason /*why*/) noexcept override;
  void on_contended(lock::owner& holder) noexcept override;
  void on_not_released(const outcome& /*result*/) noexcept override {}

  std::atomic<int> handles{0};  // the registry's

 private:
  struct settle_on_exit {
    simulated_gate_driver& self;
    ~settle_on_exit() {
      self.observe();
      self.plan_timer();
    }
  };
  void plan_timer();
  user& user_of(lock::owner& who);

  simulated_client& client_;
  const std::uint64_t id_;
  const std::string name_;
  const protocol::table& rules_;
  const protocol::key_set keys_;
  lock::gate gate_;
  int open_requests_ = 0;
  std::uint64_t attempts_ = 0;
  time_ns timer_at_ = time_never;                         // true time
  std::map<std::string, time_ns, std::less<>> notified_;  // of the first known waiter for a claim
};

class simulated_client {
 public:
  simulated_client(world& around, simulated_server& server, int number);

  void connect();
  // One of its users has a handle from now on. Checks that it shares its gate with the right users.
  std::shared_ptr<simulated_gate_driver> new_handle(const named_lock& of, bool is_strict);
  void add(user& who) { users_.push_back(&who); }
  [[nodiscard]] const std::vector<user*>& users() const { return users_; }
  // Runs it now, or when the process runs again; never after its death.
  void run(std::function<void()> what);

  // Faults.
  void crash();
  void pause(time_ns until);
  void wake();
  void cut();
  void flap();  // the same, and no excuse for delays of the others
  void stall(time_ns until);
  // The client is freed: gives everything back, then its connection ends.
  void close();

  [[nodiscard]] time_ns now() const { return clock.read(world_.time.now()); }
  [[nodiscard]] bool is_up() const { return is_up_; }
  [[nodiscard]] bool is_paused() const { return world_.time.now() < paused_until_; }
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  // Dead or being freed. Its users stop.
  [[nodiscard]] bool is_over() const { return is_dead_ || is_closed_; }
  // Since when it has run and been connected without a break; true time.
  [[nodiscard]] time_ns well_since() const { return well_since_; }
  // Since when it has run without a pause; true time.
  [[nodiscard]] time_ns running_since() const { return paused_until_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] world& around() { return world_; }
  [[nodiscard]] client::registry<simulated_gate_driver>& gates() { return gates_; }

  const drifting_clock clock;

 private:
  friend class simulated_gate_driver;
  struct request {
    std::shared_ptr<simulated_gate_driver> gate_driver;
    std::uint64_t claim_id;
    std::uint32_t serial;
    lock::step what;
    int replies_left;
    bool is_sent;
    bool is_without_script;
    bool is_renewal;  // that may be sent with others
    std::string token;
    std::int64_t ttl_ms;
    std::size_t answers = 1;  // of a request for this renewal and following ones
    time_ns sent;             // local
    std::string bytes;
    bool is_decided = false;
    lock::step_result result;
  };
  // A stream of replies and pushes; RESP2 needs one for commands and one for messages.
  struct stream {
    connection* link = nullptr;
    std::string input;
    redis::parser parser;
  };

  bool ask(simulated_gate_driver& by, const lock::step_request& request);
  void set_trap();
  void flush();
  std::string gather(std::size_t first);
  void greet(stream& on, bool is_for_messages);
  void read(stream& from);
  void take(stream& from, const redis::value& reply);
  void take_handshake(const redis::value& reply);
  void take_message(const redis::value& pushed);
  void take_answer(const redis::value& reply);
  void take_answers(const redis::value& reply);
  void become_up();
  void fall_down();
  void plan_silence_check();
  void resume();

  world& world_;
  simulated_server& server_;
  const std::string id_;
  const bool is_resp2_;
  client::registry<simulated_gate_driver> gates_;
  std::vector<user*> users_;
  std::uint64_t last_gate_ = 0;  // the gate that had the last message
  stream commands_;
  stream messages_;
  std::deque<request> open_;
  std::vector<std::int64_t> old_sessions_;
  std::vector<std::function<void()>> postponed_;
  int handshakes_left_ = 0;
  redis::compare_and_delete known_ = redis::compare_and_delete::none;  // by the handshake
  std::uint64_t era_ = 0;          // counts connections, so that plans for an old one are void
  std::uint64_t silence_era_ = 0;  // that a check for silence is planned for
  time_ns last_reply_ = 0;
  time_ns paused_until_ = 0;
  time_ns well_since_ = 0;
  bool is_up_ = false;
  bool has_been_up_ = false;
  bool is_connecting_ = false;
  bool is_flush_planned_ = false;
  bool is_script_missing_ = false;  // so the next gathered renewals have its text
  bool is_dead_ = false;
  bool is_closed_ = false;
};

}  // namespace mortise::simulation
