// Read-write locks and semaphores. It measures the cost of a pair compared with a mutex, and the
// cost of a release with many holders. It also measures how soon waiters are let in on a link with
// a round trip of 1 ms.
#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

using semaphore_ptr = std::unique_ptr<mortise_semaphore, freed_by<mortise_semaphore_free>>;
using event_ptr = std::unique_ptr<mortise_event, freed_by<mortise_event_free>>;

constexpr std::int64_t one_way_ns = 500'000;
constexpr std::int64_t patience_ms = 20'000;
constexpr int crowd = 1000;

semaphore_ptr make_semaphore(mortise_client* client, const std::string& name) {
  semaphore_ptr made(mortise_semaphore_new(client, name.data(), name.size(), 4, nullptr, nullptr));
  require(made != nullptr, "mortise_semaphore_new");
  return made;
}

void write_pair(mortise_rw* rw) {
  check(mortise_rw_write_try(rw, nullptr), "mortise_rw_write_try");
  check(mortise_rw_write_unlock(rw, nullptr), "mortise_rw_write_unlock");
}

void permit_pair(mortise_semaphore* semaphore) {
  check(mortise_semaphore_try(semaphore, 1, nullptr), "mortise_semaphore_try");
  check(mortise_semaphore_release(semaphore, nullptr), "mortise_semaphore_release");
}

// ---- pairs ----------------------------------------------------------------------------------

struct pair_cost {
  double p50_us;
  double server_us;
};

template <typename Pair>
pair_cost measure(reference& observer, Pair&& one) {
  constexpr int pairs = 400;
  std::vector<double> times;
  const auto before = server_usage::of(observer);
  for (int i = 0; i < pairs; ++i) {
    const auto start = now_ns();
    one();
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
  }
  return {median(std::move(times)), (server_usage::of(observer) - before).cpu_us / pairs};
}

// Short blocks in turn, each between two of the mutex.
template <typename Mutex, typename Pair>
void compare(const std::string& id, const settings& chosen, table& results, reference& observer,
             Mutex&& mutex, Pair&& one) {
  std::vector<double> p50;
  std::vector<double> cpu;
  std::vector<double> mutex_us;
  measure(observer, one);
  auto before = measure(observer, mutex);
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    const auto cost = measure(observer, one);
    const auto after = measure(observer, mutex);
    p50.push_back(cost.p50_us * 2 / (before.p50_us + after.p50_us));
    cpu.push_back(cost.server_us * 2 / (before.server_us + after.server_us));
    mutex_us.push_back(after.server_us);
    before = after;
  }
  results.measured("kinds." + id + ".p50", median(p50));
  results.measured("kinds." + id + ".cpu", median(cpu));
  results.raw("the mutex costs the server %.1f us", median(mutex_us));
}

void run_pairs(const settings& chosen, table& results) {
  const bench_server server(chosen);
  reference observer(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("kinds-mutex"));
  const auto rw = make_rw(client.get(), lock_name("kinds-rw"));
  const auto semaphore = make_semaphore(client.get(), lock_name("kinds-semaphore"));
  const auto mutex = [&] { pair(lock.get()); };
  compare("read", chosen, results, observer, mutex, [&] { read_pair(rw.get()); });
  compare("write", chosen, results, observer, mutex, [&] { write_pair(rw.get()); });
  compare("permit", chosen, results, observer, mutex, [&] { permit_pair(semaphore.get()); });
}

// ---- many readers ---------------------------------------------------------------------------

// What the server has to do, so each reader asks it.
void run_crowd(const settings& chosen, table& results) {
  const auto* const strict = "fair=strict";
  const bench_server server(chosen);
  reference observer(server.url());
  const auto client = open_client(server.url());
  const auto alone = make_rw(client.get(), lock_name("kinds-alone"), strict);
  const auto last = make_rw(client.get(), lock_name("kinds-crowd"), strict);
  std::vector<rw_ptr> readers;
  for (int i = 0; i < crowd; ++i) {
    readers.push_back(make_rw(client.get(), lock_name("kinds-crowd"), strict));
    check(mortise_rw_read_try(readers.back().get(), nullptr), "mortise_rw_read_try");
  }
  // With another holder that stays, so that neither ends the lock.
  const auto other = make_rw(client.get(), lock_name("kinds-alone"), strict);
  check(mortise_rw_read_try(other.get(), nullptr), "mortise_rw_read_try");
  std::vector<double> ratios;
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    const auto few = measure(observer, [&] { read_pair(alone.get()); });
    const auto many = measure(observer, [&] { read_pair(last.get()); });
    ratios.push_back(many.server_us / few.server_us);
  }
  results.measured("kinds.crowd.cpu", median(ratios));
}

// ---- handoffs -------------------------------------------------------------------------------

double ping_us(mortise_client* client) {
  const auto start = now_ns();
  check(mortise_client_ping(client, nullptr), "mortise_client_ping");
  return static_cast<double>(now_ns() - start) / ns_per_microsecond;
}

void await(mortise_queue* queue, mortise_event* event) {
  check(mortise_queue_next(queue, patience_ms, event, nullptr), "mortise_queue_next");
  check(mortise_event_status(event), "an acquire that waits");
}

// Two clients take turns with all permits: from the call of release until the other knows.
void run_handoff(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  reference observer(server.url());
  const auto first = open_client(link.url());
  const auto second = open_client(link.url());
  const auto name = lock_name("kinds-handoff");
  mortise_client* const clients[] = {first.get(), second.get()};
  const semaphore_ptr handles[] = {make_semaphore(clients[0], name),
                                   make_semaphore(clients[1], name)};
  const queue_ptr queues[] = {make_queue(clients[0], 16), make_queue(clients[1], 16)};
  const event_ptr event(mortise_event_new());
  check(mortise_semaphore_acquire(handles[0].get(), 4, patience_ms, nullptr), "acquire");
  std::vector<double> handoffs;
  std::vector<double> pings;
  const int count = chosen.pick(600, 150);
  const auto before = server_usage::of(observer);
  for (int i = 0; i < count; ++i) {
    auto* const holder = handles[i % 2].get();
    auto* const waiter = handles[1 - i % 2].get();
    auto* const queue = queues[1 - i % 2].get();
    check(mortise_semaphore_acquire_async(waiter, queue, 1, 4, patience_ms, nullptr), "acquire");
    sleep_ns(4 * one_way_ns);
    const auto start = now_ns();
    check(mortise_semaphore_release_async(holder, queues[i % 2].get(), 2, nullptr), "release");
    await(queue, event.get());
    handoffs.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
    await(queues[i % 2].get(), event.get());
  }
  const auto used = server_usage::of(observer) - before;
  for (int i = 0; i < 100; ++i) pings.push_back(ping_us(clients[0]));
  results.measured("kinds.handoff.p50", median(handoffs) / median(pings));
  results.raw("handoff %.0f us, round trip %.0f us", median(handoffs), median(pings));
  results.measured("kinds.handoff.commands", used.commands / count);
}

// A writer leaves, and so many readers of another client wait: until the last of them knows.
void run_batch(const settings& chosen, table& results) {
  constexpr int readers_waiting = 100;
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  const auto writing = open_client(link.url());
  const auto reading = open_client(link.url());
  const auto name = lock_name("kinds-batch");
  const auto writer = make_rw(writing.get(), name);
  const auto queue = make_queue(reading.get(), 4 * readers_waiting);
  const event_ptr event(mortise_event_new());
  std::vector<rw_ptr> readers;
  for (int i = 0; i < readers_waiting; ++i) readers.push_back(make_rw(reading.get(), name));
  std::vector<double> times;
  std::vector<double> pings;
  for (int i = 0; i < chosen.pick(100, 20); ++i) {
    check(mortise_rw_write_acquire(writer.get(), patience_ms, nullptr), "mortise_rw_write_acquire");
    for (const auto& reader : readers) {
      check(mortise_rw_read_acquire_async(reader.get(), queue.get(), 1, patience_ms, nullptr),
            "mortise_rw_read_acquire_async");
    }
    sleep_ns(20 * one_way_ns);
    pings.push_back(ping_us(writing.get()));
    const auto start = now_ns();
    check(mortise_rw_write_unlock(writer.get(), nullptr), "mortise_rw_write_unlock");
    for (int k = 0; k < readers_waiting; ++k) await(queue.get(), event.get());
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
    for (const auto& reader : readers) {
      check(mortise_rw_read_unlock_async(reader.get(), queue.get(), 2, nullptr), "read_unlock");
    }
    for (int k = 0; k < readers_waiting; ++k) await(queue.get(), event.get());
  }
  results.measured("kinds.batch", median(times) / median(pings));
  results.raw("%.0f us, round trip %.0f us", median(times), median(pings));
}

void run(const settings& chosen, table& results) {
  run_pairs(chosen, results);
  run_crowd(chosen, results);
  run_handoff(chosen, results);
  run_batch(chosen, results);
}

}  // namespace

const experiment& kinds() {
  static const experiment instance{
      "kinds",
      {{"kinds.read.p50", "a reader's pair p50 / mutex", aim::at_most, 1.2, "x"},
       {"kinds.read.cpu", "  server CPU / mutex", aim::at_most, 1.5, "x"},
       {"kinds.write.p50", "a writer's pair p50 / mutex", aim::at_most, 1.2, "x"},
       {"kinds.write.cpu", "  server CPU / mutex", aim::at_most, 1.5, "x"},
       {"kinds.permit.p50", "a permit's pair p50 / mutex", aim::at_most, 1.2, "x"},
       {"kinds.permit.cpu", "  server CPU / mutex", aim::at_most, 1.5, "x"},
       {"kinds.crowd.cpu", "server CPU of a reader's pair, among 1000 / 1", aim::at_most, 1.3, "x"},
       {"kinds.handoff.p50", "semaphore's handoff on a 1 ms link, p50", aim::at_most, 1.15, "RTT"},
       {"kinds.handoff.commands", "  server commands per cycle", aim::at_most, 2.1, ""},
       {"kinds.batch", "100 readers are let in on a 1 ms link, p50", aim::at_most, 2.0, "RTT"}},
      run};
  return instance;
}

}  // namespace mortise::bench
