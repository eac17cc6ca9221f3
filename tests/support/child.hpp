// A process of a test's own, which exchanges lines with the test. It is forked, so make it before
// the test has threads, and send it later facts as lines.
//
//   child holder([](child_end& test) {
//     ...
//     test.send("held");
//     test.receive();
//   });
//   EXPECT_EQ(holder.receive(), "held");
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

namespace mortise::testing {

// One end of the conversation.
class child_end {
 public:
  explicit child_end(int fd) : fd_(fd) {}
  ~child_end();
  child_end(const child_end&) = delete;
  child_end& operator=(const child_end&) = delete;

  void send(const std::string& line);
  // The next line; "(silence)" after 20 seconds, "(gone)" after the end of the other process.
  std::string receive();
  // Whether a line, or the end, is there already.
  [[nodiscard]] bool has_line() const;

 private:
  const int fd_;
  std::string input_;
};

class child {
 public:
  // Runs the body in a new process, which ends with it. It dies with the test at the latest.
  explicit child(const std::function<void(child_end& test)>& body);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(const std::string& line) { end_->send(line); }
  std::string receive() { return end_->receive(); }
  [[nodiscard]] bool has_line() const { return end_->has_line(); }
  // SIGSTOP, and waits until it has stopped.
  void pause();
  void resume();
  // SIGKILL, and waits for its end.
  void kill();

 private:
  pid_t pid_ = -1;
  std::unique_ptr<child_end> end_;
};

}  // namespace mortise::testing
