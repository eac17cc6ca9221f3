// The bindings against C, in turns: the cost of a pair and of a call without a request, a handoff
// under contention, a handle of its own for each pair, the cost of a crowd that waits for one lock,
// whether many holds leak, and the time of an import.
#include <unistd.h>

#include <thread>

#include "experiment.hpp"
#include "language_competitor.hpp"
#include "placement.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr double bytes_per_kib = 1024;

struct language {
  std::string id;
  std::string title;
  std::vector<std::string> command;  // of its competitor; a URL and the name of a lock follow
  std::string waiters;               // what waits in a crowd
  int waiter_count;
  // 1.5 times what such a call was measured to cost more than C when the bindings were designed.
  double call_goal_ns;
  bool has_import = false;  // a program loads the binding from source files
};

// ---- a pair, and a call without a request ---------------------------------------------------

double c_pairs_ns(mortise_lock* lock, int count) {
  const auto start = now_ns();
  for (int i = 0; i < count; ++i) {
    check(mortise_lock_acquire(lock, MORTISE_FOREVER, nullptr), "mortise_lock_acquire");
    check(mortise_lock_unlock(lock, nullptr), "mortise_lock_unlock");
  }
  return static_cast<double>(now_ns() - start);
}

// Short blocks in turn, each of the binding between two of C.
void measure_pairs(const std::string& row, int rounds, table& results,
                   language_competitor& competitor, mortise_lock* lock) {
  // as of a thread that works; a thread that has slept is placed anywhere first
  constexpr int pairs = 2000;
  const auto request = "pairs " + std::to_string(pairs);
  std::vector<double> ratios;
  std::vector<double> competitor_us;
  std::vector<double> c_us;
  auto before = c_pairs_ns(lock, pairs);
  for (int i = 0; i < rounds; ++i) {
    const auto time = competitor.time_ns(request);
    const auto after = c_pairs_ns(lock, pairs);
    ratios.push_back(time * 2 / (before + after));
    competitor_us.push_back(time / pairs / ns_per_microsecond);
    c_us.push_back(after / pairs / ns_per_microsecond);
    before = after;
  }
  results.measured(row, median(ratios));
  results.raw("%.1f us, C %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)",
              median(competitor_us), median(c_us), percentile(ratios, 0.1),
              percentile(ratios, 0.9));
}

// Where the scheduler puts them, which may be different places; all on one core; and with all cores
// busy.
void measure_placed_pairs(const std::string& id, const settings& chosen, table& results,
                          language_competitor& competitor, mortise_lock* lock, reference& observer,
                          load& others) {
  const int rounds = chosen.pick(40, 15);
  measure_pairs(id + ".pair", rounds, results, competitor, lock);
  {
    const pinned all(placement::one_core, process_of(observer),
                     {::getpid(), competitor.process_id()});
    measure_pairs(id + ".pair_one_core", rounds, results, competitor, lock);
  }
  const loaded now(others);
  measure_pairs(id + ".pair_loaded", rounds, results, competitor, lock);
}

// CPU time, because all of it is the caller's own.
double c_readings_ns(const mortise_lock* lock, int count) {
  int held = 0;
  const auto start_us = process_cpu_us();
  for (int i = 0; i < count; ++i) held += mortise_lock_is_held(lock);
  const auto time_us = process_cpu_us() - start_us;
  require(held == count, "the lock was not held");
  return time_us * ns_per_microsecond;
}

void measure_readings(const std::string& id, const settings& chosen, table& results,
                      language_competitor& competitor, mortise_lock* lock) {
  constexpr int readings = 100'000;
  const auto request = "readings " + std::to_string(readings);
  std::vector<double> competitor_ns;
  std::vector<double> c_ns;
  check(mortise_lock_try(lock, nullptr), "mortise_lock_try");
  for (int i = 0; i < chosen.pick(100, 30); ++i) {
    c_ns.push_back(c_readings_ns(lock, readings) / readings);
    competitor_ns.push_back(competitor.cpu_ns(request) / readings);
  }
  check(mortise_lock_unlock(lock, nullptr), "mortise_lock_unlock");
  // The best of each, like the goals. Slower ones were slowed down by other programs.
  const auto best_ns = percentile(competitor_ns, 0);
  const auto best_c_ns = percentile(c_ns, 0);
  results.measured(id + ".call", best_ns - best_c_ns);
  results.raw("best of %zu: %.1f ns, C %.1f ns; medians %.1f ns, C %.1f ns", c_ns.size(), best_ns,
              best_c_ns, median(competitor_ns), median(c_ns));
}

// ---- a handle for each pair -----------------------------------------------------------------

// The construct of the language that unlocks by itself, such as Do, against pairs of a handle that
// is kept.
void measure_fresh(const std::string& id, const settings& chosen, table& results,
                   language_competitor& competitor) {
  constexpr int pairs = 200;
  const auto kept = "pairs " + std::to_string(pairs);
  const auto fresh = "fresh " + std::to_string(pairs);
  competitor.ask("fresh 2000");
  std::vector<double> ratios;
  std::vector<double> fresh_us;
  std::vector<double> kept_us;
  auto before = competitor.time_ns(kept);
  for (int i = 0; i < chosen.pick(120, 30); ++i) {
    const auto time = competitor.time_ns(fresh);
    const auto after = competitor.time_ns(kept);
    ratios.push_back(time * 2 / (before + after));
    fresh_us.push_back(time / pairs / ns_per_microsecond);
    kept_us.push_back(after / pairs / ns_per_microsecond);
    before = after;
  }
  results.measured(id + ".fresh", median(ratios));
  results.raw("%.1f us, kept %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)", median(fresh_us),
              median(kept_us), percentile(ratios, 0.1), percentile(ratios, 0.9));
}

// ---- contention -----------------------------------------------------------------------------

constexpr int contenders = 8;

// Owners of one client, each in a thread, and served in their order at the server.
double c_contend_ns(mortise_client* client, const std::string& name, int count) {
  const auto start = now_ns();
  std::vector<std::thread> threads;
  threads.reserve(contenders);
  for (int i = 0; i < contenders; ++i) {
    threads.emplace_back([&] {
      const auto lock = make_lock(client, name, "fair=strict");
      c_pairs_ns(lock.get(), count / contenders);
    });
  }
  for (auto& thread : threads) thread.join();
  return static_cast<double>(now_ns() - start);
}

void measure_contention(const std::string& id, const settings& chosen, table& results,
                        language_competitor& competitor, mortise_client* client,
                        reference& observer) {
  constexpr int handoffs = 800;
  const auto name = lock_name("c", contenders);
  const auto request = "contend " + std::to_string(handoffs);
  std::vector<double> ratios;
  std::vector<double> competitor_us;
  std::vector<double> c_us;
  double competitor_commands = 0;
  double c_commands = 0;
  competitor.ask(request);
  auto before = c_contend_ns(client, name, handoffs);
  for (int i = 0; i < chosen.pick(60, 15); ++i) {
    const auto start = server_usage::of(observer);
    const auto time = competitor.time_ns(request);
    const auto between = server_usage::of(observer);
    const auto after = c_contend_ns(client, name, handoffs);
    competitor_commands += (between - start).commands;
    c_commands += (server_usage::of(observer) - between).commands;
    ratios.push_back(time * 2 / (before + after));
    competitor_us.push_back(time / handoffs / ns_per_microsecond);
    c_us.push_back(after / handoffs / ns_per_microsecond);
    before = after;
  }
  results.measured(id + ".contended", median(ratios));
  results.raw("%.1f us, C %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)",
              median(competitor_us), median(c_us), percentile(ratios, 0.1),
              percentile(ratios, 0.9));
  results.measured(id + ".contended_commands", competitor_commands / c_commands);
  results.raw("%.2f, C %.2f", competitor_commands / handoffs / static_cast<double>(ratios.size()),
              c_commands / handoffs / static_cast<double>(ratios.size()));
}

// ---- leaks ----------------------------------------------------------------------------------

// A handle that is not freed in each hundred pairs would show: it is some hundreds of bytes.
void measure_growth(const std::string& id, const settings& chosen, table& results,
                    language_competitor& competitor, reference& observer, const std::string& name) {
  const int pairs = chosen.pick(1'000'000, 100'000);
  competitor.ask("cycle " + std::to_string(pairs / 10));
  const auto before = competitor.memory_bytes();
  const auto time = competitor.time_ns("cycle " + std::to_string(pairs));
  const auto after = competitor.memory_bytes();
  results.measured(id + ".growth", static_cast<double>(after - before) / bytes_per_kib);
  results.raw("%d pairs, %.1f us each; %.0f KiB before", pairs, time / pairs / ns_per_microsecond,
              static_cast<double>(before) / bytes_per_kib);
  require(find_key(observer, "string", name).empty(), "the lock is still held at the server");
}

// ---- a crowd --------------------------------------------------------------------------------

// They are let into the queue one by one, so that their order is known.
void let_in(language_competitor& competitor, reference& observer, const std::string& name,
            int count) {
  competitor.ask("join");
  wait_for_waiters(observer, name, 1);
  const auto queue = find_key(observer, "list", name);
  for (int i = 1; i < count; ++i) {
    competitor.ask("join");
    const auto deadline = now_ns() + 10 * ns_per_second;
    while (observer.command({"LLEN", queue})->integer <= i) {
      require(now_ns() < deadline, "a waiter is not in the lock's queue");
    }
  }
}

// The result is the token of each granted waiter, in the order of the grants.
void check_order(const std::vector<double>& grants, int count) {
  require(grants.size() == 2 * static_cast<std::size_t>(count), "not all who waited were served");
  for (std::size_t i = 0; i < grants.size(); i += 2) {
    require(grants[i] == static_cast<double>(i) / 2, "not served in the order of arrival");
    require(i == 0 || grants[i + 1] > grants[i - 1],
            "a token is not above that of the grant before");
  }
}

void measure_crowd(const language& spoken, table& results, language_competitor& competitor,
                   reference& observer, const std::string& name) {
  const int count = spoken.waiter_count;
  competitor.ask("gate");
  const auto before = competitor.memory_bytes();
  const auto threads = competitor.threads();
  let_in(competitor, observer, name, count);
  const auto added = competitor.memory_bytes() - before;
  const auto start = now_ns();
  const auto grants = competitor.ask("serve");
  const auto time = static_cast<double>(now_ns() - start);
  check_order(grants, count);
  results.measured(spoken.id + ".crowd_threads", static_cast<double>(competitor.most_threads()));
  results.raw("%zu before", threads);
  results.measured(spoken.id + ".waiter_bytes", static_cast<double>(added) / count);
  results.measured(spoken.id + ".waiter_served", time / count / ns_per_microsecond);
  results.raw("%.2f s for all, in their order", time / ns_per_second);
}

// ---- the start of a program -----------------------------------------------------------------

// Each in a process of its own.
void measure_import(const std::string& id, const settings& chosen, table& results,
                    language_competitor& competitor) {
  std::vector<double> imports_ms;
  for (int i = 0; i < chosen.pick(21, 7); ++i) {
    const auto import_ms = competitor.ask("import");
    require(import_ms.size() == 1, "the time of the import is missing");
    imports_ms.push_back(import_ms.front());
  }
  results.measured(id + ".import", median(imports_ms));
  results.raw("10th to 90th of %zu: %.1f to %.1f ms", imports_ms.size(),
              percentile(imports_ms, 0.1), percentile(imports_ms, 0.9));
}

// ---- the experiments ------------------------------------------------------------------------

void run(const language& spoken, const settings& chosen, table& results) {
  load others;
  const bench_server server(chosen);
  const auto name = lock_name(spoken.id);
  auto command = spoken.command;
  command.insert(command.end(), {server.url(), name});
  // Before the client, because it forks, as the load does.
  language_competitor competitor(command);
  reference observer(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("c"));

  // Java compiles what runs often.
  competitor.ask("pairs 20000");
  competitor.ask("readings 3000000");
  measure_placed_pairs(spoken.id, chosen, results, competitor, lock.get(), observer, others);
  measure_readings(spoken.id, chosen, results, competitor, lock.get());
  measure_fresh(spoken.id, chosen, results, competitor);
  measure_contention(spoken.id, chosen, results, competitor, client.get(), observer);
  // Before the crowd, whose memory would be there for whatever is not given back.
  measure_growth(spoken.id, chosen, results, competitor, observer, name);
  measure_crowd(spoken, results, competitor, observer, name);
  if (spoken.has_import) measure_import(spoken.id, chosen, results, competitor);
}

experiment experiment_of(const language& spoken) {
  const auto crowd = std::to_string(spoken.waiter_count) + " " + spoken.waiters;
  const auto& id = spoken.id;
  std::vector<row> rows{
      {id + ".pair", spoken.title + ", lock and unlock, pair / C", aim::at_most, 1.25, "x"},
      {id + ".pair_one_core", "  the same, all on the server's core", aim::at_most, 1.25, "x"},
      {id + ".pair_loaded", "  the same, all cores busy", aim::at_most, 1.25, "x"},
      {id + ".call", "  CPU of a call that asks nobody, above C's", aim::at_most,
       spoken.call_goal_ns, "ns"},
      {id + ".fresh", "  a handle for each pair / a handle that is kept", aim::at_most, 1.15, "x"},
      {id + ".contended", "  strict, " + std::to_string(contenders) + " contend, handoff / C",
       aim::at_most, 1.25, "x"},
      {id + ".contended_commands", "  server commands of that / C", aim::at_most, 1.25, "x"},
      {id + ".growth", "  memory that very many pairs leave", aim::at_most, 2048, "KiB"},
      {id + ".crowd_threads", "  " + crowd + " wait for one lock, threads", aim::at_most, 32, ""},
      {id + ".waiter_bytes", "  memory: each of them", aim::reported, 0, "B"},
      {id + ".waiter_served", "  time to serve each of them", aim::reported, 0, "us"}};
  if (spoken.has_import) rows.push_back({id + ".import", "  import", aim::at_most, 60, "ms"});
  return {id, std::move(rows),
          [spoken](const settings& chosen, table& results) { run(spoken, chosen, results); }};
}

std::vector<std::string> java_command() {
  const std::string sources = MORTISE_BENCH_SOURCES;
  // A heap of a fixed size makes other memory visible.
  return {MORTISE_BENCH_JAVA,
          "-Xms256m",
          "-Xmx256m",
          "-XX:+AlwaysPreTouch",
          "-cp",
          MORTISE_BENCH_JAR,
          "--enable-native-access=ALL-UNNAMED",
          sources + "/JavaCompetitor.java"};
}

std::vector<std::string> lua_command(const std::string& interpreter, const std::string& version) {
  const std::string sources = MORTISE_BENCH_SOURCES;
  const std::string modules = MORTISE_BENCH_LUA_SOURCES;
  const std::string build = MORTISE_BENCH_BUILD;
  return {"env", "LUA_PATH=" + modules + "/?.lua;" + modules + "/?/init.lua;;",
          "LUA_CPATH=" + build + "/lua/" + version + "/?.so;;", interpreter,
          sources + "/competitor.lua"};
}

std::vector<std::string> python_command() {
  const std::string sources = MORTISE_BENCH_SOURCES;
  const std::string build = MORTISE_BENCH_BUILD;
  return {"env", "PYTHONPATH=" + build + "/python", "python3", "-B",
          sources + "/python_competitor.py"};
}

}  // namespace

const std::vector<experiment>& languages() {
  constexpr bool has_virtual_threads = MORTISE_BENCH_VIRTUAL_THREADS;
  static const std::vector<experiment> all{
      experiment_of({"go", "Go", {MORTISE_BENCH_BUILD "/bench_go"}, "goroutines", 10'000, 120}),
      experiment_of({"java", "Java", java_command(),
                     has_virtual_threads ? "virtual threads" : "futures",
                     has_virtual_threads ? 10'000 : 2000, 18}),
      experiment_of({"lua", "Lua 5.4", lua_command("lua5.4", "5.4"), "coroutines", 10'000, 65}),
      experiment_of({"luajit", "LuaJIT", lua_command("luajit", "5.1"), "coroutines", 10'000, 80}),
      experiment_of({"python", "Python", python_command(), "coroutines", 10'000, 90, true})};
  return all;
}

}  // namespace mortise::bench
