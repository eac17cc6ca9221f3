// Judges a history of lock operations with the checker of the chaos tests.
// docs/internals/histories.md describes the history, the rules and the result.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "evidence/checker/claims.hpp"
#include "evidence/checker/guarded_register.hpp"
#include "evidence/checker/waits.hpp"

namespace mortise::evidence {
namespace {

constexpr std::size_t most_violations = 20;
constexpr std::int64_t ns_per_ms = 1'000'000;
enum exit_code { is_ok = 0, is_violation = 1, is_misuse = 2, is_unknown = 3, is_late = 4 };

struct limits {
  unsigned seconds = 600;
  rlim_t memory_mib = 4096;
  std::int64_t idle_ms = 10'000;
  std::int64_t wait_ms = 30'000;
};

// Without an allocation, and in a signal handler.
[[noreturn]] void give_up(std::string_view reason) {
  constexpr std::string_view begin = R"({"judge": "checker", "judgment": "unknown", "reason": ")";
  for (const auto text : {begin, reason, std::string_view("\"}\n")}) {
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) break;
  }
  _exit(is_unknown);
}

extern "C" void end_of_time(int) { give_up("out of time"); }

// A multi acquires all members or none, in one call.
std::vector<std::string> check_multis(const operation_history& history) {
  std::map<std::tuple<std::int64_t, std::int64_t>, std::int64_t> last;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
           std::vector<const operation*>>
      calls;
  for (const auto& one : history.operations) {
    auto& last_return = last[{one.process, one.client}];
    last_return = std::max(last_return, one.return_ns);
    if (one.multi != 0 && (one.op == "acquire" || one.op == "try")) {
      calls[{one.process, one.client, one.multi, one.call_ns}].push_back(&one);
    }
  }
  std::vector<std::string> found;
  for (const auto& [call, members] : calls) {
    const auto& first = *members.front();
    const auto count = static_cast<std::int64_t>(members.size());
    if (count < first.members && first.return_ns == last[{first.process, first.client}]) continue;
    const bool is_whole = std::all_of(members.begin(), members.end(), [&](const auto* one) {
      return one->members == count && one->status == first.status;
    });
    if (is_whole) continue;
    found.push_back("multi " + std::to_string(first.multi) + " at " +
                    std::to_string(first.call_ns) + " ns acquires a part of its members");
  }
  return found;
}

nlohmann::json judge(std::istream& in, const limits& limit) {
  const auto history = read_operations(in);
  auto found = find_claims(history);
  const auto waits = measure_waits(found, history);
  auto violations = std::move(found.violations);
  const auto add = [&](std::vector<std::string> more) {
    violations.insert(violations.end(), more.begin(), more.end());
  };
  add(testing::check_history(std::move(found.holds), {.is_exclusive = history.is_exclusive},
                             most_violations));
  add(check_writes(history));
  add(check_multis(history));
  const bool is_in_time = waits.longest_idle_ns / ns_per_ms <= limit.idle_ms &&
                          waits.longest_wait_ns / ns_per_ms <= limit.wait_ms;
  nlohmann::json result{{"judge", "checker"},
                        {"judgment", violations.empty() ? "ok" : "violation"},
                        {"liveness", is_in_time ? "ok" : "late"},
                        {"operations", history.operations.size()},
                        {"acquisitions", found.acquisitions},
                        {"is_cut", history.is_cut},
                        {"longest_idle_ms", waits.longest_idle_ns / ns_per_ms},
                        {"longest_wait_ms", waits.longest_wait_ns / ns_per_ms},
                        {"most_passed", waits.most_passed}};
  violations.resize(std::min(violations.size(), most_violations));
  result["violations"] = violations;
  return result;
}

int run(const limits& limit) {
  if (limit.seconds == 0) give_up("out of time");
  std::signal(SIGALRM, end_of_time);
  alarm(limit.seconds);
  const rlimit room{limit.memory_mib << 20U, limit.memory_mib << 20U};
  setrlimit(RLIMIT_AS, &room);
  nlohmann::json result;
  try {
    result = judge(std::cin, limit);
  } catch (const std::bad_alloc&) {
    give_up("out of memory");
  } catch (const std::exception& error) {
    result = {{"judge", "checker"}, {"judgment", "unknown"}, {"reason", error.what()}};
  }
  std::cout << result.dump(2) << '\n';
  if (result["judgment"] == "violation") return is_violation;
  if (result["judgment"] == "unknown") return is_unknown;
  return result["liveness"] == "late" ? is_late : is_ok;
}

}  // namespace
}  // namespace mortise::evidence

int main(int count, char** arguments) {
  mortise::evidence::limits limit;
  for (int i = 1; i < count; i += 2) {
    const std::string option = arguments[i];
    const auto value = i + 1 < count ? std::strtoll(arguments[i + 1], nullptr, 10) : 0;
    if (option == "--seconds") {
      limit.seconds = static_cast<unsigned>(value);
    } else if (option == "--memory") {
      limit.memory_mib = static_cast<rlim_t>(value);
    } else if (option == "--idle") {
      limit.idle_ms = value;
    } else if (option == "--wait") {
      limit.wait_ms = value;
    } else {
      std::cerr << "usage: evidence_checker [--seconds S] [--memory MIB] [--idle MS] [--wait MS]\n";
      return mortise::evidence::is_misuse;
    }
  }
  return mortise::evidence::run(limit);
}
