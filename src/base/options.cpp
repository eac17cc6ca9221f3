#include "base/options.hpp"

#include <array>
#include <charconv>

namespace mortise {

namespace {

outcome wrong(std::string_view name, std::string_view value, std::string_view mend) {
  std::string message(name);
  message.append(": ").append(value).append("; give ").append(mend);
  return outcome::of(status::invalid_argument, std::move(message));
}

// A value from outside as it may stand in a message: short and printable.
std::string shown(std::string_view text) {
  std::string result = "'";
  for (const char letter : text.substr(0, 40)) {
    result.push_back(letter >= ' ' && letter <= '~' ? letter : '?');
  }
  return result.append(text.size() > 40 ? "…'" : "'");
}

outcome set_range(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most,
                  std::string_view unit, std::int64_t& into) {
  if (value >= least && value <= most) {
    into = value;
    return {};
  }
  return wrong(name, std::to_string(value).append(" ").append(unit).append(" is out of range"),
               std::to_string(least).append(" to ").append(std::to_string(most)));
}

bool read_number(std::string_view text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

// "30s", "1500ms", "2m", "1h", or a plain number of milliseconds.
bool read_duration_ms(std::string_view text, std::int64_t& ms) {
  struct unit {
    std::string_view name;
    std::int64_t ms;
  };
  static constexpr std::array<unit, 4> units{{{"ms", 1}, {"s", 1'000}, {"m", 60'000},
                                              {"h", 3'600'000}}};
  std::int64_t factor = 1;
  for (const auto& [name, unit_ms] : units) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    factor = unit_ms;
    break;
  }
  std::int64_t number = 0;
  if (text.empty() || text.front() == '+' || !read_number(text, number)) return false;
  return !__builtin_mul_overflow(number, factor, &ms);
}

bool is_utf8_without_controls(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x20 || lead == 0x7f) return false;
    const int more = lead < 0x80 ? 0 : lead >> 5U == 6 ? 1 : lead >> 4U == 14 ? 2
                     : lead >> 3U == 30 ? 3 : -1;
    if (more < 0 || i + static_cast<std::size_t>(more) >= text.size()) return false;
    std::uint32_t point = more == 0 ? lead : lead & (0x3fU >> static_cast<unsigned>(more));
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if (next >> 6U != 2) return false;
      point = point << 6U | (next & 0x3fU);
    }
    // Overlong forms, surrogates, and what is beyond Unicode; C1 controls are controls too.
    static constexpr std::array<std::uint32_t, 4> least{0, 0x80, 0x800, 0x10000};
    if (point < least[static_cast<std::size_t>(more)] || point > 0x10ffff) return false;
    if ((point >= 0xd800 && point <= 0xdfff) || (point >= 0x80 && point < 0xa0)) return false;
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

outcome set_switch(std::string_view name, std::string_view text, std::string_view on,
                   std::string_view off, bool& into) {
  if (text != on && text != off) {
    return wrong(name, shown(text).append(" is not known"),
                 std::string(on).append(" or ").append(off));
  }
  into = text == on;
  return {};
}

template <class Set>
outcome set_duration(std::string_view name, std::string_view text, Set&& set) {
  std::int64_t ms = 0;
  if (!read_duration_ms(text, ms)) {
    return wrong(name, shown(text).append(" is not a duration"),
                 "a number with ms, s, m or h, such as 30s, or a plain number of milliseconds");
  }
  return set(ms);
}

}  // namespace

outcome set_lease_ms(settings& values, std::int64_t lease_ms) {
  return set_range("lease", lease_ms, shortest_lease_ms, longest_ms, "ms", values.lease_ms);
}

outcome set_max_hold_ms(settings& values, std::int64_t max_hold_ms) {
  if (max_hold_ms == -1) {
    values.max_hold_ms = -1;
    return {};
  }
  auto how = set_range("max_hold", max_hold_ms, 1, longest_ms, "ms", values.max_hold_ms);
  if (!how.ok()) how.message.append(" ms, or -1 (\"unlimited\") for no limit");
  return how;
}

outcome set_command_timeout_ms(settings& values, std::int64_t command_timeout_ms) {
  return set_range("command_timeout", command_timeout_ms, 10, 60'000, "ms",
                   values.command_timeout_ms);
}

outcome set_busy_poll_us(settings& values, std::int64_t busy_poll_us) {
  return set_range("busy_poll", busy_poll_us, 0, 1'000, "us", values.busy_poll_us);
}

outcome set_label(settings& values, std::string_view label) {
  if (label.size() > longest_label) {
    return wrong("label", std::to_string(label.size()).append(" bytes are too long"),
                 "at most 64");
  }
  if (!is_utf8_without_controls(label)) {
    return wrong("label", shown(label).append(" is not a text"),
                 "UTF-8 without control characters");
  }
  values.label = label;
  return {};
}

outcome set_client_name(settings& values, std::string_view name) {
  bool is_plain = name.size() <= 64;
  for (const char letter : name) is_plain = is_plain && letter > ' ' && letter <= '~';
  if (!is_plain) {
    return wrong("client_name", shown(name).append(" cannot be a client's name"),
                 "at most 64 printable ASCII characters without spaces");
  }
  values.client_name = name;
  return {};
}

outcome set_protocol(settings& values, std::string_view protocol) {
  if (protocol != "queued") {
    return wrong("protocol", shown(protocol).append(" is not known"), "queued");
  }
  values.protocol = protocol;
  return {};
}

outcome set_option(settings& values, std::string_view key, std::string_view text) {
  if (key == "lease") {
    return set_duration(key, text, [&](std::int64_t ms) { return set_lease_ms(values, ms); });
  }
  if (key == "max_hold") {
    if (text == "unlimited") return set_max_hold_ms(values, -1);
    return set_duration(key, text, [&](std::int64_t ms) {
      // Only the word means no limit, so that a miscalculated number never does.
      return set_max_hold_ms(values, ms == -1 ? 0 : ms);
    });
  }
  if (key == "command_timeout") {
    return set_duration(key, text,
                        [&](std::int64_t ms) { return set_command_timeout_ms(values, ms); });
  }
  if (key == "renewal") return set_switch(key, text, "on", "off", values.renewal);
  if (key == "reentrant") return set_switch(key, text, "on", "off", values.reentrant);
  if (key == "fair") return set_switch(key, text, "strict", "batch", values.fair_strict);
  if (key == "label") return set_label(values, text);
  if (key == "client_name") return set_client_name(values, text);
  if (key == "protocol") return set_protocol(values, text);
  if (key == "busy_poll") {
    std::int64_t us = 0;
    if (!read_number(text, us)) {
      return wrong(key, shown(text).append(" is not a number"), "0 to 1000 microseconds");
    }
    return set_busy_poll_us(values, us);
  }
  return wrong("option", shown(key).append(" is not known"),
               "lease, renewal, max_hold, reentrant, fair, label, protocol, command_timeout, "
               "client_name or busy_poll");
}

}  // namespace mortise
