// A master that Sentinels replace, with 100 waiters for 20 names: the time from the first
// Sentinel's message about the new one to the first grant there. The time of its first accepted
// write is printed, too, because only the Sentinels act between the two.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crowd.hpp"
#include "experiment.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::bench {

namespace {

constexpr std::size_t set_size = 3;

std::vector<std::string> names() {
  std::vector<std::string> all;
  all.reserve(crowd::name_count);
  for (int i = 0; i < crowd::name_count; ++i) all.push_back("sentinel-" + std::to_string(i));
  return all;
}

// When the first Sentinel reports a new master.
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

// While the old master still serves for a moment, its writes would be lost with it. So no client
// releases a lock before all have left it.
void measure(bool is_killed, times_ms& into) {
  testing::sentinel_set set;
  auto& master = set.master();
  crowd all(set.url("lease=60s&command_timeout=30s"), names(),
            [&](const auto& /*key*/, const auto& command) { return master.command(command); });
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
