// Processes that read, write, upgrade and take permits while they are killed, stopped and cut off.
// Some of them are callers of one client. What they believed is recorded and checked.
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/contention.hpp"
#include "support/handles.hpp"
#include "support/history.hpp"
#include "support/server.hpp"

namespace mortise::testing::shared_chaos_test {
namespace {

constexpr int process_count = 5;
constexpr unsigned callers_each = 3;
constexpr std::int64_t most_permits = 4;
constexpr std::int64_t whole = std::int64_t{1} << 30;

// One caller of a process, with handles of its own. It holds now and then, and reports each hold at
// its end.
class contender {
 public:
  contender(child_end& test, std::mutex& speaking, const client_handle& client, unsigned seed)
      : test_(test),
        speaking_(speaking),
        holder_(std::to_string(getpid()) + "." + std::to_string(seed)),
        chance_(seed),
        rw_(open_rw(client, "rw")),
        semaphore_(open_semaphore(client, "semaphore", most_permits)) {}

  void run() {
    while (!test_.has_line()) {
      switch (chance_() % 4) {
        case 0:
          use_permits();
          break;
        case 1:
          write();
          break;
        default:
          read();
          break;
      }
    }
  }

 private:
  // Both times are on the safe side of those of the handle.
  template <class Token, class IsHeld>
  void hold(const std::string& name, std::int64_t permits, std::int64_t capacity, Token token,
            IsHeld is_held) {
    hold_record record{name, holder_, token(), 0, 0, permits, capacity};
    record.start_ns = record.end_ns = boot_now();
    const auto rounds = chance_() % 8 + (chance_() % 50 == 0 ? 200 : 0);
    for (unsigned round = 0; round <= rounds; ++round) {
      const auto now = boot_now();
      if (is_held() != 1) break;
      record.end_ns = now;
      const timespec pause{0, static_cast<long>(chance_() % 3'000'000)};
      nanosleep(&pause, nullptr);
    }
    std::ostringstream line;
    write_history(line, {record});
    auto text = line.str();
    text.pop_back();
    const std::lock_guard one(speaking_);
    test_.send(text);
  }
  void hold_part() {
    hold(
        "rw", 1, whole, [&] { return mortise_rw_token(rw_.get()); },
        [&] { return mortise_rw_is_reading(rw_.get()); });
  }
  void hold_whole() {
    hold(
        "rw", whole, whole, [&] { return mortise_rw_token(rw_.get()); },
        [&] { return mortise_rw_is_writing(rw_.get()); });
  }
  std::int64_t timeout_ms() { return static_cast<std::int64_t>(chance_() % 1000); }

  void read() {
    if (mortise_rw_read_acquire(rw_.get(), timeout_ms(), nullptr) != MORTISE_OK) return;
    hold_part();
    if (chance_() % 2 == 0 && mortise_rw_upgrade(rw_.get(), nullptr) == MORTISE_OK) {
      hold_whole();
    }
    end_hold();
  }
  void write() {
    if (mortise_rw_write_acquire(rw_.get(), timeout_ms(), nullptr) != MORTISE_OK) return;
    hold_whole();
    if (chance_() % 2 == 0) {
      mortise_rw_downgrade(rw_.get(), nullptr);
      hold_part();
    }
    end_hold();
  }
  void end_hold() {
    if (mortise_rw_write_unlock(rw_.get(), nullptr) == MORTISE_NOT_OWNER) {
      mortise_rw_read_unlock(rw_.get(), nullptr);
    }
  }
  void use_permits() {
    const auto permits = static_cast<std::int64_t>(chance_() % most_permits) + 1;
    if (mortise_semaphore_acquire(semaphore_.get(), permits, timeout_ms(), nullptr) != MORTISE_OK) {
      return;
    }
    hold(
        "semaphore", permits, most_permits,
        [&] { return mortise_semaphore_token(semaphore_.get()); },
        [&] { return mortise_semaphore_is_held(semaphore_.get()); });
    mortise_semaphore_release(semaphore_.get(), nullptr);
  }

  child_end& test_;
  std::mutex& speaking_;
  const std::string holder_;
  std::mt19937 chance_;
  const rw_handle rw_;
  const semaphore_handle semaphore_;
};

// One process: its callers share a client, and so their readers share holds.
void contend(child_end& test, const std::string& url, unsigned seed) {
  client_handle client;
  const auto give_up_at = boot_now() + patience_ms * ns_per_ms;
  while (!client && boot_now() < give_up_at) {
    // The connection may be cut while it is being greeted.
    client.reset(mortise_client_new(url.data(), url.size(), nullptr, nullptr));
  }
  std::mutex speaking;
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < callers_each; ++i) {
    callers.emplace_back([&, i] { contender(test, speaking, client, seed + i).run(); });
  }
  for (auto& caller : callers) caller.join();
  test.send("over");
}

class shared_chaos {
 public:
  shared_chaos() {
    for (int i = 0; i < process_count; ++i) processes_.push_back(start());
  }
  void run(std::int64_t for_ms) {
    const auto begin = boot_now();
    while (ms_since(begin) < for_ms) {
      harm();
      for (auto& process : processes_) drain(*process);
    }
    for (auto& process : processes_) {
      process->send("end");
      auto line = process->receive();
      while (take(line)) line = process->receive();
      EXPECT_EQ("over", line);
    }
    processes_.clear();
    std::cout << history_.size() << " holds; seed " << seed_ << '\n';
  }
  [[nodiscard]] const std::vector<hold_record>& history() const { return history_; }
  [[nodiscard]] bool leaves_nothing() {
    return eventually([&] {
      return server_.command({"EXISTS", lock_key("rw"), lock_key("semaphore")}) == "0";
    });
  }

 private:
  std::unique_ptr<child> start() {
    const auto seed = static_cast<unsigned>(chance_());
    const std::string retaining = chance_() % 2 == 0 ? "&retain=150ms" : "";
    const auto url = server_.url() + "?lease=400ms&command_timeout=500ms" + retaining;
    return std::make_unique<child>([=](child_end& test) { contend(test, url, seed); });
  }
  void sleep_ms(unsigned most) {
    const timespec pause{0, static_cast<long>(chance_() % most) * 1'000'000};
    nanosleep(&pause, nullptr);
  }
  void harm() {
    sleep_ms(150);
    auto& victim = processes_.at(chance_() % processes_.size());
    switch (chance_() % 5) {
      case 0:
        drain(*victim);
        victim->kill();
        victim = start();
        break;
      case 1:
      case 2:
        victim->pause();
        sleep_ms(900);  // shorter and longer than a lease
        victim->resume();
        break;
      case 3:
        server_.command({"CLIENT", "KILL", "TYPE", chance_() % 2 == 0 ? "pubsub" : "normal"});
        break;
      default:
        server_.command({"CLIENT", "PAUSE", std::to_string(chance_() % 300), "ALL"});
        break;
    }
  }
  void drain(child& body) {
    while (body.has_line() && take(body.receive())) {
    }
  }
  // Keeps a line that reports a hold; false for the last line of the process.
  bool take(const std::string& line) {
    std::istringstream text(line);
    const auto before = history_.size();
    return read_history(text, history_) && history_.size() > before;
  }

  const unsigned seed_ = chaos_seed();
  std::mt19937 chance_{seed_};
  test_server server_;
  std::vector<std::unique_ptr<child>> processes_;
  std::vector<hold_record> history_;
};

TEST(safety, shared_chaos) {
  shared_chaos all;
  all.run(8 * second_ms);
  EXPECT_GT(all.history().size(), 10U);
  for (const auto& violation : check_history(all.history())) ADD_FAILURE() << violation;
  EXPECT_TRUE(all.leaves_nothing());
}

}  // namespace
}  // namespace mortise::testing::shared_chaos_test
