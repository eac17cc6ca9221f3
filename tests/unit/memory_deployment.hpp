// Servers in memory: a deployment without any connection, and locks that several clients share.
#pragma once

#include <deque>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "deployment/api/open.hpp"
#include "net/threads/caller.hpp"

namespace mortise::testing {

class memory_deployment;

// Where the clients meet: mutexes with a queue, as the scripts of the `queued` protocol keep them.
class memory_servers {
 public:
  // What a client's open() takes.
  deployment::maker maker();
  lock::step_result answer(const lock::step_request& request, const std::string& key);

  // The requests and commands of all clients, in their order.
  std::vector<lock::step> step_log();
  std::vector<std::string> command_log();
  // The last fencing token of a name that a client has reported; 0 without one.
  std::int64_t noted_token(const std::string& name);
  // The reply to each command that begins with this word, in RESP.
  void reply(std::string word, std::string resp);
  // From now on no server answers.
  void go_down() { is_unreachable_ = true; }
  // No result comes until then.
  void hold_results(std::latch& until);
  // The requests that all clients have, open or spare.
  [[nodiscard]] int request_count() const { return request_count_; }
  // Each client is notified that requests for this name reach the servers again.
  void come_up(const std::string& name);
  // How long the deployments had to pass on their commands when they were closed, at most.
  [[nodiscard]] time_ns longest_linger() const { return longest_linger_; }
  [[nodiscard]] bool is_unreachable() const { return is_unreachable_; }

 private:
  friend class memory_deployment;
  struct mutex_state {
    std::string owner;
    std::deque<std::string> waiters;
  };
  lock::step_result grant(mutex_state& to, std::string_view token);
  lock::step_result release(mutex_state& from, std::string_view token);
  std::string take_command(const protocol::command& command);

  std::mutex mutex_;
  std::map<std::string, mutex_state> locks_;
  std::map<std::string, std::string> replies_;
  std::map<std::string, memory_deployment*> clients_;
  std::map<std::string, std::int64_t> noted_;
  std::vector<lock::step> steps_;
  std::vector<std::string> commands_;
  std::int64_t last_token_ = 1'800'000'000'000'000;
  std::atomic<bool> is_unreachable_{false};
  std::atomic<int> request_count_{0};
  std::atomic<time_ns> longest_linger_{0};
};

}  // namespace mortise::testing
