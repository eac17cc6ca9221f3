// Lengths of time as they are written on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::cli {

// "30", "0.5", "200ms", "5s", "2m", "1h" or "1d", where a plain number is of seconds, as with
// flock(1) and sleep(1). Throws a failure that names the option, the value and the remedy. More
// than 366 days, as everywhere in Mortise, and parts of a millisecond are refused.
int64_t milliseconds_of(const char* option, std::string_view text);

// How long `list` and `show` wait for a listing. Throws a failure.
int64_t listing_wait_ms_of(std::string_view text);

// In whole units, of which it has at least two: "250ms", "59s", "3m", "5h". For people.
std::string rough_text_of(int64_t time_ms);

// As people write it: "250ms", "30s", "5m", "2h".
std::string text_of_milliseconds(int64_t time_ms);

}  // namespace mortise::cli
