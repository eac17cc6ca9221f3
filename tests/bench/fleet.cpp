#include "fleet.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "harness.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t give_up_ms = 60'000;
constexpr std::int64_t pause_ns = 1'000'000;
// Handoffs that pass before a measurement begins, so that everybody stands in the queue.
constexpr std::uint32_t warm_up = 20;

void ping(reference& pinger, std::atomic<std::uint32_t>& count, std::int64_t* samples,
          std::uint32_t limit) {
  const auto start = now_ns();
  pinger.command({"PING"});
  const auto index = count.fetch_add(1);
  samples[index % limit] = now_ns() - start;
}

}  // namespace

fleet::fleet(fleet_plan plan) : plan_(std::move(plan)) {
  for (int i = 0; i < plan_.processes; ++i) {
    processes_.push_back(std::make_unique<process>([this, i] { run_process(i); }));
  }
  wait_for(board_->ready, static_cast<std::uint32_t>(plan_.contenders));
}

void fleet::check_processes() {
  for (auto& child : processes_) {
    int exit_code = 0;
    require(!child->has_ended(exit_code), "a process of contenders has ended");
  }
}

void fleet::wait_for(const std::atomic<std::uint32_t>& counter, std::uint32_t value) {
  const auto deadline = now_ns() + give_up_ms * 1'000'000;
  while (counter.load() < value) {
    check_processes();
    require(now_ns() < deadline, "the contenders do not get on");
    sleep_ns(pause_ns);
  }
}

// ---- in a child ------------------------------------------------------------------------------

void fleet::run_process(int number) const {
  client_ptr common;
  if (plan_.shares_client) common = open_client(plan_.url);
  reference pinger(plan_.url);
  std::vector<std::thread> threads;
  for (int i = number; i < plan_.contenders; i += plan_.processes) {
    threads.emplace_back([&, index = static_cast<std::uint32_t>(i)] {
      try {
        const auto own = plan_.shares_client ? nullptr : open_client(plan_.url);
        const auto lock = make_lock(own ? own.get() : common.get(), plan_.name, plan_.options);
        board_->ready.fetch_add(1);
        for (std::uint32_t seen = 0;;) {
          while (board_->round.load() == seen) wait_on(board_->round, seen);
          seen = board_->round.load();
          if (index >= board_->active.load()) continue;
          contend(lock.get(), plan_.pings ? &pinger : nullptr);
          board_->left.fetch_add(1);
        }
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench: a contender: %s\n", problem.what());
        std::_Exit(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

void fleet::contend(mortise_lock* lock, reference* pinger) const {
  auto& board = *board_.get();
  board.entered.fetch_add(1);
  while (!board.is_over.load(std::memory_order_relaxed)) {
    const auto begin = now_ns();
    check(mortise_lock_acquire(lock, give_up_ms, nullptr), "mortise_lock_acquire");
    const auto unlocked = board.unlocked_ns.load(std::memory_order_relaxed);
    const auto now = now_ns();
    require(board.holders.fetch_add(1) == 0, "two contenders hold the lock");
    if (unlocked != 0) {
      const auto index = board.acquisitions.fetch_add(1, std::memory_order_relaxed);
      board.handoff_ns[index % sample_limit] = now - unlocked;
      board.waited_ns[index % sample_limit] = now - begin;
    }
    if (!board.is_over.load(std::memory_order_relaxed)) {
      // Only the holder pings, so that one connection per process is enough.
      if (pinger != nullptr) ping(*pinger, board.round_trips, board.round_trip_ns, sample_limit);
      if (plan_.hold_ns > 0) sleep_ns(plan_.hold_ns);
    }
    board.holders.fetch_sub(1);
    board.unlocked_ns.store(now_ns(), std::memory_order_relaxed);
    check(mortise_lock_unlock(lock, nullptr), "mortise_lock_unlock");
  }
}

// ---- in the parent ---------------------------------------------------------------------------

fleet_result fleet::measure(int active, int acquisitions, double seconds, reference& server) {
  auto& board = *board_.get();
  board.active = static_cast<std::uint32_t>(active);
  board.entered = 0;
  board.left = 0;
  board.is_over = false;
  board.unlocked_ns = 0;
  board.acquisitions = 0;
  board.round_trips = 0;
  board.round.fetch_add(1);
  wake_all(board.round);
  wait_for(board.entered, board.active);
  wait_for(board.acquisitions, warm_up);

  fleet_result result;
  const auto before = server_usage::of(server);
  const auto first = board.acquisitions.load();
  const auto first_ping = board.round_trips.load();
  const auto start = now_ns();
  const auto end = start + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
  while (now_ns() < end &&
         board.acquisitions.load() - first < static_cast<unsigned>(acquisitions)) {
    check_processes();
    sleep_ns(pause_ns);
  }
  result.server = server_usage::of(server) - before;
  const auto last = board.acquisitions.load();
  const auto last_ping = board.round_trips.load();
  result.seconds = static_cast<double>(now_ns() - start) / static_cast<double>(ns_per_second);
  result.acquisitions = last - first;
  board.is_over = true;
  wait_for(board.left, board.active);

  const auto collect = [](const std::int64_t* samples, std::uint32_t from, std::uint32_t to) {
    std::vector<double> taken;
    for (auto i = std::max(from, to < sample_limit ? 0 : to - sample_limit); i < to; ++i) {
      taken.push_back(static_cast<double>(samples[i % sample_limit]) / ns_per_microsecond);
    }
    return taken;
  };
  result.handoff_us = collect(board.handoff_ns, first, last);
  result.waited_us = collect(board.waited_ns, first, last);
  result.round_trip_us = collect(board.round_trip_ns, first_ping, last_ping);
  return result;
}

}  // namespace mortise::bench
