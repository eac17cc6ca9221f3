// Child processes, which can be killed, stopped and continued, and memory that they share.
// Children are only made while this process has no client open, so that it has one thread.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>

namespace mortise::bench {

class process {
 public:
  // Runs this in a child. An exception there is printed, and makes the child's exit code 1.
  explicit process(const std::function<void()>& body);
  process(process&& other) noexcept;
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  process& operator=(process&&) = delete;
  // Kills it if it still runs.
  ~process();

  void stop() const;  // SIGSTOP; returns when it has stopped
  void kill();        // SIGKILL; returns when the process has ended
  // Whether it ended by itself, and with which exit code. Does not wait.
  bool has_ended(int& exit_code);
  // Waits for its end; throws unless its exit code is 0.
  void join();

 private:
  pid_t pid_ = -1;
};

// One object in memory that children made later have as well.
template <typename T>
class shared {
 public:
  shared() {
    void* memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    object_ = new (memory) T;
  }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() { ::munmap(object_, sizeof(T)); }
  T* operator->() const { return object_; }
  T* get() const { return object_; }

 private:
  T* object_;
};

// Sleeps while the word has this value, at most 100 ms; in memory that processes share.
void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace mortise::bench
