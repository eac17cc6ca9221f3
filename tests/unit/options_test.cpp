#include "base/options.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <iomanip>
#include <sstream>
#include <string>

#include "base/text/printable.hpp"
#include "support/pages.hpp"

namespace mortise {
namespace {

std::string message(const outcome& result) {
  EXPECT_EQ(result.code, result.message.empty() ? status::ok : status::invalid_argument);
  EXPECT_EQ(result.message.find('\n'), std::string::npos);
  return result.message;
}

std::string set(settings& into, std::string_view key, std::string_view value) {
  return message(set_option(into, key, value));
}

std::string set_to(settings& into, std::string_view key, std::int64_t number) {
  return message(set_number(into, key, number));
}

TEST(options, defaults_are_the_documented_ones) {
  const settings values;
  EXPECT_EQ(values.lease_ms, 15'000);
  EXPECT_EQ(values.max_hold_ms, 3'600'000);
  EXPECT_TRUE(values.renewal);
  EXPECT_FALSE(values.reentrant_read || values.reentrant_write);
  EXPECT_FALSE(values.fair_strict);
  EXPECT_EQ(values.label, "");
  EXPECT_EQ(values.protocol, "queued");
  EXPECT_EQ(values.command_timeout_ms, 3'000);
  EXPECT_EQ(values.busy_poll_us, -1);
  EXPECT_EQ(values.client_name, "");
}

TEST(options, keys_are_those_of_the_header) {
  auto header = testing::open_page("capi/include/mortise/mortise.h");
  const std::string prefix = "MORTISE_OPTION_";
  std::string keys;
  for (std::string line; std::getline(header, line);) {
    std::istringstream words(line);
    std::string define;
    std::string name;
    std::string key;
    words >> define >> name >> std::quoted(key);
    if (define != "#define" || !name.starts_with(prefix)) continue;
    std::string upper = key;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(name, prefix + upper);
    keys.append(keys.empty() ? "" : ", ").append(key);
  }
  settings values;
  EXPECT_EQ(set(values, "none", ""), "option: \"none\" is not known; give one of " + keys);
}

TEST(options, defaults_and_ranges_are_read_as_they_are_written) {
  for (const auto& row : known_options()) {
    settings values;
    if (*row.preset != '\0') {
      EXPECT_EQ(set(values, row.key, row.preset), "");
    }
    const auto* of = std::get_if<option::number>(&row.values);
    if (of == nullptr) continue;
    for (const auto number : {of->least, of->most}) {
      EXPECT_EQ(set(values, row.key, of->unit->write(number)), "");
      EXPECT_EQ(values.*of->member, number) << row.key;
    }
  }
}

TEST(options, lease_boundaries) {
  settings values;
  EXPECT_EQ(set_to(values, "lease", 50), "");
  EXPECT_EQ(values.lease_ms, 50);
  EXPECT_EQ(set_to(values, "lease", 31'622'400'000), "");
  EXPECT_EQ(values.lease_ms, 31'622'400'000);
  EXPECT_EQ(set_to(values, "lease", 10),
            "lease: 10 ms is below the minimum of 50 ms; give 50 to 31622400000");
  EXPECT_EQ(set_to(values, "lease", 31'622'400'001),
            "lease: 31622400001 ms is above the maximum of 31622400000 ms; give 50 to 31622400000");
  for (const std::int64_t wrong :
       {std::int64_t{49}, std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_NE(set_to(values, "lease", wrong), "") << wrong;
  }
  EXPECT_EQ(values.lease_ms, 31'622'400'000) << "a failure leaves the value alone";
}

TEST(options, progress_boundaries) {
  settings values;
  EXPECT_EQ(values.progress_ms, 0);
  EXPECT_EQ(set(values, "progress", "5m"), "");
  EXPECT_EQ(values.progress_ms, 300'000);
  EXPECT_EQ(set_to(values, "progress", longest_ms), "");
  EXPECT_EQ(set_to(values, "progress", 0), "");
  EXPECT_EQ(values.progress_ms, 0);
  EXPECT_EQ(set_to(values, "progress", -1),
            "progress: -1 ms is below the minimum of 0 ms; give 0 to 31622400000");
  EXPECT_NE(set_to(values, "progress", longest_ms + 1), "");
  EXPECT_NE(set(values, "progress", "unlimited"), "");
}

TEST(options, max_hold_boundaries) {
  settings values;
  EXPECT_EQ(set_to(values, "max_hold", 1), "");
  EXPECT_EQ(values.max_hold_ms, 1);
  EXPECT_EQ(set_to(values, "max_hold", longest_ms), "");
  EXPECT_EQ(set_to(values, "max_hold", -1), "");
  EXPECT_EQ(values.max_hold_ms, -1);
  EXPECT_EQ(set_to(values, "max_hold", 0),
            "max_hold: 0 ms is below the minimum of 1 ms; give 1 to 31622400000, or "
            "\"unlimited\" (-1)");
  EXPECT_NE(set_to(values, "max_hold", -2), "");
  EXPECT_NE(set_to(values, "max_hold", longest_ms + 1), "");
  EXPECT_EQ(values.max_hold_ms, -1);
  EXPECT_EQ(set(values, "max_hold", "2h"), "");
  EXPECT_EQ(values.max_hold_ms, 7'200'000);
  EXPECT_EQ(set(values, "max_hold", "unlimited"), "");
  EXPECT_EQ(values.max_hold_ms, -1);
  EXPECT_NE(set(values, "max_hold", "-1"), "");
  EXPECT_NE(set(values, "max_hold", "0"), "");
}

TEST(options, command_timeout_boundaries) {
  settings values;
  EXPECT_EQ(set_to(values, "command_timeout", 10), "");
  EXPECT_EQ(values.command_timeout_ms, 10);
  EXPECT_EQ(set_to(values, "command_timeout", 60'000), "");
  EXPECT_EQ(values.command_timeout_ms, 60'000);
  EXPECT_EQ(set_to(values, "command_timeout", 9),
            "command_timeout: 9 ms is below the minimum of 10 ms; give 10 to 60000");
  EXPECT_NE(set_to(values, "command_timeout", 60'001), "");
  EXPECT_EQ(set(values, "command_timeout", "1m"), "");
  EXPECT_NE(set(values, "command_timeout", "61s"), "");
  EXPECT_EQ(values.command_timeout_ms, 60'000);
}

TEST(options, busy_poll_boundaries) {
  settings values;
  EXPECT_EQ(set_to(values, "busy_poll", 1000), "");
  EXPECT_EQ(set_to(values, "busy_poll", 0), "");
  EXPECT_EQ(set_to(values, "busy_poll", -1), "");
  EXPECT_EQ(values.busy_poll_us, -1);
  EXPECT_EQ(set_to(values, "busy_poll", -2),
            "busy_poll: -2 us is below the minimum of 0 us; give 0 to 1000, or \"auto\" (-1)");
  EXPECT_NE(set_to(values, "busy_poll", 1001), "");
  EXPECT_EQ(set(values, "busy_poll", "30"), "");
  EXPECT_EQ(values.busy_poll_us, 30);
  for (const char* wrong : {"", "30us", "-1", "+1", " 1", "1.5", "x", "1001", "Auto", "auto ",
                            "99999999999999999999", "99999999999999999999x"}) {
    EXPECT_NE(set(values, "busy_poll", wrong), "") << wrong;
  }
  EXPECT_EQ(values.busy_poll_us, 30);
  EXPECT_EQ(set(values, "busy_poll", "auto"), "");
  EXPECT_EQ(values.busy_poll_us, -1);
}

TEST(options, durations) {
  settings values;
  const auto lease = [&](std::string_view text) {
    EXPECT_EQ(set(values, "lease", text), "") << text;
    return values.lease_ms;
  };
  EXPECT_EQ(lease("30s"), 30'000);
  EXPECT_EQ(lease("1500ms"), 1'500);
  EXPECT_EQ(lease("2m"), 120'000);
  EXPECT_EQ(lease("1h"), 3'600'000);
  EXPECT_EQ(lease("250"), 250);
  EXPECT_EQ(lease("00050"), 50);
  EXPECT_EQ(lease("8784h"), longest_ms);
  for (const char* wrong : {"", "s", "ms", "-5s", "+5s", "5 s", " 5s", "5s ", "5S", "1.5s", "5d",
                            "5us", "5sec", "1h30m", "0x50", "1e3", "99999999999999999999x"}) {
    const auto text = set(values, "lease", wrong);
    EXPECT_EQ(text, "lease: " + printable(wrong) +
                        " is not a duration; give one such as 30s, 1500ms, 2m, 1h, or a whole "
                        "number of milliseconds");
  }
  EXPECT_EQ(set(values, "lease", "10ms"),
            "lease: 10 ms is below the minimum of 50 ms; give 50 to 31622400000");
  for (const char* huge : {"9223372036854775807h", "9223372036854775808", "99999999999999999999s",
                           "2562047788016h", "8785h"}) {
    EXPECT_NE(set(values, "lease", huge).find("is above the maximum of 31622400000 ms"),
              std::string::npos)
        << huge;
  }
  EXPECT_EQ(values.lease_ms, longest_ms);
}

TEST(options, flags) {
  settings values;
  EXPECT_EQ(set_to(values, "renewal", 0), "");
  EXPECT_FALSE(values.renewal);
  EXPECT_EQ(set_to(values, "reentrant", 1), "");
  EXPECT_TRUE(values.reentrant_read && values.reentrant_write);
  EXPECT_EQ(set_to(values, "fair", 1), "");
  EXPECT_TRUE(values.fair_strict);
  EXPECT_EQ(set_to(values, "renewal", 2),
            "renewal: 2 is neither 0 nor 1; give 1 for on, 0 for off");
  EXPECT_NE(set_to(values, "reentrant", -1), "");
  EXPECT_EQ(set_to(values, "fair", 256),
            "fair: 256 is neither 0 nor 1; give 1 for strict, 0 for batch");
  EXPECT_EQ(set(values, "renewal", "on"), "");
  EXPECT_TRUE(values.renewal);
  EXPECT_EQ(set(values, "renewal", "off"), "");
  EXPECT_FALSE(values.renewal);
  EXPECT_EQ(set(values, "reentrant", "off"), "");
  EXPECT_FALSE(values.reentrant_read || values.reentrant_write);
  EXPECT_EQ(set(values, "reentrant", "on"), "");
  EXPECT_TRUE(values.reentrant_read && values.reentrant_write);
  EXPECT_EQ(set(values, "fair", "batch"), "");
  EXPECT_FALSE(values.fair_strict);
  EXPECT_EQ(set(values, "fair", "strict"), "");
  EXPECT_TRUE(values.fair_strict);
  EXPECT_EQ(set(values, "renewal", "yes"), R"(renewal: "yes" is not known; give "on" or "off")");
  EXPECT_EQ(set(values, "fair", "on"), R"(fair: "on" is not known; give "strict" or "batch")");
  for (const char* wrong : {"", "1", "true", "ON", "on "}) {
    EXPECT_NE(set(values, "reentrant", wrong), "") << wrong;
  }
}

TEST(options, label) {
  settings values;
  EXPECT_EQ(set(values, "label", "nightly: step 3"), "");
  EXPECT_EQ(values.label, "nightly: step 3");
  for (const char* fine :
       {"", "~", "\xc2\xa0", "\xc3\xa9", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(set(values, "label", fine), "");
    EXPECT_EQ(values.label, fine);
  }
  const std::string longest(64, 'x');
  EXPECT_EQ(set(values, "label", longest), "");
  EXPECT_EQ(set(values, "label", longest + "x"),
            "label: 65 bytes are above the maximum of 64; give a shorter one");
  EXPECT_EQ(
      set(values, "label", "a\nb"),
      "label: \"a?b\" has a control character or is not UTF-8 at byte 2; give printable UTF-8");
  for (const char* wrong : {"\x1f",
                            "\x7f",
                            "\xc2\x80",
                            "\xc2\x9f",
                            "\x80",
                            "\xbf",
                            "\xc0\x80",
                            "\xc1\xbf",
                            "\xc3",
                            "\xc3(",
                            "\xe0\x80\x80",
                            "\xe0\x9f\xbf",
                            "\xe2\x82",
                            "\xe2(\xac",
                            "\xed\xa0\x80",
                            "\xed\xbf\xbf",
                            "\xf0\x80\x80\x80",
                            "\xf0\x8f\xbf\xbf",
                            "\xf0\x9f\x98",
                            "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80",
                            "\xff",
                            "ok\xfe"}) {
    EXPECT_NE(set(values, "label", wrong), "");
  }
  EXPECT_NE(set(values, "label", std::string_view("a\0b", 3)), "");
  EXPECT_EQ(values.label, longest);
}

TEST(options, value) {
  settings values;
  const std::string longest(1024, 'x');
  for (const std::string& fine : {std::string(), std::string("a\tb\n"), longest}) {
    EXPECT_EQ(set(values, "value", fine), "");
    EXPECT_EQ(values.value, fine);
  }
  EXPECT_EQ(set(values, "value", longest + "x"),
            "value: 1025 bytes are above the maximum of 1024; give a shorter one");
  EXPECT_NE(set(values, "value", "\xff"), "");
  EXPECT_NE(set(values, "value", std::string_view("a\0b", 3)), "");
  EXPECT_EQ(values.value, longest) << "a failure leaves the value alone";
}

TEST(options, deadlock) {
  settings values;
  EXPECT_FALSE(values.fails_in_deadlock);
  EXPECT_EQ(set(values, "deadlock", "fail"), "");
  EXPECT_TRUE(values.fails_in_deadlock);
  EXPECT_NE(set(values, "deadlock", "on"), "");
  EXPECT_TRUE(values.fails_in_deadlock);
  EXPECT_EQ(set(values, "deadlock", "wait"), "");
  EXPECT_FALSE(values.fails_in_deadlock);
}

TEST(options, contended) {
  settings values;
  EXPECT_FALSE(values.contended);
  EXPECT_EQ(set(values, "contended", "on"), "");
  EXPECT_TRUE(values.contended);
  EXPECT_NE(set(values, "contended", "yes"), "");
  EXPECT_TRUE(values.contended);
}

TEST(options, client_name) {
  settings values;
  EXPECT_EQ(set(values, "client_name", "worker-7!~"), "");
  EXPECT_EQ(values.client_name, "worker-7!~");
  EXPECT_EQ(set(values, "client_name", ""), "");
  const std::string longest(64, 'x');
  EXPECT_EQ(set(values, "client_name", longest), "");
  EXPECT_EQ(set(values, "client_name", longest + "x"),
            "client_name: 65 bytes are above the maximum of 64; give a shorter one");
  for (const char* wrong : {" ", "a b", "a\n", "a\x7f", "\xc3\xa9", "\t"}) {
    EXPECT_NE(set(values, "client_name", wrong), "");
  }
  EXPECT_EQ(values.client_name, longest);
}

TEST(options, namespace_is_a_word_that_means_nothing_in_patterns_and_tags) {
  settings values;
  EXPECT_EQ(values.key_prefix(), "");
  const std::string longest(64, 'x');
  EXPECT_EQ(set(values, "namespace", longest), "");
  EXPECT_EQ(set(values, "namespace", longest + "x"),
            "namespace: 65 bytes are above the maximum of 64; give a shorter one");
  const std::string remedy = "; give letters, digits, '.', '-' and '_', other than \"mortise\"";
  for (const char* wrong :
       {"a:b", "a b", "{a}", "a*", "a?", "[a]", "a\\", "\xc3\xa9", "a\n", "~a"}) {
    EXPECT_EQ(set(values, "namespace", wrong),
              "namespace: " + printable(wrong) +
                  " has characters other than letters, digits, '.', '-' and '_'" + remedy);
  }
  EXPECT_EQ(set(values, "namespace", ""), "namespace: \"\" is empty" + remedy);
  EXPECT_EQ(set(values, "namespace", "mortise"),
            "namespace: \"mortise\" begins the keys of clients without a namespace" + remedy);
  EXPECT_EQ(values.key_prefix(), longest + ":");
  EXPECT_EQ(set(values, "namespace", "Team_7.billing-eu"), "");
  EXPECT_EQ(values.key_prefix(), "Team_7.billing-eu:");
}

TEST(options, connect) {
  settings values;
  EXPECT_FALSE(values.connects_lazily);
  EXPECT_EQ(set(values, "connect", "lazy"), "");
  EXPECT_TRUE(values.connects_lazily);
  EXPECT_EQ(set(values, "connect", "never"),
            R"(connect: "never" is not known; give "lazy" or "wait")");
  EXPECT_TRUE(values.connects_lazily);
  EXPECT_EQ(set(values, "connect", "wait"), "");
  EXPECT_FALSE(values.connects_lazily);
}

TEST(options, release_at_exit) {
  settings values;
  EXPECT_FALSE(values.release_at_exit);
  EXPECT_EQ(set(values, "release_at_exit", "on"), "");
  EXPECT_TRUE(values.release_at_exit);
  EXPECT_EQ(set(values, "release_at_exit", "yes"),
            R"(release_at_exit: "yes" is not known; give "on" or "off")");
  EXPECT_TRUE(values.release_at_exit);
  EXPECT_EQ(set(values, "release_at_exit", "off"), "");
  EXPECT_FALSE(values.release_at_exit);
}

TEST(options, protocol) {
  settings values;
  EXPECT_EQ(set(values, "protocol", "queued"), "");
  EXPECT_EQ(values.protocol, "queued");
  EXPECT_EQ(set(values, "protocol", "hash"), "");
  EXPECT_EQ(values.protocol, "hash");
  EXPECT_EQ(set(values, "protocol", "md5"),
            R"(protocol: "md5" is not known; give one of queued, token, hash, timestamp, )"
            "timestamp_binary, two_key");
}

TEST(options, unknown_keys_are_answered_with_the_known_ones) {
  settings values;
  for (const char* key : {"", "Lease", "lease_ms", "lease ", "fair_strict"}) {
    EXPECT_EQ(
        set(values, key, "1s"),
        "option: " + printable(key) +
            " is not known; give one of lease, renewal, max_hold, progress, "
            "reentrant, reentrant_read, reentrant_write, fair, release, retain, label, "
            "value, contended, deadlock, protocol, poll_interval, poll_attempts, read_lifetime, "
            "write_lifetime, "
            "command_timeout, client_name, password_file, peer_user, busy_poll, release_at_exit, "
            "release_on_death, drift, "
            "connect, "
            "tls_ca_file, tls_ca_folder, tls_certificate_file, tls_key_file, tls_name, tls_verify, "
            "sentinel_password_file, sentinel_tls, sentinel_tls_name, address_map, "
            "health_check, quarantine, "
            "acks, "
            "durability, metrics_name, namespace");
  }
}

// A value that is no path may be the password itself.
TEST(options, a_password_file_is_a_whole_path_and_else_not_shown) {
  settings values;
  EXPECT_EQ(set(values, "password_file", "/run/secrets/redis"), "");
  for (const auto wrong : {std::string_view(""), std::string_view("hunter2"),
                           std::string_view("/run/hunter2\0x", 14)}) {
    const auto result = set(values, "password_file", wrong);
    EXPECT_NE(result.find("give the full path of a file"), std::string::npos) << result;
    EXPECT_EQ(result.find("hunter2"), std::string::npos) << result;
  }
  EXPECT_EQ(set(values, "password_file", "/" + std::string(longest_path, 'x')),
            "password_file: 4096 bytes are above the maximum of 4095; give a shorter one");
  EXPECT_EQ(values.password_file, "/run/secrets/redis");
}

TEST(options, drift_is_percent_or_millionths) {
  settings values;
  EXPECT_EQ(values.drift_ppm, 10'000);
  const std::pair<const char*, std::int64_t> good[] = {
      {"1%", 10'000},     {"0.1%", 1'000},       {"0.5%", 5'000},      {"20%", 200'000},
      {"20.0%", 200'000}, {"12.3456%", 123'456}, {"1000ppm", 1'000},   {"200000ppm", 200'000},
      {"00.10%", 1'000},  {"8.3333%", 83'333},   {"83333ppm", 83'333}, {"19.9999%", 199'999}};
  for (const auto& [text, ppm] : good) {
    EXPECT_EQ(set(values, "drift", text), "") << text;
    EXPECT_EQ(values.drift_ppm, ppm) << text;
  }
  for (const char* text : {"",
                           "1",
                           "%",
                           ".5%",
                           "1.%",
                           "1.23456%",
                           "1 %",
                           "-1%",
                           "1%%",
                           "0.1",
                           "ppm",
                           "1.5ppm",
                           "5000 ppm",
                           "1,5%",
                           "0.09%",
                           "20.1%",
                           "20.0001%",
                           "999ppm",
                           "200001ppm",
                           "1.0%x",
                           "99999999999999999999%",
                           "9223372036854775807%",
                           "99999999999999999999ppm"}) {
    EXPECT_NE(set(values, "drift", text), "") << text;
  }
  EXPECT_EQ(values.drift_ppm, 199'999);
  EXPECT_EQ(set_to(values, "drift", 999),
            "drift: 999 ppm is below the minimum of 1000 ppm; give 1000 to 200000 (0.1% to 20%)");
}

TEST(options, those_of_a_client_make_no_handle) {
  const std::pair<const char*, const char*> of_client[] = {
      {"command_timeout", "1s"},  {"client_name", "x"}, {"busy_poll", "1"}, {"drift", "1%"},
      {"release_at_exit", "off"}, {"connect", "wait"},  {"namespace", "a"}};
  for (const auto& [key, text] : of_client) {
    settings values;
    EXPECT_NE(set(values, key, "wrong value"), "") << key;
    EXPECT_EQ(message(check_fit_for_handle(values)), "") << key;
    EXPECT_EQ(set(values, key, text), "") << key;
    EXPECT_EQ(message(check_fit_for_handle(values)),
              std::string(key) +
                  ": is an option of a client, not of a lock; give it to mortise_client_new or in "
                  "the URL");
  }
  settings values;
  const std::pair<const char*, const char*> of_handles[] = {
      {"lease", "1s"},          {"renewal", "off"},       {"max_hold", "1h"},
      {"reentrant", "on"},      {"reentrant_read", "on"}, {"reentrant_write", "on"},
      {"fair", "strict"},       {"label", "x"},           {"protocol", "token"},
      {"poll_interval", "1s"},  {"poll_attempts", "1"},   {"read_lifetime", "1s"},
      {"write_lifetime", "1s"}, {"progress", "5m"}};
  for (const auto& [key, text] : of_handles) {
    EXPECT_EQ(set(values, key, text), "") << key;
    EXPECT_EQ(message(check_fit_for_handle(values)), "") << key;
  }
}

TEST(printable, is_one_short_line) {
  EXPECT_EQ(printable("a b"), "\"a b\"");
  EXPECT_EQ(printable(std::string_view("\0\n\x1b\xc3", 4)), "\"????\"");
  EXPECT_EQ(printable(std::string(64, 'x')), "\"" + std::string(64, 'x') + "\"");
  EXPECT_EQ(printable(std::string(65, 'x')), "\"" + std::string(64, 'x') + "…\"");
}

}  // namespace
}  // namespace mortise
