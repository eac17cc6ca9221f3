// What the two processes of `mortise exec` tell each other.
#pragma once

#include <optional>

namespace mortise::cli::exec {

enum class word : int {
  // To the lock holder.
  signal,  // send this one to the command
  cancel,  // do not wait for the lock any more
  go,      // start the command: its deadline is watched
  // To the launcher.
  ready,    // the lock is held, and the shared deadline has the deadline
  started,  // the command runs
  stopped,  // the command was stopped by this signal
  ended,    // all is over, with this exit code; nothing is held
  killed    // the same, where a signal ended the command
};

struct message {
  word what = word::ended;
  int number = 0;
};

// One end of a pair of connected sockets. Closed by the other's end of life.
class channel {
 public:
  explicit channel(int descriptor) : descriptor_(descriptor) {}
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_closed() const { return is_closed_; }

  void tell(word what, int number = 0) const;
  // The next message that is there; nothing if there is none.
  std::optional<message> hear();

 private:
  int descriptor_;
  bool is_closed_ = false;
};

}  // namespace mortise::cli::exec
