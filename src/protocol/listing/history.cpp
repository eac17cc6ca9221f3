#include "protocol/listing/history.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/options.hpp"
#include "base/status.hpp"
#include "protocol/listing/row.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

namespace {

constexpr row_field<history_event> event_fields[] = {
    {"client", &history_event::client, nullptr},
    {"host", &history_event::host, nullptr},
    {"pid", nullptr, &history_event::pid},
    {"label", &history_event::label, nullptr},
    {"event", &history_event::event, nullptr},
    {"mode", &history_event::mode, nullptr},
    {"handle", nullptr, &history_event::handle},
    {"token", nullptr, &history_event::token},
    {"permits", nullptr, &history_event::permits},
    {"place", nullptr, &history_event::place},
    {"why", &history_event::why, nullptr},
    {"time_us", nullptr, &history_event::time_us},
    {"lasted_us", nullptr, &history_event::lasted_us},
    {"error_us", nullptr, &history_event::error_us},
};

constexpr std::array<const char*, lock::event_kind_count> event_names = {
    "began",    "queued",     "granted",  "passed",   "ended",    "extended",
    "upgraded", "downgraded", "released", "exported", "lost",     "retained",
    "returned", "waits",      "holds",    "retains",  "forgotten"};

// Fields of a page before its events, and of an event.
constexpr std::size_t event_head_size = 8;
constexpr std::size_t event_size = 8;
// A double holds every number below it exactly.
constexpr std::int64_t number_limit = std::int64_t{1} << 53U;
constexpr std::size_t longest_host = 255;

// The numbers of an event as they travel: kind, mode, handle, token, permits, code, age, duration.
using event_numbers = std::array<std::int64_t, event_size>;

event_numbers numbers_of(const lock::lock_event& event, time_ns now) noexcept {
  const auto lasted_ns = event.since == 0 ? 0 : event.at - event.since;
  return {static_cast<std::int64_t>(event.kind),
          static_cast<std::int64_t>(event.mode),
          static_cast<std::int64_t>(event.handle),
          event.token,
          event.permits,
          event.code,
          (now - event.at) / ns_per_us,
          lasted_ns / ns_per_us};
}

// Any publisher may send an event, so nothing of it is trusted (hazard 32).
std::optional<lock::lock_event> event_of(const event_numbers& from) noexcept {
  const auto& [kind, mode, handle, token, permits, code, age_us, lasted_us] = from;
  constexpr auto longest_us = longest_history_ms * 1000 * 365;
  const auto is_in = [](std::int64_t value, std::int64_t limit) {
    return value >= 0 && value < limit;
  };
  const bool is_possible =
      is_in(kind, static_cast<std::int64_t>(lock::event_kind_count)) && is_in(mode, 2) &&
      is_in(handle, number_limit) && is_in(token, number_limit) &&
      is_in(permits, std::int64_t{UINT32_MAX} + 1) && code >= INT32_MIN && code <= INT32_MAX &&
      is_in(age_us, longest_us) && is_in(lasted_us, longest_us);
  if (!is_possible) return std::nullopt;
  const auto at = -age_us * ns_per_us;
  return lock::lock_event{.kind = static_cast<lock::event_kind>(kind),
                          .mode = static_cast<lock::hold_mode>(mode),
                          .code = static_cast<std::int32_t>(code),
                          .permits = permits,
                          .handle = static_cast<std::uint64_t>(handle),
                          .token = token,
                          .at = at,
                          .since = at - lasted_us * ns_per_us};
}

std::string why_of(const lock::lock_event& event) {
  if (event.kind == lock::event_kind::ended) return status_text(static_cast<status>(event.code));
  if (event.kind == lock::event_kind::lost) return reason_text(static_cast<reason>(event.code));
  return {};
}

}  // namespace

const std::string* history_text(const history_event& event, std::string_view name) noexcept {
  return row_text(event, event_fields, name);
}

std::int64_t history_number(const history_event& event, std::string_view name) noexcept {
  return row_number(event, event_fields, name);
}

void append_history(std::string& out, const history_event& event) {
  append_row(out, event, event_fields);
}

std::string write_history(const history_page& page, time_ns now) {
  char host[longest_host + 1] = "";
  gethostname(host, sizeof host - 1);
  std::string out = "E ";
  redis::command_writer writer(out);
  writer.begin(event_head_size + page.events.size() * event_size);
  writer.arg(decimal(page.round)).arg(page.client).arg(host).arg(decimal(getpid()));
  writer.arg(page.label).arg(decimal(page.from)).arg(decimal(page.next)).arg(decimal(event_size));
  for (const auto& one : page.events) {
    for (const auto number : numbers_of(one, now)) writer.arg(decimal(number));
  }
  return out;
}

std::optional<history_page> read_history(std::string_view text) {
  if (!text.starts_with("E ")) return std::nullopt;
  redis::parser parser;
  if (parser.parse(text.substr(2)) != redis::parse_result::complete) return std::nullopt;
  const auto& all = parser.reply();
  const auto stride = read_number<std::size_t>(all.at(7).text());
  if (all.size() < event_head_size || stride < event_size) return std::nullopt;
  history_page page;
  page.round = read_number<std::uint64_t>(all.at(0).text());
  page.client = all.at(1).text();
  page.host = all.at(2).text().substr(0, longest_host);
  page.pid = read_number<std::int64_t>(all.at(3).text());
  page.label = all.at(4).text().substr(0, longest_label);
  page.from = read_number<std::uint64_t>(all.at(5).text());
  page.next = read_number<std::uint64_t>(all.at(6).text());
  for (auto at = event_head_size; all.size() - at >= stride; at += stride) {
    event_numbers numbers{};
    for (std::size_t i = 0; i < event_size; ++i) {
      numbers[i] = read_number<std::int64_t>(all.at(at + i).text());
    }
    if (const auto event = event_of(numbers)) page.events.push_back(*event);
  }
  return page;
}

command read_clock(std::int64_t& server_us) {
  command result;
  result.write = [](std::string& out, bool) { redis::command_writer(out).command({"TIME"}); };
  result.read = [&server_us](const redis::value& reply) {
    const auto seconds = read_number<std::int64_t>(reply.at(0).text());
    const auto us = read_number<std::int64_t>(reply.at(1).text());
    if (seconds > 0 && seconds < number_limit / 1'000'000) server_us = seconds * 1'000'000 + us;
  };
  return result;
}

// The page was written between the two times, so its time is known to half of their distance.
std::vector<history_event> events_of(const history_page& page, const clock_reading& clock,
                                     time_ns requested, time_ns received) {
  const auto half = (received - requested) / 2;
  const auto written = requested + half;
  std::vector<history_event> result;
  result.reserve(page.events.size());
  for (const auto& one : page.events) {
    auto& event = result.emplace_back();
    event.client = page.client;
    event.host = page.host;
    event.pid = page.pid;
    event.label = page.label;
    event.event = event_names[static_cast<std::size_t>(one.kind)];
    event.mode = one.mode == lock::hold_mode::exclusive ? "exclusive" : "shared";
    event.handle = static_cast<std::int64_t>(one.handle);
    event.token = one.token;
    event.permits = one.permits;
    event.place = one.kind == lock::event_kind::queued ? one.code : 0;
    event.why = why_of(one);
    event.time_us = clock.server_us + (written + one.at - clock.at) / ns_per_us;
    event.lasted_us = (one.at - one.since) / ns_per_us;
    event.error_us = clock.error_us + half / ns_per_us + 1;
  }
  return result;
}

// Each time is exact to within its error. A page with a longer overlap is not trustworthy. It keeps
// its times.
last_event keep_order(const last_event& before, std::vector<history_event>& events) noexcept {
  if (events.empty()) return before;
  const auto late_us = before.time_us - events.front().time_us;
  if (late_us > 0 && late_us <= before.error_us + events.front().error_us) {
    for (auto& one : events) {
      one.time_us += late_us;
      one.error_us = std::max(one.error_us, before.error_us);
    }
  }
  return {events.back().time_us, events.back().error_us};
}

}  // namespace mortise::protocol
