// A client's connection to a server of the cluster, in place of redis::connection: in order, slow,
// breaking and coming back.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "redis/connection_config.hpp"
#include "redis/resp/request.hpp"
#include "simulation/cluster/cluster_node.hpp"
#include "simulation/process/process.hpp"

namespace mortise::redis {
class session_listener;
}

namespace mortise::cluster_simulation {

using process_simulation::process;

class link final : public std::enable_shared_from_this<link> {
 public:
  link(process& of, node& to, redis::session_listener& listener, std::int64_t timeout_ms)
      : of_(of), node_(to), listener_(listener), timeout_ns_(timeout_ms * ns_per_ms) {}

  void begin();
  status submit(redis::request& item, std::string_view bytes);
  // Ends soon, to begin again.
  void leave();
  // Is not there until resume().
  void rest();
  void resume();
  void close();
  // Loses any part of what is in flight. Both ends notice.
  void cut();
  void run_cut() {
    of_.run([self = shared_from_this()] { self->cut(); });
  }
  // Its process is dead. What is in flight may still arrive.
  void forget();
  [[nodiscard]] outcome problem() const;
  [[nodiscard]] const process& owner() const { return of_; }
  [[nodiscard]] int server() const { return node_.number; }

 private:
  struct open_request {
    redis::request* by;
    int left;  // how many replies
    time_ns sent;
    std::string reply;  // the first error
  };

  void later(time_ns when, std::function<void()> what);
  void connect();
  void fail();
  void come_up();
  void receive(std::uint64_t era, std::uint64_t process_era, const std::string& bytes);
  void send_back(std::uint64_t era, const std::string& bytes);
  void deliver(const std::string& bytes);
  void take_reply(const redis::value& reply, const std::string& bytes);
  bool take_message(const redis::value& message);
  void watch_silence();
  void end_session();
  void break_open();

  process& of_;
  node& node_;
  redis::session_listener& listener_;
  const time_ns timeout_ns_;
  session* session_ = nullptr;
  bool is_up_ = false, was_up_ = false, is_closed_ = false, is_resting_ = false;
  int failures_ = 0;
  std::uint64_t era_ = 0;  // counts connections
  time_ns to_node_ = 0, to_client_ = 0;
  std::deque<open_request> open_;
};

// Where the connections of a process lead; before it begins.
void set_servers(process& of, node_set& all);
// All that there are.
const std::vector<std::shared_ptr<link>>& all_links();
void forget_links();

}  // namespace mortise::cluster_simulation
