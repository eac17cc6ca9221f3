// Which threads wait for which threads, from a listing, and the deadlocks among them. Pure: the
// library ends waits by it, and the command `mortise` shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mortise::protocol {

// A lock that a thread holds or waits for.
struct lock_use {
  std::size_t lock = 0;  // in the graph
  bool is_exclusive = true;
  std::int64_t permits = 1;
  std::int64_t lasted_ms = 0;
  // When a wait with the option `deadlock=fail` began, by the clock of its host; 0 for other waits.
  std::int64_t began_us = 0;
};

// A thread or a task that has held or waited since the listing began.
struct lock_thread {
  std::string client;
  std::string host;
  std::int64_t pid = 0;
  std::int64_t number = 0;  // of the kernel, or of the task
  bool is_task = false;
  std::uint64_t id = 0;  // unique among all processes
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
    std::int64_t pid = 0;
    std::string label;
    std::string name;
    std::string kind;
    std::string threads;
  };
  // The listing took this time. A hold or a wait that is younger is omitted. All others existed at
  // the begin of the listing, and so at the same time. `capacity_of` returns the permits of a
  // semaphore. It is called where they decide.
  using semaphore_reader = std::function<std::int64_t(const std::string& name)>;
  wait_graph(const std::vector<entry>& seen, std::int64_t taken_ms,
             const semaphore_reader& capacity_of);

  struct lock {
    std::string name;
    std::string kind;
    std::string protocol;
    std::int64_t capacity = 0;  // of a semaphore, where it decides
  };
  const lock& at(const lock_use& use) const { return locks_[use.lock]; }

  // A thread of a deadlock: what it waits for, and its hold that the thread before it waits for.
  struct step {
    const lock_thread* thread;
    const lock_use* hold;
    const lock_use* wait;
  };
  // Each thread waits for the hold of the next one, and the last thread for that of the first. The
  // first wait is the one to end, if any has the option.
  using deadlock = std::vector<step>;
  // One for each group of threads that wait for each other and for no other thread. A thread that
  // waits for such a group may run as soon as the group does.
  const std::vector<deadlock>& deadlocks() const { return deadlocks_; }
  std::size_t waiting() const { return waiting_; }
  // The threads that wait behind a deadlock.
  std::size_t behind() const { return behind_; }

 private:
  struct load;
  struct links;

  void read(const entry& seen, std::int64_t taken_ms);
  bool read_capacities(const semaphore_reader& capacity_of);
  bool is_blocked(const lock_use& wait, const load& held) const;
  bool excludes(const lock_use& hold, const lock_use& wait) const;
  std::vector<load> remove_running();
  // The threads that remain.
  [[nodiscard]] std::vector<std::size_t> stuck() const;
  std::size_t node_of(const lock_use& wait) const;
  links links_of(const std::vector<load>& held) const;
  void add_hold(links& all, const lock_use& hold, std::size_t holder) const;
  void find_deadlocks(const links& all);
  step youngest(std::vector<std::size_t> group, const links& all) const;
  deadlock circle_from(const step& first, const links& all) const;

  std::vector<lock> locks_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> lock_places_;
  std::vector<lock_thread> threads_;
  std::map<std::uint64_t, std::size_t> thread_places_;
  std::vector<bool> is_stuck_;  // by thread
  std::vector<deadlock> deadlocks_;
  std::size_t waiting_ = 0;
  std::size_t behind_ = 0;
};

}  // namespace mortise::protocol
