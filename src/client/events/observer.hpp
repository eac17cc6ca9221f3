// Asks the server at intervals: for the leaders of observed elections, or for deadlocks. A query
// waits for its replies, and the I/O thread must not wait, so the first observation starts a
// thread.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::client {

// What is observed. It lives at least as long as a call of it.
class observed {
 public:
  virtual ~observed() = default;
  // Asks the server, and reports a change.
  virtual void look() noexcept = 0;
};

class observer {
 public:
  observer() = default;
  ~observer() { end(); }
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  // Looks at once, and then at this interval until remove(). `key` is that of the lock.
  outcome add(const std::shared_ptr<observed>& item, const std::string& key, time_ns interval_ns);
  void remove(const observed& item) noexcept;
  // Looks soon at everything that is observed of this lock. Any thread, under the mutex of a gate.
  void hasten(const std::string& key) noexcept;
  // Ends the thread, and waits for it. Its query ends with the servers of the client.
  void end() noexcept;

 private:
  struct observation {
    std::weak_ptr<observed> item;  // which keeps the client, and so this observer
    const std::string* key = nullptr;
    time_ns interval_ns = 0;
    time_ns due = 0;
  };

  static void* enter(void* self) noexcept;
  void run() noexcept;
  outcome start_locked();
  std::shared_ptr<observed> next_due_locked(std::unique_lock<std::mutex>& guard);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const observed*, observation> observations_;
  pthread_t thread_{};
  bool is_started_ = false;
  bool is_ended_ = false;
};

}  // namespace mortise::client
