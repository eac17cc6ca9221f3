// The cores of the two ends of a pair, and the load of the others. The core decides how long a pair
// takes, more than most of what is measured.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench_process.hpp"
#include "reference.hpp"

namespace mortise::bench {

enum class placement { one_core, two_cores };

// The process of a server on this host.
pid_t process_of(reference& server);

// Keeps a server on one core, and these clients, with all their threads, on the same or another.
class pinned {
 public:
  pinned(placement where, pid_t server, const std::vector<pid_t>& clients);
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  // They may run where they could before.
  ~pinned();

 private:
  std::vector<std::pair<pid_t, cpu_set_t>> before_;
};

// Keeps each core busy, by a child that only counts time, while it is on. Made before any
// client is.
class load {
 public:
  load();
  // 100: all cores are busy. Less: one process has this share of a core. 0: none.
  void set(std::uint32_t percent);

 private:
  shared<std::atomic<std::uint32_t>> percent_;
  std::vector<process> children_;
};

// While it is there, the load is on.
class loaded {
 public:
  explicit loaded(load& which, std::uint32_t percent = 100) : which_(which) { which_.set(percent); }
  loaded(const loaded&) = delete;
  loaded& operator=(const loaded&) = delete;
  ~loaded() { which_.set(0); }

 private:
  load& which_;
};

}  // namespace mortise::bench
