// The simulated server with its network: connections that are FIFO, slow, and break.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/resp/resp.hpp"
#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/server_watch.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class simulated_server;

// One connection. The client's half hands over and takes whole chunks; each way keeps their order.
class connection {
 public:
  connection(world& around, simulated_server& server);

  // The client's half.
  void send(std::string bytes);
  // The next chunk that has arrived; false without one. `ended` reports the connection's end, after
  // which nothing comes.
  bool receive(std::string& bytes, bool& ended);
  // Bytes that were sent before still arrive.
  void close();
  std::function<void()> on_input;  // something can be received

  // Faults. A cut loses any suffix of the bytes in flight in each direction. Both ends notice
  // later.
  void cut();
  void stall(time_ns until);
  // The server ends it: it receives nothing more, and the client notices later.
  void end_at_server();

  [[nodiscard]] session& at_server() { return session_; }

 private:
  friend class simulated_server;
  struct chunk {
    time_ns delivery_time;
    std::string bytes;
    bool is_end;
  };
  struct direction {
    std::deque<chunk> under_way;
    time_ns last_chunk_at = 0;
    bool is_open = true;
  };
  void put(direction& way, std::string bytes, bool is_end, time_ns extra, bool to_server);
  void lose_suffix(direction& way);
  void execute_next();
  void run_commands(std::string_view bytes);

  world& world_;
  simulated_server& server_;
  session& session_;
  direction to_server_;
  direction to_client_;
  redis::parser parser_;
};

class simulated_server {
 public:
  explicit simulated_server(world& around);

  // nullptr when it can't be reached.
  connection* connect();
  // It stops working until then, and receives nothing.
  void pause(time_ns until);
  // Every connection breaks and none can be made until then.
  void shut(time_ns until);
  // Another process with these data runs from then on, without connections.
  void change(simulated_redis::data with, time_ns until);
  // Every connection is ended, and can be made again.
  void end_connections();
  [[nodiscard]] const std::vector<std::unique_ptr<connection>>& connections() const {
    return connections_;
  }
  // True time at which the server's clock shows this.
  [[nodiscard]] time_ns truth_of_ms(std::int64_t server_ms) const;

  drifting_clock clock;  // its reading counts ns since 1970
  simulated_redis redis;
  server_watch watch;

 private:
  friend class connection;
  void receive(connection& from);
  void work();

  world& world_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::deque<connection*> backlog_;
  bool is_working_ = false;
  time_ns free_at_ = 0;
  time_ns open_at_ = 0;
};

}  // namespace mortise::simulation
