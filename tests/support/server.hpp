// A real server for one test, from tests/support/server: on a unix socket in a temporary directory
// of its own, and on a loopback port on request. It is ready when the constructor returns. The
// destructor removes it with its directory. `kill` and `pause` are the faults that tests inject.
//
//   test_server server;
//   server.command({"SET", "key", "value"});
//   connect(server.socket_path());
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/launcher.h"

namespace mortise::testing {

// One blocking connection that speaks RESP2, for what a test has to do behind the library's back.
class raw_client {
 public:
  // Throws std::runtime_error without a listener there.
  explicit raw_client(const std::string& socket_path);
  ~raw_client();
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  // Sends one command and reads its reply as text: a status or text as it is, an integer in digits,
  // null as "(nil)", an error with its leading '-', the elements of an array one per line.
  // "(closed)" if the connection ended instead.
  std::string command(const std::vector<std::string>& args);
  void send(const std::vector<std::string>& args);
  // The next reply or message, as `command` gives it.
  std::string read_reply();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

struct server_options {
  // Further arguments, such as {"--requirepass", "secret"}; {"--port", "free"} for TCP as well.
  std::vector<std::string> arguments = {};
  // Commands of the fixture before all others, such as {"AUTH", "secret"}.
  std::vector<std::string> login = {};
};

class test_server {
 public:
  explicit test_server(server_options options = {});
  ~test_server();
  test_server(const test_server&) = delete;
  test_server& operator=(const test_server&) = delete;

  [[nodiscard]] std::string socket_path() const;
  [[nodiscard]] std::string url() const { return "unix://" + socket_path(); }
  // 0 unless it was asked for. Stays the same across restarts.
  [[nodiscard]] int port() const { return launcher_.port; }
  [[nodiscard]] std::string tcp_url() const;

  // Starts it again after stop() or kill(), at the same place. Returns when it answers.
  void start();
  // SIGTERM, and waits for its end.
  void stop();
  // SIGKILL, and waits for its end.
  void kill();
  void restart() {
    kill();
    start();
  }
  // SIGSTOP: the server hangs with its sockets open, and the kernel goes on accepting connections.
  void pause();
  void resume();
  // Its wall clock is so far ahead, or behind, from now on, also across restarts. It needs the
  // argument of safety/settable_clock.hpp.
  void set_clock(std::int64_t ahead_s) { set_clock_us(ahead_s * 1'000'000); }
  void set_clock_us(std::int64_t ahead_us);

  // Of a replica: it runs, but receives nothing from its master until the link is restored. Needs a
  // master without a password.
  void break_master_link();
  void restore_master_link();

  // One command on a connection of the fixture's own, as raw_client::command.
  std::string command(const std::vector<std::string>& args);
  // A further connection, logged in.
  [[nodiscard]] std::unique_ptr<raw_client> connect() const;

 private:
  void control(const std::string& command);

  std::vector<std::string> login_;
  launcher launcher_{};
  std::unique_ptr<raw_client> client_;
};

}  // namespace mortise::testing
