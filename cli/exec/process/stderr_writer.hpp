// Messages of a process that must not block.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

namespace mortise::cli::exec {

// Writes to stderr on its own thread, so a full pipe or a stopped terminal blocks only this thread.
// Each process of `mortise exec` has its own writer.
class stderr_writer {
 public:
  // Throws a failure if the thread cannot be started.
  stderr_writer();
  // Waits a short time until all messages are written.
  ~stderr_writer();
  stderr_writer(const stderr_writer&) = delete;
  stderr_writer& operator=(const stderr_writer&) = delete;

  // Never blocks and never throws. Drops the message if memory runs out or the queue is long.
  void complain(std::initializer_list<std::string_view> parts) noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace mortise::cli::exec
