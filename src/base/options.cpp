#include "base/options.hpp"

#include <array>
#include <charconv>
#include <system_error>

#include "base/printable.hpp"

namespace mortise {
namespace {

// One number's place, range and words for messages.
struct range {
  const char* name;
  std::int64_t settings::*member;
  std::int64_t least;
  std::int64_t most;
  const char* unit;
  const char* special;  // what its setter takes besides the range
  bool is_of_client = false;
};

constexpr range lease_range{"lease", &settings::lease_ms, shortest_lease_ms, longest_ms, "ms", ""};
constexpr range max_hold_range{"max_hold", &settings::max_hold_ms,   1, longest_ms,
                               "ms",       ", or \"unlimited\" (-1)"};
constexpr range command_timeout_range{
    "command_timeout", &settings::command_timeout_ms, 10, 60'000, "ms", "", true};
constexpr range busy_poll_range{"busy_poll", &settings::busy_poll_us, 0, 1'000, "us", "", true};
constexpr range drift_range{"drift", &settings::drift_ppm, 1'000, 200'000,
                            "ppm",   " (0.1% to 20%)",     true};

constexpr range poll_interval_range{
    "poll_interval", &settings::poll_interval_ms, 1, 60'000, "ms", ""};
constexpr range poll_attempts_range{"poll_attempts", &settings::poll_attempts, 1, 1'000'000'000,
                                    "attempts",      ", or \"unlimited\" (-1)"};
constexpr range read_lifetime_range{
    "read_lifetime", &settings::read_lifetime_ms, 1, longest_ms, "ms", ""};
constexpr range write_lifetime_range{
    "write_lifetime", &settings::write_lifetime_ms, 1, longest_ms, "ms", ""};

// Which kinds of lock each serves is the protocols' own matter; see lock/protocols.hpp.
constexpr std::array known_protocols = {"queued",           "token",  "hash", "timestamp",
                                        "timestamp_binary", "two_key"};

constexpr std::size_t longest_client_name = 64;

outcome wrong(std::string_view name, std::string_view problem) {
  return outcome::of(status::invalid_argument, std::string(name).append(": ").append(problem));
}

// `shown` is the value as it was given.
outcome out_of_range(const range& of, std::string shown, bool is_below) {
  shown += is_below ? " is below the minimum of " : " is above the maximum of ";
  shown += std::to_string(is_below ? of.least : of.most) + " " + of.unit + "; give " +
           std::to_string(of.least) + " to " + std::to_string(of.most) + of.special;
  return wrong(of.name, shown);
}

outcome too_long(const char* name, std::size_t size, std::size_t most) {
  return wrong(name, std::to_string(size) + " bytes are above the maximum of " +
                         std::to_string(most) + "; give a shorter one");
}

outcome set_number(settings& values, const range& of, std::int64_t number) {
  if (number < of.least || number > of.most) {
    return out_of_range(of, std::to_string(number) + " " + of.unit, number < of.least);
  }
  values.*of.member = number;
  if (of.is_of_client) values.client_option = of.name;
  return {};
}

outcome set_switch(bool& into, const char* name, std::int64_t is_on) {
  if (is_on != 0 && is_on != 1) {
    return wrong(name, std::to_string(is_on) + " is neither 0 nor 1; give 1 for on, 0 for off");
  }
  into = is_on == 1;
  return {};
}

// ---- text ------------------------------------------------------------------------------------

enum class reading { good, malformed, too_large };

// Digits at the front of `text`, which is left with what follows them.
reading take_digits(std::string_view& text, std::int64_t& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return reading::malformed;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return result.ec == std::errc() ? reading::good : reading::too_large;
}

reading read_duration(std::string_view text, std::int64_t& number_ms) {
  std::int64_t count = 0;
  const auto digits = take_digits(text, count);
  if (digits == reading::malformed) return digits;
  std::int64_t unit_ms = 0;
  if (text.empty() || text == "ms") unit_ms = 1;
  if (text == "s") unit_ms = 1'000;
  if (text == "m") unit_ms = 60'000;
  if (text == "h") unit_ms = 3'600'000;
  if (unit_ms == 0) return reading::malformed;
  if (digits == reading::too_large) return digits;
  return __builtin_mul_overflow(count, unit_ms, &number_ms) ? reading::too_large : reading::good;
}

reading read_count(std::string_view text, std::int64_t& number) {
  const auto digits = take_digits(text, number);
  return text.empty() ? digits : reading::malformed;
}

// `number` is what was read of `text`; `form` says what a well-formed text is.
outcome set_text(settings& values, const range& of, std::string_view text, reading how,
                 std::int64_t number, const std::string& form) {
  if (how == reading::good) return set_number(values, of, number);
  if (how == reading::too_large) return out_of_range(of, printable(text), false);
  return wrong(of.name, printable(text) + " is not " + form + of.special);
}

outcome set_duration(settings& values, const range& of, std::string_view text) {
  std::int64_t number_ms = 0;
  const auto how = read_duration(text, number_ms);
  return set_text(
      values, of, text, how, number_ms,
      "a duration; give one such as 30s, 1500ms, 2m, 1h, or a whole number of milliseconds");
}

// Percent with up to four decimals, or millionths.
reading read_drift(std::string_view text, std::int64_t& number_ppm) {
  const auto whole = take_digits(text, number_ppm);
  if (whole == reading::malformed || text == "ppm") return whole;
  std::int64_t decimals_ppm = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    std::int64_t unit_ppm = 1'000;
    for (; !text.empty() && text.front() != '%'; text.remove_prefix(1), unit_ppm /= 10) {
      const char digit = text.front();
      if (digit < '0' || digit > '9' || unit_ppm == 0) return reading::malformed;
      decimals_ppm += (digit - '0') * unit_ppm;
    }
    if (unit_ppm == 1'000) return reading::malformed;
  }
  if (text != "%") return reading::malformed;
  const bool is_too_large = whole == reading::too_large ||
                            __builtin_mul_overflow(number_ppm, 10'000, &number_ppm) ||
                            __builtin_add_overflow(number_ppm, decimals_ppm, &number_ppm);
  return is_too_large ? reading::too_large : reading::good;
}

outcome set_word(bool& into, const char* name, std::string_view text, std::string_view on,
                 std::string_view off) {
  if (text != on && text != off) {
    return wrong(
        name, printable(text) + " is not known; give " + printable(on) + " or " + printable(off));
  }
  into = text == on;
  return {};
}

// The length of the UTF-8 sequence at the front of `text` when it is well-formed and no control
// character, else 0. Surrogates, overlong forms and what lies above U+10FFFF are not well-formed.
std::size_t clean_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  const std::size_t size = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (size == 0 || byte(0) > 0xF4 || text.size() < size) return 0;
  std::uint32_t point = byte(0) & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  // Two bytes begin at U+00A0, not U+0080: the C1 controls lie between.
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0xA0, 0x800, 0x10000};
  if (point < least.at(size) || point > 0x10FFFF) return 0;
  return point >= 0xD800 && point <= 0xDFFF ? 0 : size;
}

// ---- keys ------------------------------------------------------------------------------------

struct option {
  std::string_view key;
  outcome (*set)(settings& values, std::string_view text);
};

outcome set_lease_text(settings& values, std::string_view text) {
  return set_duration(values, lease_range, text);
}

outcome set_max_hold_text(settings& values, std::string_view text) {
  // Only the word means no limit, so that a miscalculated number never does.
  if (text == "unlimited") return set_max_hold_ms(values, -1);
  return set_duration(values, max_hold_range, text);
}

outcome set_command_timeout_text(settings& values, std::string_view text) {
  return set_duration(values, command_timeout_range, text);
}

outcome set_renewal_text(settings& values, std::string_view text) {
  return set_word(values.renewal, "renewal", text, "on", "off");
}

outcome set_reentrant_text(settings& values, std::string_view text) {
  auto how = set_word(values.reentrant_read, "reentrant", text, "on", "off");
  if (how.ok()) values.reentrant_write = values.reentrant_read;
  return how;
}

outcome set_reentrant_read_text(settings& values, std::string_view text) {
  return set_word(values.reentrant_read, "reentrant_read", text, "on", "off");
}

outcome set_reentrant_write_text(settings& values, std::string_view text) {
  return set_word(values.reentrant_write, "reentrant_write", text, "on", "off");
}

outcome set_fair_text(settings& values, std::string_view text) {
  return set_word(values.fair_strict, "fair", text, "strict", "batch");
}

outcome set_busy_poll_text(settings& values, std::string_view text) {
  std::int64_t number = 0;
  const auto how = read_count(text, number);
  return set_text(
      values, busy_poll_range, text, how, number,
      "a whole number of microseconds; give 0 to " + std::to_string(busy_poll_range.most));
}

outcome set_drift_text(settings& values, std::string_view text) {
  std::int64_t number_ppm = 0;
  const auto how = read_drift(text, number_ppm);
  return set_text(values, drift_range, text, how, number_ppm,
                  "a share; give one such as 1%, 0.5% or 5000ppm");
}

outcome set_poll_interval_text(settings& values, std::string_view text) {
  return set_duration(values, poll_interval_range, text);
}

outcome set_poll_attempts_text(settings& values, std::string_view text) {
  if (text == "unlimited") return set_poll_attempts(values, -1);
  std::int64_t number = 0;
  const auto how = read_count(text, number);
  return set_text(values, poll_attempts_range, text, how, number,
                  "a whole number; give 1 to " + std::to_string(poll_attempts_range.most));
}

outcome set_read_lifetime_text(settings& values, std::string_view text) {
  return set_duration(values, read_lifetime_range, text);
}

outcome set_write_lifetime_text(settings& values, std::string_view text) {
  return set_duration(values, write_lifetime_range, text);
}

outcome set_release_at_exit_text(settings& values, std::string_view text) {
  auto how = set_word(values.release_at_exit, "release_at_exit", text, "on", "off");
  if (how.ok()) values.client_option = "release_at_exit";
  return how;
}

outcome set_connect_text(settings& values, std::string_view text) {
  auto how = set_word(values.connects_lazily, "connect", text, "lazy", "wait");
  if (how.ok()) values.client_option = "connect";
  return how;
}

constexpr std::array<option, 19> known_options = {{
    {"lease", set_lease_text},
    {"renewal", set_renewal_text},
    {"max_hold", set_max_hold_text},
    {"reentrant", set_reentrant_text},
    {"reentrant_read", set_reentrant_read_text},
    {"reentrant_write", set_reentrant_write_text},
    {"fair", set_fair_text},
    {"label", set_label},
    {"protocol", set_protocol},
    {"poll_interval", set_poll_interval_text},
    {"poll_attempts", set_poll_attempts_text},
    {"read_lifetime", set_read_lifetime_text},
    {"write_lifetime", set_write_lifetime_text},
    {"command_timeout", set_command_timeout_text},
    {"client_name", set_client_name},
    {"busy_poll", set_busy_poll_text},
    {"release_at_exit", set_release_at_exit_text},
    {"drift", set_drift_text},
    {"connect", set_connect_text},
}};

}  // namespace

outcome set_lease_ms(settings& values, std::int64_t lease_ms) {
  return set_number(values, lease_range, lease_ms);
}

outcome set_max_hold_ms(settings& values, std::int64_t max_hold_ms) {
  if (max_hold_ms != -1) return set_number(values, max_hold_range, max_hold_ms);
  values.max_hold_ms = -1;
  return {};
}

outcome set_command_timeout_ms(settings& values, std::int64_t command_timeout_ms) {
  return set_number(values, command_timeout_range, command_timeout_ms);
}

outcome set_busy_poll_us(settings& values, std::int64_t busy_poll_us) {
  return set_number(values, busy_poll_range, busy_poll_us);
}

outcome set_drift_ppm(settings& values, std::int64_t drift_ppm) {
  return set_number(values, drift_range, drift_ppm);
}

outcome set_renewal(settings& values, std::int64_t is_on) {
  return set_switch(values.renewal, "renewal", is_on);
}

outcome set_reentrant(settings& values, std::int64_t is_on) {
  auto how = set_switch(values.reentrant_read, "reentrant", is_on);
  if (how.ok()) values.reentrant_write = values.reentrant_read;
  return how;
}

outcome set_reentrant_read(settings& values, std::int64_t is_on) {
  return set_switch(values.reentrant_read, "reentrant_read", is_on);
}

outcome set_reentrant_write(settings& values, std::int64_t is_on) {
  return set_switch(values.reentrant_write, "reentrant_write", is_on);
}

outcome set_poll_interval_ms(settings& values, std::int64_t interval_ms) {
  return set_number(values, poll_interval_range, interval_ms);
}

outcome set_poll_attempts(settings& values, std::int64_t attempts) {
  if (attempts != -1) return set_number(values, poll_attempts_range, attempts);
  values.poll_attempts = -1;
  return {};
}

outcome set_fair_strict(settings& values, std::int64_t is_on) {
  return set_switch(values.fair_strict, "fair_strict", is_on);
}

outcome set_label(settings& values, std::string_view label) {
  if (label.size() > longest_label) return too_long("label", label.size(), longest_label);
  for (std::size_t at = 0; at < label.size();) {
    const auto size = clean_character(label.substr(at));
    if (size == 0) {
      return wrong("label", printable(label) + " has a control character or is not UTF-8 at byte " +
                                std::to_string(at + 1) + "; give printable UTF-8");
    }
    at += size;
  }
  values.label = label;
  return {};
}

outcome set_client_name(settings& values, std::string_view name) {
  if (name.size() > longest_client_name) {
    return too_long("client_name", name.size(), longest_client_name);
  }
  for (const char c : name) {  // what CLIENT SETNAME takes
    if (c >= '!' && c <= '~') continue;
    return wrong("client_name", printable(name) +
                                    " has a space or a character that is not printable ASCII; give "
                                    "letters, digits and punctuation");
  }
  values.client_name = name;
  values.client_option = "client_name";
  return {};
}

outcome set_protocol(settings& values, std::string_view protocol) {
  std::string known;
  for (const auto* name : known_protocols) {
    known.append(known.empty() ? "" : ", ").append(name);
    if (protocol != name) continue;
    values.protocol = protocol;
    return {};
  }
  return wrong("protocol", printable(protocol) + " is not known; give one of " + known);
}

outcome set_option(settings& values, std::string_view key, std::string_view text) {
  std::string known;
  for (const auto& item : known_options) {
    if (item.key == key) return item.set(values, text);
    known.append(known.empty() ? "" : ", ").append(item.key);
  }
  return wrong("option", printable(key) + " is not known; give one of " + known);
}

outcome check_fit_for_handle(const settings& values) {
  if (values.client_option == nullptr) return {};
  return wrong(values.client_option,
               "is an option of a client, which has no effect on one lock; give it to "
               "mortise_client_new or in the URL");
}

}  // namespace mortise
