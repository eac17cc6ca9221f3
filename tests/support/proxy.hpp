// A proxy on a unix socket between a client and a real server, in a thread, for faults at an exact
// point of the conversation. A rule of the test sees each command and returns its fault:
//
//   proxy between(server.socket_path(), [&](const fake_command& command) {
//     return command.is("EXEC") ? fault::cut_after() : fault::none();
//   });
//
// While one connection is swallowed or delayed, new connections get no replies either, as from a
// silent server.
// It understands RESP3, where only messages arrive unasked.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "support/fake_server.hpp"

namespace mortise::testing {

struct fault {
  enum class kind {
    none,
    answer,      // the server never sees the command; the client gets `reply` in its place
    swallow,     // carried out, and the client never gets the reply nor any after it
    cut_before,  // the connection ends instead of passing the command on
    cut_after,   // carried out, and the connection ends instead of the reply
    delay,       // carried out, and the reply is held back for `delay_ms`
  };
  kind what = kind::none;
  std::string reply = {};  // in RESP
  int delay_ms = 0;

  static fault none() { return {}; }
  static fault answer(std::string reply) { return {kind::answer, std::move(reply)}; }
  static fault swallow() { return {kind::swallow}; }
  static fault cut_before() { return {kind::cut_before}; }
  static fault cut_after() { return {kind::cut_after}; }
  static fault delay(int delay_ms) { return {kind::delay, {}, delay_ms}; }
};

class proxy {
 public:
  // Called on the proxy's thread.
  using rule = std::function<fault(const fake_command& command)>;

  explicit proxy(std::string server_path, rule what_to_do = {});
  ~proxy();
  proxy(const proxy&) = delete;
  proxy& operator=(const proxy&) = delete;

  [[nodiscard]] std::string url() const { return "unix://" + socket_path_; }
  // What is done with commands from now on; none: no fault.
  void set_rule(rule what_to_do);
  // Ends every connection.
  void cut_all();

 private:
  struct state;
  std::unique_ptr<state> state_;
  std::string directory_;
  std::string socket_path_;
};

}  // namespace mortise::testing
