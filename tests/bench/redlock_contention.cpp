// Contenders for one lock of five servers, each with connections of its own: the time of an
// acquire, against redsync and a client like node-redlock, all with their defaults. Each holds for
// a moment and pauses after it, at random, so that two leave the lock free more often than not and
// ten hardly ever.
#include <exception>
#include <random>

#include "bench_process.hpp"
#include "experiment.hpp"
#include "language_competitor.hpp"
#include "quorum_client.hpp"
#include "quorum_servers.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t hold_us = 5'000;
constexpr std::int64_t pause_us = 20'000;  // on average
constexpr int sizes[] = {2, 5, 10};

// What one contender does; made in its process.
struct way_to_lock {
  std::function<void()> acquire;
  std::function<void()> release;
};

// Contenders that are processes.
class contenders {
 public:
  contenders(int count, std::function<way_to_lock()> make)
      : count_(static_cast<std::uint32_t>(count)), make_(std::move(make)) {
    for (int i = 0; i < count; ++i) {
      processes_.push_back(std::make_unique<process>([this] { serve(); }));
    }
    wait_for(board_->ready);
  }

  // What each acquire took that began within this time.
  std::vector<double> contend(std::int64_t length_ms) {
    auto& board = *board_.get();
    board.taken = 0;
    board.left = 0;
    board.end_ns = now_ns() + length_ms * ns_per_second / 1000;
    board.round.fetch_add(1);
    wake_all(board.round);
    wait_for(board.left);
    std::vector<double> all;
    for (std::uint32_t i = 0; i < std::min(board.taken.load(), sample_limit); ++i) {
      all.push_back(board.taken_us[i]);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t sample_limit = 1U << 16U;
  struct notice_board {
    std::atomic<std::uint32_t> ready{0};
    std::atomic<std::uint32_t> round{0};
    std::atomic<std::uint32_t> left{0};
    std::atomic<std::int64_t> end_ns{0};
    std::atomic<std::uint32_t> holders{0};
    std::atomic<std::uint32_t> taken{0};
    double taken_us[sample_limit];
  };

  void wait_for(const std::atomic<std::uint32_t>& counter) {
    while (counter.load() < count_) {
      int exit_code = 0;
      for (auto& child : processes_) require(!child->has_ended(exit_code), "a contender has ended");
      sleep_ns(ns_per_second / 1000);
    }
  }
  void serve() const {
    const auto way = make_();
    board_->ready.fetch_add(1);
    std::minstd_rand chance(std::random_device{}());
    for (std::uint32_t seen = 0;;) {
      while (board_->round.load() == seen) wait_on(board_->round, seen);
      seen = board_->round.load();
      while (now_ns() < board_->end_ns.load()) lock_once(way, chance);
      board_->left.fetch_add(1);
    }
  }
  void lock_once(const way_to_lock& way, std::minstd_rand& chance) const {
    auto& board = *board_.get();
    const auto start = now_ns();
    way.acquire();
    const auto time = now_ns() - start;
    require(board.holders.fetch_add(1) == 0, "two contenders hold the lock");
    const auto index = board.taken.fetch_add(1);
    if (index < sample_limit) {
      board.taken_us[index] = static_cast<double>(time) / ns_per_microsecond;
    }
    sleep_ns(hold_us * 1000);
    board.holders.fetch_sub(1);
    way.release();
    sleep_ns(std::uniform_int_distribution<std::int64_t>(0, 2 * pause_us * 1000)(chance));
  }

  const std::uint32_t count_;
  const std::function<way_to_lock()> make_;
  shared<notice_board> board_;
  std::vector<std::unique_ptr<process>> processes_;
};

way_to_lock by_mortise(const std::string& url) {
  const std::shared_ptr<mortise_client> client = open_client(url);
  const std::shared_ptr<mortise_lock> lock = make_lock(client.get(), "contended");
  return {[client, lock] {
            check(mortise_lock_acquire(lock.get(), MORTISE_FOREVER, nullptr),
                  "mortise_lock_acquire");
          },
          [lock] { check(mortise_lock_unlock(lock.get(), nullptr), "mortise_lock_unlock"); }};
}

way_to_lock like_node(const std::vector<std::string>& urls) {
  const auto client = std::make_shared<quorum_client>(urls);
  const plain_lock lock{"node-like", std::to_string(::getpid())};
  return {[=] { client->acquire(lock); }, [=] { client->release(lock); }};
}

// Printed with --raw.
struct grants {
  std::vector<double> us;
  void add(const std::vector<double>& more) { us.insert(us.end(), more.begin(), more.end()); }
  [[nodiscard]] double p50() const { return percentile(us, 0.5); }
  [[nodiscard]] double p99() const { return percentile(us, 0.99); }
  [[nodiscard]] double count() const { return static_cast<double>(us.size()); }
};

void measure(int size, const settings& chosen, table& results) {
  const quorum_servers servers;
  const auto urls = servers.urls();
  contenders ours(size, [url = servers.url()] { return by_mortise(url); });
  contenders node(size, [urls] { return like_node(urls); });
  std::vector<std::string> command{MORTISE_BENCH_BUILD "/bench_redsync", std::to_string(size)};
  command.insert(command.end(), urls.begin(), urls.end());
  language_competitor redsync(command);

  const std::int64_t length_ms = chosen.pick(5000, 2000);
  const auto request = "contend " + std::to_string(length_ms) + " " + std::to_string(hold_us) +
                       " " + std::to_string(pause_us);
  grants by_us;
  grants by_redsync;
  grants by_node;
  double commands = 0;
  for (int i = 0; i < chosen.pick(3, 1); ++i) {
    const auto before = servers.commands();
    by_us.add(ours.contend(length_ms));
    commands += servers.commands() - before;
    by_redsync.add(redsync.ask(request));
    by_node.add(node.contend(length_ms));
  }
  const auto id = "redlock." + std::to_string(size);
  const auto compare_with = [&](const std::string& other, const grants& its) {
    results.measured(id + other + ".p50", by_us.p50() / its.p50());
    results.measured(id + other + ".p99", by_us.p99() / its.p99());
    results.measured(id + other + ".grants", by_us.count() / its.count());
  };
  compare_with(".redsync", by_redsync);
  compare_with(".node", by_node);
  results.measured(id + ".commands", commands / by_us.count());
  const auto report = [&](const char* name, const grants& of) {
    results.raw("%-12s p50 %7.1f ms, p99 %7.1f ms, %zu grants", name, of.p50() / 1000,
                of.p99() / 1000, of.us.size());
  };
  report("Mortise", by_us);
  report("redsync", by_redsync);
  report("node-redlock", by_node);
}

// The median has no goal: it is best where all but the one that asks just then are asleep. What
// that costs the others is in the rest.
std::vector<row> rows() {
  std::vector<row> all;
  for (const int size : sizes) {
    const auto prefix = "redlock." + std::to_string(size) + ".";
    const auto who = std::to_string(size) + " contenders, p50 until a grant / ";
    const auto add = [&](const std::string& key, const std::string& name) {
      const auto id = prefix + key;
      all.push_back({id + ".p50", who + name, aim::reported, 0, "x"});
      all.push_back({id + ".p99", "  p99 / " + name, aim::at_most, 1, "x"});
      all.push_back({id + ".grants", "  grants in all / " + name, aim::at_least, 1, "x"});
    };
    add("redsync", "redsync");
    add("node", "one like node-redlock");
    all.push_back(
        {prefix + "commands", "  server commands of a grant, at all five", aim::reported, 0, ""});
  }
  return all;
}

void run(const settings& chosen, table& results) {
  for (const int size : sizes) measure(size, chosen, results);
}

}  // namespace

const experiment& redlock_contention() {
  static const experiment instance{"redlock_contention", rows(), run};
  return instance;
}

}  // namespace mortise::bench
