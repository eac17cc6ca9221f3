// A master that Sentinels replace, with 100 who wait for 20 names: how long after the first
// Sentinel tells of the new one the first of them is granted there. When it accepts writes is told
// beside it: between the two are the Sentinels alone.
#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "experiment.hpp"
#include "mortise/mortise.h"
#include "support/sentinel_set.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t patience_ms = 120'000;
constexpr int name_count = 20;
constexpr int waiters_of_each = 5;
constexpr std::size_t set_size = 3;

mortise_client* open_client(const testing::sentinel_set& set) {
  const auto url = set.url("lease=60s&command_timeout=30s");
  mortise_client* const client = mortise_client_new(url.data(), url.size(), nullptr, nullptr);
  require(client != nullptr, "no client");
  return client;
}

std::string name_of(int number) { return "sentinel-" + std::to_string(number); }

// Somebody who has all names, and others who wait for them, each a client of its own.
class crowd {
 public:
  explicit crowd(testing::sentinel_set& set) {
    for (int i = 0; i <= waiters_of_each; ++i) clients_.push_back(open_client(set));
    events_ = mortise_queue_new(clients_[1], 0, nullptr);
    releases_ = mortise_queue_new(clients_[0], 0, nullptr);
    for (int client = 0; client <= waiters_of_each; ++client) {
      for (int i = 0; i < name_count; ++i) begin(set, client, i);
    }
  }
  ~crowd() {
    for (auto* one : clients_) mortise_client_free(one);
    for (auto* one : locks_) mortise_lock_free(one);
    mortise_queue_free(events_);
    mortise_queue_free(releases_);
    for (auto* one : others_) mortise_queue_free(one);
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  [[nodiscard]] std::size_t client_count() const { return clients_.size(); }
  void release_all() {
    for (int i = 0; i < name_count; ++i) {
      require(mortise_lock_unlock_async(locks_[static_cast<std::size_t>(i)], releases_, i,
                                        nullptr) == MORTISE_OK,
              "not released");
    }
  }
  // When the first of those who wait longest is granted.
  [[nodiscard]] std::int64_t await_grant() {
    mortise_event* const event = mortise_event_new();
    require(mortise_queue_next(events_, patience_ms, event, nullptr) == MORTISE_OK, "no grant");
    const auto at = now_ns();
    require(mortise_event_status(event) == MORTISE_OK, "not granted");
    mortise_event_free(event);
    return at;
  }

 private:
  void begin(testing::sentinel_set& set, int client, int number) {
    const auto name = name_of(number);
    auto* const lock = mortise_lock_new(clients_[static_cast<std::size_t>(client)], name.data(),
                                        name.size(), nullptr, nullptr);
    locks_.push_back(lock);
    if (client == 0) {
      require(mortise_lock_acquire(lock, patience_ms, nullptr) == MORTISE_OK, "not acquired");
      return;
    }
    auto* queue = events_;
    if (client > 1) {
      if (number == 0) {
        others_.push_back(
            mortise_queue_new(clients_[static_cast<std::size_t>(client)], 0, nullptr));
      }
      queue = others_.back();
    }
    require(mortise_lock_acquire_async(lock, queue, number, patience_ms, nullptr) == MORTISE_OK,
            "does not wait");
    while (set.master().command({"LLEN", "{mortise:" + name + "}:q"}) != std::to_string(client)) {
    }
  }

  std::vector<mortise_client*> clients_;
  std::vector<mortise_lock*> locks_;  // of the first client first
  mortise_queue* events_ = nullptr;   // of those who wait longest
  mortise_queue* releases_ = nullptr;
  std::vector<mortise_queue*> others_;
};

// When the first Sentinel tells that the master is another.
class news {
 public:
  explicit news(testing::sentinel_set& set) {
    for (std::size_t i = 0; i < set_size; ++i) {
      clients_.push_back(set.sentinel(i).connect());
      require(!clients_.back()->command({"SUBSCRIBE", "+switch-master"}).empty(), "no news");
    }
    for (const auto& client : clients_) {
      threads_.emplace_back([this, &client] {
        static_cast<void>(client->read_reply());
        std::int64_t none = 0;
        at_.compare_exchange_strong(none, now_ns());
      });
    }
  }
  [[nodiscard]] std::int64_t await() {
    for (auto& one : threads_) one.join();
    return at_;
  }

 private:
  std::vector<std::unique_ptr<testing::raw_client>> clients_;
  std::vector<std::thread> threads_;
  std::atomic<std::int64_t> at_{0};
};

// When a replica first takes writes; and which.
std::int64_t await_promotion(testing::sentinel_set& set, std::size_t before, std::size_t& who) {
  for (;;) {
    for (std::size_t i = 0; i < set_size; ++i) {
      if (i == before || !set.server(i).command({"ROLE"}).starts_with("master")) continue;
      who = i;
      return now_ns();
    }
  }
}

std::size_t clients_at(testing::test_server& server) {
  const auto text = server.command({"CLIENT", "LIST"});
  std::size_t count = 0;
  for (auto at = text.find("name=mortise "); at != std::string::npos;
       at = text.find("name=mortise ", at + 1)) {
    ++count;
  }
  return count;
}

struct times_ms {
  std::vector<double> since_news;
  std::vector<double> since_promotion;
};

// Where the old master still serves for a moment, what is asked of it would be lost with it, so
// nobody gives back before all have left it.
void measure(bool is_killed, times_ms& into) {
  testing::sentinel_set set;
  crowd all(set);
  set.replicate();
  const auto before = set.master_number();
  news heard(set);
  if (is_killed) {
    set.server(before).kill();
    all.release_all();
  } else {
    require(set.sentinel(0).command({"SENTINEL", "FAILOVER", testing::sentinel_set::name}) == "OK",
            "no failover");
  }
  std::size_t next = 0;
  const auto promoted = await_promotion(set, before, next);
  if (!is_killed) {
    while (clients_at(set.server(next)) < all.client_count()) {
    }
    all.release_all();
  }
  const auto granted = all.await_grant();
  into.since_promotion.push_back(static_cast<double>(granted - promoted) / 1e6);
  into.since_news.push_back(static_cast<double>(granted - heard.await()) / 1e6);
}

void run(const settings& chosen, table& results) {
  const auto report = [&](const char* id, bool is_killed) {
    times_ms times;
    for (int i = 0; i < chosen.pick(7, 2); ++i) measure(is_killed, times);
    // The longest, because a stall is what it is at its worst.
    results.measured(id, percentile(times.since_news, 1.0));
    results.raw("%zu failovers: median %.1f ms; since it takes writes %.1f to %.1f ms",
                times.since_news.size(), median(times.since_news),
                percentile(times.since_promotion, 0.0), percentile(times.since_promotion, 1.0));
  };
  report("sentinel.failover", false);
  report("sentinel.kill", true);
}

}  // namespace

const experiment& sentinel() {
  static const experiment instance{
      "sentinel",
      {{"sentinel.failover",
        "SENTINEL FAILOVER, 100 wait: longest from its news to the first grant", aim::at_most, 100,
        "ms"},
       {"sentinel.kill", "master killed, 100 wait: longest from the news to the first grant",
        aim::at_most, 100, "ms"}},
      run};
  return instance;
}

}  // namespace mortise::bench
