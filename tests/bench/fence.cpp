// Fencing tokens: how many are drawn for each that is handed out. The counter begins at the
// server's clock in microseconds, so a load that draws more than a million a second outruns it.
#include "experiment.hpp"
#include "fleet.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t patience_ms = 10'000;

double counter(reference& observer) {
  const auto reply = observer.command({"GET", "mortise:fence"});
  require(reply->type == REDIS_REPLY_STRING, "there is no fence counter");
  return std::stod(reply->str);
}

// `work` goes on for so long and returns how many grants there were.
template <typename Work>
void measure(const char* id, reference& observer, double seconds, table& results, Work&& work) {
  work(seconds / 4);  // tokens that are drawn ahead are not of this second
  const double before = counter(observer);
  const double grants = work(seconds);
  const double drawn = counter(observer) - before;
  results.measured(id, drawn / grants);
  results.raw("%.0f tokens for %.0f grants, the clock makes %.0f in that time", drawn, grants,
              seconds * 1e6);
}

template <typename Round>
double repeat(double seconds, Round&& round) {
  const auto end =
      now_ns() + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
  double grants = 0;
  while (now_ns() < end) grants += round();
  return grants;
}

std::vector<lock_ptr> make_handles(mortise_client* client, const std::string& name, int count) {
  std::vector<lock_ptr> handles;
  for (int i = 0; i < count; ++i) handles.push_back(make_lock(client, name));
  return handles;
}

void next(const queue_ptr& queue, mortise_event* event) {
  check(mortise_queue_next(queue.get(), patience_ms, event, nullptr), "mortise_queue_next");
  check(mortise_event_status(event), "an asynchronous call");
}

// One thread, whose lock is passed on once and then given back.
void run_pair(const std::string& url, reference& observer, double seconds, table& results) {
  const auto client = open_client(url);
  const auto queue = make_queue(client.get(), 1);
  const auto locks = make_handles(client.get(), lock_name("fence", 1), 2);
  const event_ptr event(mortise_event_new());
  measure("fence.pair", observer, seconds, results, [&](double span) {
    return repeat(span, [&] {
      check(mortise_lock_acquire(locks[0].get(), patience_ms, nullptr), "mortise_lock_acquire");
      check(mortise_lock_acquire_async(locks[1].get(), queue.get(), 1, patience_ms, nullptr),
            "mortise_lock_acquire_async");
      check(mortise_lock_unlock(locks[0].get(), nullptr), "mortise_lock_unlock");
      next(queue, event.get());
      check(mortise_lock_unlock(locks[1].get(), nullptr), "mortise_lock_unlock");
      return 2;
    });
  });
}

// One thread with many handles in flight, which pass the lock on without an end.
void run_async(const std::string& url, reference& observer, double seconds, table& results) {
  constexpr int depth = 64;
  const auto client = open_client(url);
  const auto queue = make_queue(client.get(), 2 * depth);
  const auto locks = make_handles(client.get(), lock_name("fence", 2), depth);
  const event_ptr event(mortise_event_new());
  const auto acquire = [&](std::int64_t index) {
    check(mortise_lock_acquire_async(locks[static_cast<std::size_t>(index)].get(), queue.get(),
                                     index, patience_ms, nullptr),
          "mortise_lock_acquire_async");
  };
  for (std::int64_t i = 0; i < depth; ++i) acquire(i);
  measure("fence.async", observer, seconds, results, [&](double span) {
    return repeat(span, [&] {
      next(queue, event.get());
      const auto index = mortise_event_tag(event.get());
      if (mortise_event_kind(event.get()) != MORTISE_EVENT_ACQUIRED) {
        acquire(index);
        return 0;
      }
      check(mortise_lock_unlock_async(locks[static_cast<std::size_t>(index)].get(), queue.get(),
                                      index, nullptr),
            "mortise_lock_unlock_async");
      return 1;
    });
  });
}

// Several processes contend, with so many threads on one client each.
void run_fleet(const char* id, int threads_each, const std::string& url, reference& observer,
               double seconds, table& results) {
  fleet_plan plan;
  plan.url = url;
  plan.processes = 2;
  plan.contenders = plan.processes * threads_each;
  plan.shares_client = true;
  plan.name = lock_name("fence", 2 + threads_each);
  fleet contenders(plan);
  measure(id, observer, seconds, results, [&](double span) {
    return contenders.measure(plan.contenders, 1 << 30, span, observer).acquisitions;
  });
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(1.0, 0.4);
  reference observer(server.url());
  run_pair(server.url(), observer, seconds, results);
  run_async(server.url(), observer, seconds, results);
  run_fleet("fence.clients", 1, server.url(), observer, seconds, results);
  run_fleet("fence.threads", 8, server.url(), observer, seconds, results);
}

}  // namespace

const experiment& fence() {
  static const experiment instance{
      "fence",
      {{"fence.pair", "tokens drawn per grant, one thread that passes on once", aim::at_most, 2,
        ""},
       {"fence.async", "  one thread, 64 handles in flight", aim::at_most, 2, ""},
       {"fence.clients", "  2 clients with a thread each", aim::at_most, 2, ""},
       {"fence.threads", "  2 clients x 8 threads", aim::at_most, 2, ""}},
      run};
  return instance;
}

}  // namespace mortise::bench
