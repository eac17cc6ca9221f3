// A pair whose release is one command, if the server knows it, against the same pair released by
// script. One client has all rights. The user of the other may not use that command.
#include <stdexcept>

#include "async_loop.hpp"
#include "experiment.hpp"
#include "in_turn.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

bool knows(reference& server, std::initializer_list<std::string_view> probe) try {
  server.command(probe);
  return true;
} catch (const std::runtime_error&) {
  return false;
}

// If the server knows it. Otherwise both clients do the same.
std::string make_scripted_user(reference& server) {
  server.command({"ACL", "SETUSER", "scripted", "on", "nopass", "~*", "allchannels", "+@all"});
  std::string known = "neither";
  if (knows(server, {"DELIFEQ", "mortise:probe", ""})) known = "DELIFEQ";
  if (knows(server, {"DELEX", "mortise:probe", "IFEQ", ""})) known = "DELEX";
  if (known != "neither") server.command({"ACL", "SETUSER", "scripted", "-" + known});
  return known;
}

std::string as_scripted(std::string url) { return url.insert(url.find("//") + 2, "scripted:x@"); }

double p50_us(mortise_lock* lock) {
  constexpr int pairs = 400;
  std::vector<double> times;
  for (int i = 0; i < pairs; ++i) {
    const auto start = now_ns();
    pair(lock);
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
  }
  return median(std::move(times));
}

void run(const settings& chosen, table& results) {
  constexpr int depth = 64;
  const bench_server server(chosen);
  reference observer(server.url());
  const auto known = make_scripted_user(observer);

  const auto client = open_client(server.url());
  const auto scripted = open_client(as_scripted(server.url()));
  const auto one = make_lock(client.get(), lock_name("compared"));
  const auto other = make_lock(scripted.get(), lock_name("scripted"));
  const auto times = compare(
      chosen.pick(60, 20), [&] { return p50_us(one.get()); }, [&] { return p50_us(other.get()); });
  results.measured("native.p50", median(times.ratios));
  results.raw("%.1f us, by script %.1f us; the server knows %s", median(times.with),
              median(times.without), known.c_str());

  async_loop loop(server.url(), depth);
  async_loop scripted_loop(as_scripted(server.url()), depth);
  const double seconds = chosen.pick(0.25, 0.12);
  const auto cost_of = [&](async_loop& of) {
    const auto before = server_usage::of(observer);
    const double pairs = of.run(seconds);
    return (server_usage::of(observer) - before).cpu_us / pairs;
  };
  const auto costs = compare(
      chosen.pick(15, 7), [&] { return cost_of(loop); }, [&] { return cost_of(scripted_loop); });
  results.measured("native.cpu", median(costs.ratios));
  results.raw("%.2f us, by script %.2f us, 64 in flight", median(costs.with),
              median(costs.without));
}

}  // namespace

const experiment& compare_and_delete() {
  static const experiment instance{
      "native",
      {{"native.p50", "pair with compare-and-delete, if the server knows it / by script",
        aim::at_most, 1.05, "x"},
       {"native.cpu", "  server CPU of a pair / by script", aim::at_most, 1.05, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
