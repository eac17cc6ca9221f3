// A lock that a replica has to acknowledge, compared with a program that sends SET and WAIT by
// hand. One caller has a connection of its own, and many share one.
#include <atomic>
#include <mutex>
#include <thread>

#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "in_turn.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

// Between clients and the master, one way.
constexpr std::int64_t link_ns = 150'000;

class replicated_server {
 public:
  // So far from its clients; 0 is without a link.
  explicit replicated_server(std::int64_t one_way_ns)
      : master_({{"--port", "free", "--repl-diskless-sync-delay", "0"}}),
        replica_({{"--replicaof", "127.0.0.1", std::to_string(master_.port())}}) {
    const auto end = now_ns() + 10 * ns_per_second;
    while (replica_.command({"INFO", "replication"}).find("master_link_status:up") ==
           std::string::npos) {
      require(now_ns() < end, "the replica does not follow");
      sleep_ns(10'000'000);
    }
    if (one_way_ns != 0) link_ = std::make_unique<delay_proxy>(master_.url(), one_way_ns);
  }
  [[nodiscard]] std::string url() const { return link_ ? link_->url() : master_.url(); }

 private:
  testing::test_server master_;
  testing::test_server replica_;
  std::unique_ptr<delay_proxy> link_;
};

void take_by_hand(reference& server, const plain_lock& lock) {
  server.command({"SET", lock.key, lock.token, "NX", "PX", "30000"});
  require(server.command({"WAIT", "1", "1000"})->integer == 1, "the replica has it not");
}

double p50_us(const std::function<void()>& take, const std::function<void()>& give_back) {
  constexpr int calls = 50;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = now_ns();
    take();
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
    give_back();
  }
  return median(std::move(times));
}

void measure_one(const std::string& id, std::int64_t one_way_ns, const settings& chosen,
                 table& results) {
  const replicated_server server(one_way_ns);
  reference by_hand(server.url());
  const plain_lock plain{lock_name("by hand"), "token"};
  const auto client = open_client(server.url(), "acks=1");
  const auto lock = make_lock(client.get(), lock_name("acknowledged"));
  const auto times = compare(
      chosen.pick(60, 20),
      [&] {
        return p50_us([&] { check(mortise_lock_try(lock.get(), nullptr), "mortise_lock_try"); },
                      [&] { check(mortise_lock_unlock(lock.get(), nullptr), "unlock"); });
      },
      [&] {
        return p50_us([&] { take_by_hand(by_hand, plain); },
                      [&] {
                        by_hand.command({"DEL", plain.key});
                      });
      });
  results.measured(id + ".p50", median(times.ratios));
  results.raw("%.1f us, SET and WAIT %.1f us", median(times.with), median(times.without));
}

// How often a second all of so many threads together run `pair(index)`.
double rate(int threads, double seconds, const std::function<void(int)>& pair) {
  const auto end = now_ns() + static_cast<std::int64_t>(seconds * ns_per_second);
  std::atomic<int> count{0};
  std::vector<std::thread> callers;
  callers.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&, i] {
      for (; now_ns() < end; ++count) pair(i);
    });
  }
  for (auto& caller : callers) caller.join();
  return count / seconds;
}

void measure_many(const std::string& id, std::int64_t one_way_ns, const settings& chosen,
                  table& results) {
  constexpr int callers = 64;
  const replicated_server server(one_way_ns);
  reference shared(server.url());
  std::mutex turn;
  const auto plain = plain_locks(callers);
  const auto client = open_client(server.url(), "acks=1");
  const auto locks = make_locks(client.get(), "acknowledged", callers);
  const double seconds = chosen.pick(0.5, 0.2);
  const auto rates = compare(
      chosen.pick(20, 5),
      [&] {
        return rate(callers, seconds,
                    [&](int i) { pair(locks[static_cast<std::size_t>(i)].get()); });
      },
      [&] {
        return rate(callers, seconds, [&](int i) {
          const auto& lock = plain[static_cast<std::size_t>(i)];
          const std::lock_guard guard(turn);
          take_by_hand(shared, lock);
          shared.command({"DEL", lock.key});
        });
      });
  results.measured(id + ".callers", median(rates.ratios));
  results.raw("%.0f pairs a second, with WAIT on one connection %.0f", median(rates.with),
              median(rates.without));
}

void run(const settings& chosen, table& results) {
  measure_one("acks", 0, chosen, results);
  measure_many("acks", 0, chosen, results);
  measure_one("acks.link", link_ns, chosen, results);
  measure_many("acks.link", link_ns, chosen, results);
}

}  // namespace

const experiment& acks() {
  static const experiment instance{
      "acks",
      {{"acks.p50", "acquire with acks=1, p50 / SET and WAIT by hand", aim::at_most, 1.2, "x"},
       {"acks.callers", "64 callers with acks=1, rate / WAIT on one shared connection",
        aim::at_least, 5, "x"},
       {"acks.link.p50", "  the same, clients 300 us away", aim::at_most, 1.2, "x"},
       {"acks.link.callers", "  64 callers 300 us away", aim::at_least, 5, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
