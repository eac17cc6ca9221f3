#include "cli/exec/process/stderr_writer.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

constexpr size_t most_messages = 64;
constexpr std::chrono::milliseconds longest_flush{200};

}  // namespace

// Shared with the thread, which may outlive the writer while it is blocked.
struct stderr_writer::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> messages;  // the first message is being written
  bool is_over = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return is_over || !messages.empty(); });
      if (messages.empty()) return;
      // Only this thread removes messages, so a reference to one stays valid.
      const auto& message = messages.front();
      lock.unlock();
      try {
        cli::complain("exec", message);
      } catch (const std::bad_alloc&) {
        // A lost message must not end the command.
      }
      lock.lock();
      messages.pop_front();
      changed.notify_all();
    }
  }
};

stderr_writer::stderr_writer() : state_(std::make_shared<state>()) {
  try {
    std::thread([shared = state_] { shared->run(); }).detach();
  } catch (const std::system_error& problem) {
    throw failure(exit_system, std::string("cannot start a thread: ") + problem.what());
  }
}

stderr_writer::~stderr_writer() {
  std::unique_lock lock(state_->mutex);
  state_->is_over = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, longest_flush, [this] { return state_->messages.empty(); });
}

void stderr_writer::complain(std::initializer_list<std::string_view> parts) noexcept {
  try {
    const std::lock_guard lock(state_->mutex);
    if (state_->messages.size() >= most_messages) return;
    std::string message;
    for (const auto part : parts) message += part;
    state_->messages.push_back(std::move(message));
    state_->changed.notify_all();
  } catch (const std::bad_alloc&) {
    // As above.
  }
}

}  // namespace mortise::cli::exec
