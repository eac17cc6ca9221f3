// The history of a lock, for people: clients report the latest events of one lock to each other, in
// the same way as a listing. No event has an owner token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "lock/lock_event.hpp"
#include "protocol/command.hpp"

namespace mortise::protocol {

struct history_terms {
  std::string name;
  std::int64_t window_ms = 0;
};
constexpr std::int64_t longest_history_ms = std::int64_t{24} * 3'600'000;

// An event of one client, on the server's clock.
struct history_event {
  std::string client;
  std::string host;
  std::int64_t pid = 0;
  std::string label;
  std::string event;
  std::string mode;
  std::int64_t handle = 0;
  std::int64_t token = 0;
  std::int64_t permits = 0;
  std::int64_t place = 0;
  std::string why;
  std::int64_t time_us = 0;    // since 1970
  std::int64_t lasted_us = 0;  // the wait or the hold until then
  std::int64_t error_us = 0;   // of the time, in both directions
};
// A field of an event by its name; nullptr or 0 when no such text or number exists.
const std::string* history_text(const history_event& event, std::string_view field) noexcept;
std::int64_t history_number(const history_event& event, std::string_view field) noexcept;
void append_history(std::string& out, const history_event& event);

// "E " and a list of texts as RESP: the round, the client, its host, process and label, the first
// and the next number, the number of fields per event, and the fields. Later versions may add
// fields at the end of an event. The numbers are those of gates, and then those of events from
// `events_from` on. Times are reported as ages, because each host has its own clock. A page that
// was read has times before 0, the time at which it was written.
struct history_page {
  static constexpr std::uint64_t events_from = std::uint64_t{1} << 40U;

  std::uint64_t round = 0;
  std::string client;
  std::string host;
  std::int64_t pid = 0;
  std::string label;
  std::uint64_t from = 0;
  std::uint64_t next = 0;
  std::vector<lock::lock_event> events;
};
std::string write_history(const history_page& page, time_ns now);
// nullopt for another form. Events that no client can have are omitted.
std::optional<history_page> read_history(std::string_view text);

// The server's clock, as read between two times of this host's clock.
struct clock_reading {
  std::int64_t server_us = 0;
  time_ns at = 0;
  std::int64_t error_us = 0;
};
command read_clock(std::int64_t& server_us);
// The events of a page that was requested and received at these times.
std::vector<history_event> events_of(const history_page& page, const clock_reading& clock,
                                     time_ns requested, time_ns received);

// The last event that a client recorded before a page.
struct last_event {
  std::int64_t time_us = 0;
  std::int64_t error_us = 0;
};
// The events of a client are in their order, but the time of each page is only so exact. A page
// that seems to begin before the end of the page before it moves to there. Returns its last event.
last_event keep_order(const last_event& before, std::vector<history_event>& events) noexcept;

}  // namespace mortise::protocol
