#include "cli/commands/why.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/durations.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"
#include "cli/text/listing.hpp"
#include "cli/text/lock_timeline.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const why_help =
    R"HELP(Shows when which client held a lock, and the waits behind each hold.

  mortise why nightly
  mortise why nightly --last 1h --json
  mortise why nightly --trace > nightly.json

Usage: mortise why [OPTION...] NAME

      --last TIME   how far to look back, at most 1d (default: 10m)
      --most COUNT  print only the latest rows (default: 100)
      --url URL     servers of the locks (default: $MORTISE_URL)
      --json        print all holds and waits, and their events, as JSON
      --trace       print them in Chrome's trace format, for Perfetto and chrome://tracing
      --wait TIME   time limit for the answers of the clients (default: 1s)
  -h, --help        print this help

Each living client keeps the last 4096 events of its locks. Clients that died are missing. Times are
those of the server's clock, in UTC. BEHIND has the tokens of the holds that a wait has waited for.
Exit codes: 0, even without events; 75 a server did not answer, and stderr names it; 64 and above as
in mortise exec.
)HELP";

const char* const dead_note = "Clients that died are missing.";

struct why_request {
  listing::history_terms terms;
  int64_t most_rows = 100;
  bool is_json = false;
  bool is_trace = false;
};

std::string duration_text(int64_t time_us) {
  return time_us < 2'000'000 ? short_text_of_ns(time_us * 1000) : rough_text_of(time_us / 1000);
}

std::string clock_text(int64_t time_us) {
  const auto seconds = static_cast<time_t>(time_us / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%02d:%02d:%02d.%06d", parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(time_us % 1'000'000));
  return text.data();
}

const char* what_of(const lock_span& span) {
  switch (span.what) {
    case lock_span::kind::hold:
      return span.is_open ? "holds" : "held";
    case lock_span::kind::retained:
      return span.is_open ? "retains" : "retained";
    case lock_span::kind::wait:
      break;
  }
  return span.is_open ? "waits" : "waited";
}

std::string tokens_text(const std::vector<int64_t>& tokens) {
  constexpr size_t most_shown = 2;
  std::string text;
  for (size_t i = 0; i < std::min(tokens.size(), most_shown); ++i) {
    text += (text.empty() ? "" : ",") + std::to_string(tokens[i]);
  }
  if (tokens.size() > most_shown) text += " +" + std::to_string(tokens.size() - most_shown);
  return text.empty() ? "-" : text;
}

void print(const lock_timeline& seen, const listing& history, const why_request& request) {
  const auto& spans = seen.spans();
  const auto holds =
      static_cast<size_t>(std::count_if(spans.begin(), spans.end(), [](const auto& one) {
        return one.what == lock_span::kind::hold;
      }));
  const auto waits =
      static_cast<size_t>(std::count_if(spans.begin(), spans.end(), [](const auto& one) {
        return one.what == lock_span::kind::wait;
      }));
  std::printf("%s: %s, %s in the last %s; times within %s\n",
              printable_of(request.terms.name).c_str(), count_text(holds, "hold").c_str(),
              count_text(waits, "wait").c_str(),
              text_of_milliseconds(request.terms.window_ms).c_str(),
              duration_text(seen.error_us()).c_str());
  text_table table({"TIME", "WHAT", "FOR", "TOKEN", "BEHIND", "RESULT", "HOST", "PID", "LABEL"});
  const auto most = static_cast<size_t>(request.most_rows);
  for (size_t i = spans.size() - std::min(spans.size(), most); i < spans.size(); ++i) {
    const auto& one = spans[i];
    table.add({clock_text(one.begin_us), what_of(one), duration_text(one.lasted_us()),
               one.token == 0 ? "-" : std::to_string(one.token), tokens_text(one.behind),
               one.result.empty() ? "-" : one.result, printable_of(one.host),
               std::to_string(one.pid), printable_of(one.label)});
  }
  if (!spans.empty()) table.print();
  if (spans.size() > most) {
    std::printf("%s omitted; raise --most.\n",
                count_text(spans.size() - most, "earlier row").c_str());
  }
  for (const auto& [client, time_us] : seen.forgetful()) {
    std::printf("%s has no events before %s.\n", printable_of(client).c_str(),
                clock_text(time_us).c_str());
  }
  std::printf("%s\n", dead_note);
  if (const auto gaps = history.gaps(); !gaps.empty()) complain("why", gaps);
}

nlohmann::json json_of(const lock_span& span) {
  nlohmann::json one = {
      {"what", what_of(span)},     {"is_open", span.is_open}, {"client", span.client},
      {"host", span.host},         {"pid", span.pid},         {"label", span.label},
      {"handle", span.handle},     {"mode", span.mode},       {"token", span.token},
      {"begin_us", span.begin_us}, {"end_us", span.end_us},   {"lasted_us", span.lasted_us()},
      {"result", span.result}};
  if (span.what == lock_span::kind::wait) one["behind"] = span.behind;
  return one;
}

// A name may be any bytes, but JSON texts are UTF-8.
void print_json(const nlohmann::json& text) {
  std::puts(text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

nlohmann::json json_of(const lock_timeline& seen, const listing& history,
                       const why_request& request) {
  auto one = nlohmann::json::parse(history.json());
  one["name"] = request.terms.name;
  one["window_ms"] = request.terms.window_ms;
  one["error_us"] = seen.error_us();
  one["note"] = dead_note;
  one["spans"] = nlohmann::json::array();
  for (const auto& span : seen.spans()) one["spans"].push_back(json_of(span));
  return one;
}

// Each client is a process of the trace, and each handle a thread. Processes of several hosts may
// have the same id, so the clients are numbered.
nlohmann::json trace_of(const lock_timeline& seen, const why_request& request) {
  auto events = nlohmann::json::array();
  std::map<std::string, size_t> numbers;
  for (const auto& span : seen.spans()) {
    const auto [known, is_new] = numbers.try_emplace(span.client, numbers.size() + 1);
    if (is_new) {
      const auto name = span.host + " " + std::to_string(span.pid) + " " + span.label;
      events.push_back({{"ph", "M"},
                        {"name", "process_name"},
                        {"pid", known->second},
                        {"args", {{"name", name}}}});
    }
    events.push_back({{"ph", "X"},
                      {"name", what_of(span)},
                      {"cat", request.terms.name},
                      {"pid", known->second},
                      {"tid", span.handle},
                      {"ts", span.begin_us},
                      {"dur", span.lasted_us()},
                      {"args", json_of(span)}});
  }
  return {{"traceEvents", events},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"name", request.terms.name}, {"note", dead_note}}}};
}

void check(const why_request& request) {
  constexpr int64_t longest_ms = int64_t{24} * 3'600'000;
  if (request.terms.name.empty()) {
    throw failure(exit_usage, "NAME is missing; see mortise why --help");
  }
  if (request.is_json && request.is_trace) {
    throw failure(exit_usage, "--json and --trace exclude each other; give one of them");
  }
  if (request.terms.window_ms < 1 || request.terms.window_ms > longest_ms) {
    throw failure(exit_usage, "--last " + text_of_milliseconds(request.terms.window_ms) +
                                  " is out of range; give 1ms to 1d");
  }
  if (request.most_rows < 1 || request.most_rows > 1'000'000) {
    throw failure(exit_usage, "--most " + std::to_string(request.most_rows) +
                                  " is out of range; give 1 to 1000000");
  }
}

}  // namespace

int show_history(int argc, const char* const* argv) {
  CLI::App app;
  why_request request;
  std::string url;
  std::string last = "10m";
  std::string wait = "1s";
  app.add_option("NAME", request.terms.name);
  app.add_option("--last", last);
  app.add_option("--most", request.most_rows);
  app.add_option("--url", url);
  app.add_flag("--json", request.is_json);
  app.add_flag("--trace", request.is_trace);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "why", why_help, argc, argv)) return exit_ok;
  request.terms.window_ms = milliseconds_of("--last", last);
  request.terms.wait_ms = listing_wait_ms_of(wait);
  check(request);
  const error_handle error(mortise_error_new());
  const auto client = connect_to_look(url, error.get());
  const listing history(client.get(), request.terms, error.get());
  const lock_timeline seen(history);
  if (request.is_json) {
    print_json(json_of(seen, history, request));
  } else if (request.is_trace) {
    print_json(trace_of(seen, request));
  } else {
    print(seen, history, request);
  }
  return exit_code_without(history.missing(), "why");
}

}  // namespace mortise::cli
