// A server of a quorum, and a client's connection to it: in order, slow, and breaking.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "deployment/api/deployment.hpp"
#include "protocol/command.hpp"
#include "simulation/process/process_world.hpp"
#include "support/quiet_deployment.hpp"

namespace mortise::redlock_simulation {

using process_simulation::chance;
using process_simulation::drifting_clock;
using simulation::simulated_redis;

class vote_trace;

struct world : process_simulation::world {
  using process_simulation::world::world;
  vote_trace* votes = nullptr;        // the same as `trace`
  std::int64_t repeat_per_mille = 0;  // the part of replies that are delivered twice
};

struct node {
  node(world& around, time_ns ahead_ns, std::int64_t drift_ppm);
  drifting_clock clock;
  simulated_redis redis;
  simulated_redis::data snapshot;  // the latest on its disk
  time_ns up_at = 0;               // it can be connected to from then on
  time_ns works_at = 0;            // it hangs until then
  std::uint64_t era = 0;           // of its process
};

// One client's deployment of one node, as the quorum sees it.
class connection final : public testing::quiet_deployment {
 public:
  // `run` does something in the client's time, unless that is dead.
  using runner = std::function<void(std::function<void()>)>;
  connection(world& around, node& to, mortise::deployment::listener& listener,
             protocol::membership as, runner run, const drifting_clock& local);
  ~connection() override;

  outcome begin() override;
  void close(time_ns /*linger_ns*/) noexcept override { cut(); }
  std::unique_ptr<mortise::deployment::lock_request> new_request(
      mortise::deployment::lock_requester& asker,
      const mortise::deployment::named_key& lock) override;
  void note_token(const mortise::deployment::named_key& /*lock*/,
                  std::int64_t token) noexcept override {
    seen_ = std::max(seen_, token);
  }
  void listen(const mortise::deployment::named_key& lock, std::string_view channel) override;
  void unlisten(const mortise::deployment::named_key& lock,
                std::string_view channel) noexcept override;
  [[nodiscard]] outcome problem(const mortise::deployment::named_key& lock) const override;

  // Loses any part of what is in flight. Both ends notice.
  void cut();
  // It ends without a reply. What is in flight may still arrive.
  void leave();

 private:
  friend class asking;
  class asking;
  struct request {
    asking* by;
    lock::step what;
    const protocol::table* rules;
    const protocol::key_set* keys;
  };

  status send(asking& by, const lock::step_request& request, const protocol::table& rules,
              const protocol::key_set& keys);
  void receive(std::uint64_t era, std::uint64_t process, const std::string& bytes);
  void deliver(std::uint64_t era, const std::string& bytes);
  void connect();
  void come_up();
  std::string call(const protocol::command& command);
  simulation::reply execute(const simulation::arguments& words);
  void check_top_up(const lock::step_request& request);

  world& world_;
  node& node_;
  mortise::deployment::listener& listener_;
  const protocol::membership as_;
  const runner run_;
  const drifting_clock& local_;
  simulation::session* session_ = nullptr;
  bool is_up_ = false;
  bool is_left_ = false;
  std::uint64_t era_ = 0;  // counts connections
  std::int64_t seen_ = 0;
  bool was_up_ = false;
  time_ns to_node_ = 0, to_client_ = 0;  // the latest deliveries
  std::deque<request> open_;
  std::set<std::string> channels_;
  std::map<std::string, time_ns> lapses_;  // what was asked for an owner token lasts so long
  std::string* reply_ = nullptr;           // of a call
};

}  // namespace mortise::redlock_simulation
