// A scripted server on a unix socket, for faults that a real one does not have on demand: hang,
// send garbage, drop exactly one reply, close in the middle of one, refuse HELLO, return LOADING.
//
// A function of the test is called, on the server's own thread, for each command. It answers by
// sending to the peer. Without a reply the server hangs:
//
//   fake_server server([](fake_peer& peer, const fake_command& command) {
//     if (command.is("SET")) return peer.close();          // ends the connection instead
//     if (command.is("GET")) return peer.send("$5\r\nab");  // half a reply
//     fake_server::answer_healthy(peer, command);          // everything else
//   });
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::testing {

struct fake_command {
  std::vector<std::string> words;

  // Whether the first words are these, without regard to case: is("CLIENT", "KILL").
  [[nodiscard]] bool is(std::string_view first, std::string_view second = {}) const;
  [[nodiscard]] std::string text() const;  // the words with one space between
};

// One accepted connection, as the test's function sees it.
class fake_peer {
 public:
  // 1 for the first accepted connection, and so on. CLIENT ID returns the same.
  [[nodiscard]] int number() const { return number_; }
  // Sends these bytes as they are.
  void send(std::string_view bytes);
  // Ends the connection once everything sent so far has left.
  void close() { is_closing_ = true; }

 private:
  friend class fake_server;
  int number_ = 0;
  int fd_ = -1;
  bool is_closing_ = false;
  std::string input_;
};

class fake_server {
 public:
  using answer_function = std::function<void(fake_peer& peer, const fake_command& command)>;

  // Without a function it answers as a healthy server does.
  explicit fake_server(answer_function answer = {});
  ~fake_server();
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;

  // The replies of a healthy, empty Redis 7.0 to the commands of a handshake (HELLO, AUTH, SELECT,
  // CLIENT, SUBSCRIBE, SCRIPT LOAD, EXEC), to PING, ECHO, SET, DEL and INFO; "ERR unknown command"
  // to all others.
  static void answer_healthy(fake_peer& peer, const fake_command& command);

  [[nodiscard]] const std::string& socket_path() const { return socket_path_; }
  [[nodiscard]] std::string url() const { return "unix://" + socket_path_; }

  // Answers differently from now on.
  void set_answer(answer_function answer);
  // Sends bytes, such as a push, on every open connection.
  void send_to_all(std::string_view bytes);
  // Ends every open connection.
  void close_all();
  // How many connections have been accepted so far.
  [[nodiscard]] int accepted() const;
  // The number of commands so far that begin with this word.
  [[nodiscard]] int count(std::string_view first_word) const;
  // All commands so far, in order.
  [[nodiscard]] std::vector<fake_command> received() const;
  // Waits until `count(first_word)` is at least `expected`. False after ten seconds.
  [[nodiscard]] bool wait_for(std::string_view first_word, int expected = 1) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
  std::string directory_;
  std::string socket_path_;
};

}  // namespace mortise::testing
