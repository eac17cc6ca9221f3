// The messages between the two processes of `mortise exec`.
#pragma once

#include <optional>

namespace mortise::cli::exec {

enum class word : int {
  // To the lock holder.
  signal,   // forward this signal to the command
  cancel,   // stop the wait for the lock
  go,       // start the command: its deadline is watched
  resumed,  // the launcher has continued after `stopped`
  // To the launcher.
  ready,    // the lock is held, and the shared deadline is set
  started,  // the command runs
  stopped,  // this signal stopped the command
  ended,    // the lock holder is done, with this exit code; no lock is held
  killed    // the same, but a signal ended the command
};

struct message {
  word what = word::ended;
  int number = 0;
};

// One end of a socket pair. Closed when the other process ends.
class channel {
 public:
  explicit channel(int descriptor) : descriptor_(descriptor) {}
  ~channel();
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_closed() const { return is_closed_; }

  void tell(word what, int number = 0) const;
  // The next message; nullopt if there is none.
  std::optional<message> hear();

 private:
  int descriptor_;
  bool is_closed_ = false;
};

}  // namespace mortise::cli::exec
