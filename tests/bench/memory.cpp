// What an idle client, a waiter and a held lock take up.
#include <malloc.h>
#include <unistd.h>

#include "bench_process.hpp"
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr double bytes_per_kib = 1024;

// In a process of its own; what it has inherited of free memory is given back first.
template <typename Open>
double kib_of_each(Open open) {
  constexpr int count = 200;
  const shared<std::atomic<std::int64_t>> grown;
  process measuring([&] {
    const auto first = open();
    std::vector<decltype(open())> all;
    all.reserve(count);
    ::malloc_trim(0);
    const auto before = resident_bytes(::getpid());
    for (int i = 0; i < count; ++i) all.push_back(open());
    grown.get()->store(resident_bytes(::getpid()) - before);
  });
  measuring.join();
  return static_cast<double>(grown.get()->load()) / count / bytes_per_kib;
}

double idle_client_kib(const std::string& url) {
  return kib_of_each([&] {
    auto client = open_client(url);
    check(mortise_client_ping(client.get(), nullptr), "mortise_client_ping");
    return client;
  });
}

void measure_tls(table& results) {
  const tls_bench_server server;
  const auto client = idle_client_kib(server.url());
  const auto plain = kib_of_each([&] { return std::make_unique<reference>(server.url()); });
  results.measured("memory.tls_client", client / plain);
  results.raw("a client %.0f KiB, OpenSSL and hiredis %.0f KiB", client, plain);
}

// Each waiter is a client of its own, because a client has at most one place in a queue.
double waiter_bytes(const std::string& url, reference& observer) {
  constexpr int count = 400;
  const auto name = lock_name("waiters");
  const auto client = open_client(url);
  const auto lock = make_lock(client.get(), name);
  check(mortise_lock_try(lock.get(), nullptr), "mortise_lock_try");
  std::vector<client_ptr> clients;
  std::vector<queue_ptr> queues;
  std::vector<lock_ptr> locks;
  for (int i = 0; i < count; ++i) {
    clients.push_back(open_client(url));
    queues.push_back(make_queue(clients.back().get(), 16));
    locks.push_back(make_lock(clients.back().get(), name));
    check(mortise_lock_acquire_async(locks.back().get(), queues.back().get(), 0, 60'000, nullptr),
          "mortise_lock_acquire_async");
  }
  wait_for_waiters(observer, name, count);
  const auto queue = find_key(observer, "list", name);
  const auto size = observer.command({"MEMORY", "USAGE", queue, "SAMPLES", "0"})->integer;
  return static_cast<double>(size) / count;
}

double held_lock_bytes(const std::string& url, reference& observer) {
  // Below a power of two, so that the tables' spare room is what it is on average.
  constexpr int count = 12'000;
  const auto client = open_client(url);
  const auto locks = make_locks(client.get(), "held", count, "lease=1h");
  const auto used = [&] { return info_number(observer.info("memory"), "used_memory"); };
  const double before = used();
  for (const auto& lock : locks) check(mortise_lock_try(lock.get(), nullptr), "mortise_lock_try");
  const double after = used();
  for (const auto& lock : locks) check(mortise_lock_unlock(lock.get(), nullptr), "unlock");
  return (after - before) / count;
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  results.measured("memory.client", idle_client_kib(server.url()));
  measure_tls(results);
  reference observer(server.url());
  results.measured("memory.waiter", waiter_bytes(server.url(), observer));
  // A server without other clients, whose coming and going would show in its memory.
  const bench_server quiet(chosen);
  reference quiet_observer(quiet.url());
  results.measured("memory.held", held_lock_bytes(quiet.url(), quiet_observer));
}

}  // namespace

const experiment& memory() {
  static const experiment instance{
      "memory",
      {{"memory.client", "memory: an idle client with its thread", aim::at_most, 16, "KiB"},
       {"memory.tls_client", "memory: an idle client over TLS / blocking OpenSSL and hiredis",
        aim::reported, 0, "x"},
       {"memory.waiter", "memory: a waiter at the server", aim::at_most, 64, "B"},
       {"memory.held", "memory: a held lock at the server", aim::at_most, 200, "B"}},
      run};
  return instance;
}

}  // namespace mortise::bench
