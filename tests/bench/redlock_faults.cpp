// Sixteen threads at full speed at a quorum of three servers, of which one hangs, is dead, or has
// just returned. It measures the 99th percentile of a pair against that with all alive, in turns,
// the longest time of a call beyond its deadline, and the time to close the client.
#include <algorithm>
#include <array>
#include <thread>

#include "experiment.hpp"
#include "in_turn.hpp"
#include "quorum_servers.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr int threads_count = 16;
constexpr std::int64_t timeout_ms = 200;
constexpr std::int64_t ns_per_ms = 1'000'000;

class busy_client {
 public:
  explicit busy_client(const std::string& url)
      : client_(open_client(url)), locks_(make_locks(client_.get(), "busy", threads_count)) {}

  // The 99th percentile of the pairs of all threads in so many seconds.
  double p99_us(double seconds) {
    const auto end = now_ns() + static_cast<std::int64_t>(seconds * ns_per_second);
    std::array<std::vector<double>, threads_count> times;
    std::array<std::int64_t, threads_count> late{};
    std::vector<std::thread> users;
    for (std::size_t i = 0; i < threads_count; ++i) {
      users.emplace_back([&, i] {
        while (now_ns() < end) late[i] = std::max(late[i], timed_pair(*locks_[i], times[i]));
      });
    }
    for (auto& user : users) user.join();
    late_ns_ = std::max(late_ns_, *std::max_element(late.begin(), late.end()));
    std::vector<double> all;
    for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
    return percentile(std::move(all), 0.99);
  }
  // Beyond the deadline of a call.
  [[nodiscard]] double longest_delay_ms() const {
    return static_cast<double>(late_ns_) / ns_per_ms;
  }
  double end_ms() {
    locks_.clear();
    const auto start = now_ns();
    client_.reset();
    return static_cast<double>(now_ns() - start) / ns_per_ms;
  }

 private:
  static std::int64_t timed_pair(mortise_lock& lock, std::vector<double>& times) {
    const auto start = now_ns();
    const auto code = mortise_lock_acquire(&lock, timeout_ms, nullptr);
    const auto late = now_ns() - start - timeout_ms * ns_per_ms;
    if (code == MORTISE_OK) check(mortise_lock_unlock(&lock, nullptr), "mortise_lock_unlock");
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
    return late;
  }

  client_ptr client_;
  std::vector<lock_ptr> locks_;
  std::int64_t late_ns_ = 0;
};

struct three_servers {
  std::array<testing::test_server, 3> all;
  [[nodiscard]] std::string url() const {
    return "redlock:" + all[0].url() + "?quarantine=0," + all[1].url() + "," + all[2].url();
  }
};

void run(const settings& chosen, table& results) {
  three_servers servers;
  auto& faulty = servers.all[2];
  busy_client client(servers.url());
  const double seconds = chosen.pick(5.0, 0.5);
  const auto alive = [&] { return client.p99_us(seconds); };
  const auto measure = [&](const char* id, const auto& with_fault) {
    const auto seen = compare(chosen.pick(6, 2), with_fault, alive);
    results.measured(id, median(seen.ratios));
    results.raw("%.0f us, all alive %.0f us", median(seen.with), median(seen.without));
  };
  measure("redlock.busy.hangs", [&] {
    faulty.pause();
    const auto time = alive();
    faulty.resume();
    faulty.command({"PING"});
    return time;
  });
  measure("redlock.busy.returns", [&] {
    faulty.pause();
    alive();
    faulty.resume();
    return alive();
  });
  measure("redlock.busy.dead", [&] {
    faulty.kill();
    const auto time = alive();
    faulty.start();
    wait_for_client(faulty);
    return time;
  });
  results.measured("redlock.busy.late", std::max(0.0, client.longest_delay_ms()));
  faulty.pause();
  alive();
  results.measured("redlock.busy.end", client.end_ms());
  faulty.resume();
}

}  // namespace

const experiment& redlock_faults() {
  static const experiment instance{
      "redlock_faults",
      {{"redlock.busy.hangs", "16 threads, p99 of a pair, one of three hangs / all alive",
        aim::at_most, 1.2, "x"},
       {"redlock.busy.returns", "  one of three has just returned / all alive", aim::at_most, 1.2,
        "x"},
       {"redlock.busy.dead", "  one of three is dead / all alive", aim::at_most, 1.2, "x"},
       {"redlock.busy.late", "  longest call beyond its deadline of 200 ms", aim::at_most, 50,
        "ms"},
       {"redlock.busy.end", "  the end of the client while one hangs", aim::reported, 0, "ms"}},
      run};
  return instance;
}

}  // namespace mortise::bench
