// Messages of a process that must not block.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

namespace mortise::cli::exec {

// Writes to stderr on a thread of its own: a full pipe or a stopped terminal blocks that thread
// only. Each process of `mortise exec` has its own writer.
class stderr_writer {
 public:
  // Throws a failure if there is no thread.
  stderr_writer();
  // Waits until all is written, but not long.
  ~stderr_writer();
  stderr_writer(const stderr_writer&) = delete;
  stderr_writer& operator=(const stderr_writer&) = delete;

  // Never blocks and never throws. Drops the message if memory runs out or stderr is far behind.
  void complain(std::initializer_list<std::string_view> parts) noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace mortise::cli::exec
