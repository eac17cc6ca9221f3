// Which threads wait for which threads, from a listing, and the deadlocks among them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mortise::cli {

// A lock that a thread holds or waits for.
struct lock_use {
  size_t lock = 0;  // in the graph
  bool is_exclusive = true;
  int64_t permits = 1;
  int64_t lasted_ms = 0;
};

// A thread that has held or waited by blocking calls since the listing began.
struct lock_thread {
  std::string client;
  std::string host;
  int64_t pid = 0;
  int64_t number = 0;
  std::string label;
  std::vector<lock_use> holds;
  std::vector<lock_use> waits;
};

class wait_graph {
 public:
  // An entry of a listing.
  struct entry {
    std::string client;
    std::string host;
    int64_t pid = 0;
    std::string label;
    std::string name;
    std::string kind;
    std::string threads;
  };
  // The listing took this time. A hold or a wait that is younger is omitted. All others existed at
  // the begin of the listing, and so at the same time. `capacity_of` returns the permits of a
  // semaphore, and is called for those with a waiter.
  using semaphore_reader = std::function<int64_t(const std::string& name)>;
  wait_graph(const std::vector<entry>& seen, int64_t taken_ms, const semaphore_reader& capacity_of);

  struct lock {
    std::string name;
    std::string kind;
    int64_t capacity = 0;  // of a semaphore
  };
  const lock& at(const lock_use& use) const { return locks_[use.lock]; }

  // A thread of a deadlock: what it waits for, and its hold that the thread before it waits for.
  struct step {
    const lock_thread* thread;
    const lock_use* hold;
    const lock_use* wait;
  };
  using deadlock = std::vector<step>;
  // Each thread waits for the hold of the next one, and the last thread for that of the first.
  const std::vector<deadlock>& deadlocks() const { return deadlocks_; }
  size_t waiting() const { return waiting_; }
  // The threads that wait behind a deadlock.
  size_t behind() const { return behind_; }

 private:
  struct load;

  void read(const entry& seen, int64_t taken_ms);
  bool is_blocked(const lock_use& wait, const load& held) const;
  bool excludes(const lock_use& hold, const lock_use& wait) const;
  void remove_running();
  void find_deadlocks();
  step next_of(const step& from) const;

  std::vector<lock> locks_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> lock_places_;
  std::vector<lock_thread> threads_;
  std::map<uint64_t, size_t> thread_places_;
  std::vector<bool> is_stuck_;  // by thread
  std::vector<deadlock> deadlocks_;
  size_t waiting_ = 0;
  size_t behind_ = 0;
};

}  // namespace mortise::cli
