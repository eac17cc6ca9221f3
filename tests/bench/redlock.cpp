// A lock of five servers: against the round trip of the third-fastest, which completes the quorum;
// with one that hangs or is dead, against all alive; and its cost at the servers.
#include <atomic>
#include <thread>

#include "experiment.hpp"
#include "in_turn.hpp"
#include "protocol/scripts/scripts.hpp"
#include "quorum_client.hpp"
#include "quorum_servers.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

// What one call takes, without what has to follow it.
double timed_us(std::vector<double>& times, const std::function<void()>& call) {
  const auto start = now_ns();
  call();
  times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
  return times.back();
}

double p50_us(int count, const std::function<void()>& call, const std::function<void()>& after) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    timed_us(times, call);
    after();
  }
  return median(std::move(times));
}

void acquire(mortise_lock* lock) { check(mortise_lock_try(lock, nullptr), "mortise_lock_try"); }
void unlock(mortise_lock* lock) {
  check(mortise_lock_unlock(lock, nullptr), "mortise_lock_unlock");
}

// One of the servers, asked by a program that blocks in its round trip for the same script.
class one_voter {
 public:
  explicit one_voter(const std::string& url) : server_(url) {
    take_ = server_.command({"SCRIPT", "LOAD", scripts::ballot_take.text})->str;
    release_ = server_.command({"SCRIPT", "LOAD", scripts::ballot_release.text})->str;
  }
  void take() {
    proposal_ = std::to_string(std::max(wall_us(), std::stoll(proposal_) + 1));
    const auto reply =
        server_.command({"EVALSHA", take_, "4", lock_, lock_ + ":ballot", "mortise:fence",
                         "mortise:quarantine", owner_, "30000", "take", proposal_});
    require(reply->elements > 0 && reply->element[0]->integer == 1, "a vote was not given");
  }
  void release() {
    const auto reply = server_.command(
        {"EVALSHA", release_, "2", lock_, lock_ + ":ballot", owner_, "0", "tell", proposal_});
    require(reply->integer == 1, "a vote was not taken back");
  }

 private:
  static long long wall_us() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  }

  reference server_;
  std::string take_;
  std::string release_;
  const std::string lock_ = "{" + lock_name("voter") + "}";
  const std::string owner_ = "m1:0123456789abcdef:1.1::30000";
  std::string proposal_ = "0";
};

// ---- against one server, and against a program that asks all -----------------------------------

// Servers that are one to five times as far away.
void measure_distances(const std::string& id, std::int64_t one_way_ns, const settings& chosen,
                       table& results) {
  const quorum_servers servers(
      {one_way_ns, 2 * one_way_ns, 3 * one_way_ns, 4 * one_way_ns, 5 * one_way_ns});
  one_voter third(servers.url_of(2));
  const auto client = open_client(servers.url());
  const auto lock = make_lock(client.get(), lock_name("apart"));
  constexpr int calls = 10;
  const auto compare_with_third = [&](const auto& ours, const auto& after, const auto& its,
                                      const auto& its_after) {
    return compare(
        chosen.pick(20, 5), [&] { return p50_us(calls, ours, after); },
        [&] { return p50_us(calls, its, its_after); });
  };
  const auto nothing = [] {};
  const auto grants = compare_with_third([&] { acquire(lock.get()); }, [&] { unlock(lock.get()); },
                                         [&] { third.take(); }, [&] { third.release(); });
  results.measured(id + ".acquire", median(grants.ratios));
  results.raw("%.0f us, one round trip %.0f us", median(grants.with), median(grants.without));
  const auto pairs = compare_with_third([&] { pair(lock.get()); }, nothing,
                                        [&] {
                                          third.take();
                                          third.release();
                                        },
                                        nothing);
  results.measured(id + ".pair", median(pairs.ratios));
  results.raw("%.0f us, two round trips %.0f us", median(pairs.with), median(pairs.without));
}

void measure_loopback(const settings& chosen, table& results) {
  const quorum_servers servers;
  one_voter third(servers.url_of(2));
  quorum_client bare(servers.urls());
  const auto client = open_client(servers.url());
  const auto lock = make_lock(client.get(), lock_name("near"));
  const plain_lock plain{lock_name("bare"), "token"};
  constexpr int calls = 200;
  const auto rounds = chosen.pick(40, 10);
  const auto acquire_us = [&] {
    return p50_us(
        calls, [&] { acquire(lock.get()); }, [&] { unlock(lock.get()); });
  };
  const auto one = compare(rounds, acquire_us, [&] {
    return p50_us(
        calls, [&] { third.take(); }, [&] { third.release(); });
  });
  results.measured("redlock.loopback", median(one.ratios));
  results.raw("%.1f us, one round trip %.1f us", median(one.with), median(one.without));
  const auto all = compare(rounds, acquire_us, [&] {
    return p50_us(
        calls, [&] { require(bare.take(plain), "not taken"); }, [&] { bare.release(plain); });
  });
  results.measured("redlock.bare", median(all.ratios));
  results.raw("%.1f us, the bare program %.1f us", median(all.with), median(all.without));

  const int pairs = chosen.pick(2000, 500);
  const auto before = servers.commands();
  for (int i = 0; i < pairs; ++i) pair(lock.get());
  results.measured("redlock.commands", (servers.commands() - before) / pairs);
}

// Turns a second of so many handles of one client, each in a thread.
double turns(mortise_client* client, int handles, double seconds) {
  const auto name = lock_name("turns", handles);
  const auto end = now_ns() + static_cast<std::int64_t>(seconds * ns_per_second);
  std::atomic<int> count{0};
  std::vector<std::thread> users;
  users.reserve(static_cast<std::size_t>(handles));
  for (int i = 0; i < handles; ++i) {
    users.emplace_back([&] {
      const auto lock = make_lock(client, name);
      while (now_ns() < end) {
        check(mortise_lock_acquire(lock.get(), MORTISE_FOREVER, nullptr), "mortise_lock_acquire");
        unlock(lock.get());
        ++count;
      }
    });
  }
  for (auto& user : users) user.join();
  return count / seconds;
}

void measure_handles(const settings& chosen, table& results) {
  const quorum_servers servers;
  const auto client = open_client(servers.url());
  const double seconds = chosen.pick(0.5, 0.2);
  const auto rates = compare(
      chosen.pick(20, 5), [&] { return turns(client.get(), 8, seconds); },
      [&] { return turns(client.get(), 1, seconds); });
  results.measured("redlock.handles", median(rates.ratios));
  results.raw("%.0f turns a second, of one handle %.0f", median(rates.with), median(rates.without));
}

// ---- one that is of no use ---------------------------------------------------------------------

void measure_faults(const settings& chosen, table& results) {
  quorum_servers servers({ns_per_ms, ns_per_ms, ns_per_ms, ns_per_ms, ns_per_ms});
  const auto client = open_client(servers.url());
  const auto lock = make_lock(client.get(), lock_name("fault"));
  constexpr int pairs = 40;
  const auto pair_us = [&] {
    return p50_us(
        pairs, [&] { pair(lock.get()); }, [] {});
  };
  std::size_t which = 0;
  const auto next = [&]() -> testing::test_server& {
    return servers.at(which++ % quorum_servers::count);
  };
  const auto stalled = compare(
      chosen.pick(20, 5),
      [&] {
        auto& server = next();
        server.pause();
        const auto time = pair_us();
        server.resume();
        server.command({"PING"});
        return time;
      },
      pair_us);
  results.measured("redlock.stalled", median(stalled.ratios));
  results.raw("a pair %.2f ms, all alive %.2f ms", median(stalled.with) / 1000,
              median(stalled.without) / 1000);
  const auto dead = compare(
      chosen.pick(10, 5),
      [&] {
        auto& server = next();
        server.kill();
        const auto time = pair_us();
        server.start();
        wait_for_client(server);
        return time;
      },
      pair_us);
  results.measured("redlock.dead", median(dead.ratios));
  results.raw("a pair %.2f ms, all alive %.2f ms", median(dead.with) / 1000,
              median(dead.without) / 1000);
}

void run(const settings& chosen, table& results) {
  measure_distances("redlock.far", ns_per_ms, chosen, results);
  measure_distances("redlock.near", ns_per_ms / 20, chosen, results);
  measure_loopback(chosen, results);
  measure_handles(chosen, results);
  measure_faults(chosen, results);
}

}  // namespace

const experiment& redlock() {
  static const experiment instance{
      "redlock",
      {{"redlock.far.acquire", "acquire of five servers 1 to 5 ms away / round trip of the third",
        aim::at_most, 1.3, "x"},
       {"redlock.far.pair", "  pair / two round trips of the third", aim::at_most, 1.3, "x"},
       {"redlock.near.acquire",
        "acquire of five servers 50 to 250 us away / round trip of the third", aim::at_most, 1.3,
        "x"},
       {"redlock.near.pair", "  pair / two round trips of the third", aim::at_most, 1.3, "x"},
       {"redlock.loopback", "acquire of five servers on this host / round trip of one",
        aim::reported, 0, "x"},
       {"redlock.bare", "  the same / a bare program that asks all five", aim::reported, 0, "x"},
       {"redlock.commands", "server commands of a pair, at all five", aim::at_most, 10, ""},
       {"redlock.handles", "turns of 8 handles of one client, for one name / of one handle",
        aim::at_least, 1, "x"},
       {"redlock.stalled", "pair, one of five hangs / all alive", aim::at_most, 1.10, "x"},
       {"redlock.dead", "pair, one of five is dead / all alive", aim::at_most, 1.10, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
