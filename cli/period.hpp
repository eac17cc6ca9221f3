// Durations on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mortise::cli {

// "30", "0.5", "200ms", "5s", "2m", "1h" or "1d". A plain number means seconds, as in flock(1) and
// sleep(1). Throws a failure that names the option, the value and the remedy. Rejects more than 366
// days and fractions of a millisecond, as the whole of Mortise does.
int64_t milliseconds_of(const char* option, std::string_view text);

// The timeout of a listing in `list` and `show`. Throws a failure.
int64_t listing_wait_ms_of(std::string_view text);

// In whole units, at least two of them: "250ms", "59s", "3m", "5h". For people.
std::string rough_text_of(int64_t time_ms);

// In the form of the command line: "250ms", "30s", "5m", "2h".
std::string text_of_milliseconds(int64_t time_ms);

}  // namespace mortise::cli
