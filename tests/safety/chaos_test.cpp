// Everything at once: processes that contend for a few locks while they are killed, stopped and
// cut off at random. What they believed is recorded and checked, and what they write is fenced.
//
// Ten seconds by default; MORTISE_CHAOS_SECONDS asks for more.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "safety/handles.hpp"
#include "support/child.hpp"
#include "support/history.hpp"
#include "support/server.hpp"

namespace mortise::testing {
namespace {

constexpr int lock_count = 3;
constexpr int process_count = 6;

// Memory that all processes share: what the locks protect, and what came of it.
struct shared_store {
  struct cell {
    std::atomic<std::int64_t> highest{0};
    std::atomic<std::int64_t> taken{0};
    std::atomic<std::int64_t> refused{0};

    // Takes no token below the highest that it has seen.
    void write(std::int64_t token) {
      auto seen = highest.load();
      while (token >= seen) {
        if (highest.compare_exchange_weak(seen, token)) {
          ++taken;
          return;
        }
      }
      ++refused;
    }
  };
  std::array<cell, lock_count> cells;
  std::atomic<bool> is_over{false};
};

class shared_memory {
 public:
  shared_memory() {
    void* const room = mmap(nullptr, sizeof(shared_store), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    store_ = new (room) shared_store;
  }
  ~shared_memory() { munmap(store_, sizeof(shared_store)); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  shared_store* operator->() const { return store_; }

 private:
  shared_store* store_ = nullptr;
};

void work_a_little(std::mt19937& chance) {
  const timespec pause{0, static_cast<long>(chance() % 5'000'000)};
  nanosleep(&pause, nullptr);
}

// Holds until chance or a loss ends it, and tells for how long it believed so. Both times are taken
// on the safe side of what the handle says, so that overlapping records are overlapping beliefs.
hold_record hold(mortise_lock* lock, int which, const shared_memory& store, std::mt19937& chance) {
  hold_record record;
  record.name = std::to_string(which);
  record.holder = std::to_string(getpid());
  record.token = mortise_lock_token(lock);
  record.start_ns = record.end_ns = boot_now();
  const auto rounds = chance() % 8 + (chance() % 50 == 0 ? 200 : 0);
  for (unsigned round = 0; round <= rounds; ++round) {
    const auto now = boot_now();
    if (mortise_lock_is_held(lock) != 1) break;
    record.end_ns = now;
    work_a_little(chance);
    // Whoever is stopped here writes too late, which only the token tells.
    store->cells.at(static_cast<std::size_t>(which)).write(record.token);
  }
  return record;
}

// One process: acquires, holds, unlocks, and tells each hold when it is over.
void contend(child_end& test, const std::string& url, unsigned seed, const shared_memory& store) {
  std::mt19937 chance(seed);
  client_handle client;
  while (!client && !store->is_over) {
    // The connection may be cut while it is being greeted.
    client.reset(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  }
  if (!client) return test.say("over");
  std::vector<lock_handle> locks;
  for (int i = 0; i < lock_count; ++i) locks.push_back(open_lock(client, std::to_string(i)));
  while (!store->is_over) {
    const auto which = static_cast<int>(chance() % lock_count);
    auto* const lock = locks.at(static_cast<std::size_t>(which)).get();
    const auto got = chance() % 5 == 0 ? mortise_lock_try(lock, nullptr)
                                       : mortise_lock_acquire(lock, chance() % 2000, nullptr);
    if (got != MORTISE_OK) continue;
    const auto record = hold(lock, which, store, chance);
    std::ostringstream line;
    write_history(line, {record});
    auto text = line.str();
    text.pop_back();
    test.say(text);
    mortise_lock_unlock(lock, nullptr);
  }
  test.say("over");
}

class chaos {
 public:
  chaos() : url_(server_.url() + "?lease=400ms&command_timeout=500ms") {
    for (int i = 0; i < process_count; ++i) processes_.push_back(start());
  }

  void run(std::int64_t seconds) {
    const auto begin = boot_now();
    while (ms_since(begin) < seconds * second_ms) {
      harm();
      collect();
      const timespec pause{0, static_cast<long>(40'000'000 + chance_() % 100'000'000)};
      nanosleep(&pause, nullptr);
    }
    finish();
  }

  void report() const {
    std::int64_t refused = 0;
    for (const auto& cell : store_->cells) refused += cell.refused;
    std::cout << history_.size() << " holds, " << kills_ << " kills, " << stops_ << " stops, "
              << cuts_ << " cuts, " << pauses_ << " server pauses, " << refused
              << " stale writes refused; seed " << seed_ << '\n';
  }

  [[nodiscard]] const std::vector<hold_record>& history() const { return history_; }
  [[nodiscard]] int harms() const { return kills_ + stops_ + cuts_ + pauses_; }
  // Everything has ended well, so all that is left over ends by itself.
  [[nodiscard]] bool leaves_nothing() {
    return eventually([&] {
      for (int i = 0; i < lock_count; ++i) {
        const auto name = std::to_string(i);
        if (server_.command({"EXISTS", lock_key(name)}) != "0") return false;
      }
      return true;
    });
  }

 private:
  struct process {
    std::unique_ptr<child> body;
    time_ns resume_at = 0;  // 0 when it is not stopped
  };

  process start() {
    const auto seed = static_cast<unsigned>(chance_());
    return {std::make_unique<child>(
                [this, seed](child_end& test) { contend(test, url_, seed, store_); }),
            0};
  }

  void harm() {
    for (auto& each : processes_) {
      if (each.resume_at == 0 || boot_now() < each.resume_at) continue;
      each.body->resume();
      each.resume_at = 0;
    }
    auto& victim = processes_.at(chance_() % processes_.size());
    switch (chance_() % 8) {
      case 0:
      case 1:
        drain(*victim.body);
        victim.body->kill();
        victim = start();
        ++kills_;
        break;
      case 2:
      case 3:
      case 4:
        if (victim.resume_at != 0) break;
        victim.body->pause();
        // Shorter and longer than a lease.
        victim.resume_at = boot_now() + static_cast<time_ns>(chance_() % 1200) * ns_per_ms;
        ++stops_;
        break;
      case 5:
        server_.command({"CLIENT", "KILL", "TYPE", chance_() % 2 ? "pubsub" : "normal"});
        ++cuts_;
        break;
      case 6:
        server_.command({"CLIENT", "PAUSE", std::to_string(chance_() % 300), "ALL"});
        ++pauses_;
        break;
      default:
        server_.command({"SCRIPT", "FLUSH"});
        break;
    }
  }

  void collect() {
    for (auto& each : processes_) drain(*each.body);
  }
  void drain(child& body) {
    while (body.has_line() && take(body.hear())) {
    }
  }
  // Keeps a line that tells a hold; false for what ends the conversation.
  bool take(const std::string& line) {
    std::istringstream text(line);
    const auto before = history_.size();
    return read_history(text, history_) && history_.size() > before;
  }

  void finish() {
    store_->is_over = true;
    for (auto& each : processes_) {
      if (each.resume_at != 0) each.body->resume();
      std::string line = each.body->hear();
      while (take(line)) line = each.body->hear();
      EXPECT_EQ("over", line);
    }
    processes_.clear();
  }

  const unsigned seed_ = std::random_device{}();
  std::mt19937 chance_{seed_};
  test_server server_;
  const std::string url_;
  shared_memory store_;
  std::vector<process> processes_;
  std::vector<hold_record> history_;
  int kills_ = 0;
  int stops_ = 0;
  int cuts_ = 0;
  int pauses_ = 0;
};

TEST(safety, chaos) {
  const char* const wanted = std::getenv("MORTISE_CHAOS_SECONDS");
  chaos all;
  all.run(wanted != nullptr ? std::atoll(wanted) : 10);
  all.report();
  EXPECT_GT(all.history().size(), 50U);
  EXPECT_GT(all.harms(), 10);
  for (const auto& violation : check_history(all.history())) ADD_FAILURE() << violation;
  EXPECT_TRUE(all.leaves_nothing());
}

}  // namespace
}  // namespace mortise::testing
