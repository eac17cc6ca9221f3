#include "base/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/address_map.hpp"
#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"
#include "base/text/utf8.hpp"

namespace mortise {
namespace {

// ---- numbers as text -------------------------------------------------------------------------

// Removes the digits at the front of `text`.
std::errc take_digits(std::string_view& text, std::int64_t& number) {
  if (text.empty() || !is_digit(text.front())) return std::errc::invalid_argument;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return result.ec;
}

std::errc read_count(std::string_view text, std::int64_t& number) {
  const auto error = take_digits(text, number);
  return text.empty() ? error : std::errc::invalid_argument;
}

std::string write_count(std::int64_t number) { return std::to_string(number); }

struct duration_unit {
  std::string_view name;
  std::int64_t length_ms;
};
constexpr std::array<duration_unit, 4> duration_units = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

std::errc read_duration(std::string_view text, std::int64_t& number_ms) {
  std::int64_t count = 0;
  const auto error = take_digits(text, count);
  if (error == std::errc::invalid_argument) return error;
  if (text.empty()) text = "ms";
  for (const auto& unit : duration_units) {
    if (text != unit.name) continue;
    const bool is_too_large = __builtin_mul_overflow(count, unit.length_ms, &number_ms);
    return is_too_large ? std::errc::result_out_of_range : error;
  }
  return std::errc::invalid_argument;
}

std::string write_duration(std::int64_t number_ms) {
  const auto* unit = duration_units.begin();
  while (number_ms % unit->length_ms != 0) ++unit;
  return std::to_string(number_ms / unit->length_ms).append(unit->name);
}

// Percent with up to four decimals, or millionths.
std::errc read_share(std::string_view text, std::int64_t& number_ppm) {
  const auto whole = take_digits(text, number_ppm);
  if (whole == std::errc::invalid_argument || text == "ppm") return whole;
  std::int64_t decimals_ppm = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    std::int64_t unit_ppm = 1'000;
    for (; !text.empty() && text.front() != '%'; text.remove_prefix(1), unit_ppm /= 10) {
      const char digit = text.front();
      if (!is_digit(digit) || unit_ppm == 0) return std::errc::invalid_argument;
      decimals_ppm += (digit - '0') * unit_ppm;
    }
    if (unit_ppm == 1'000) return std::errc::invalid_argument;
  }
  if (text != "%") return std::errc::invalid_argument;
  const bool is_too_large = whole == std::errc::result_out_of_range ||
                            __builtin_mul_overflow(number_ppm, 10'000, &number_ppm) ||
                            __builtin_add_overflow(number_ppm, decimals_ppm, &number_ppm);
  return is_too_large ? std::errc::result_out_of_range : std::errc();
}

std::string write_share(std::int64_t number_ppm) {
  auto text = std::to_string(number_ppm / 10'000);
  if (const auto decimals = number_ppm % 10'000; decimals != 0) {
    text.append(".").append(std::to_string(10'000 + decimals), 1);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "%";
}

constexpr unit milliseconds{"ms", "a duration",
                            "one such as 30s, 1500ms, 2m, 1h, or a whole number of milliseconds",
                            read_duration, write_duration};
constexpr unit microseconds{"us", "a whole number of microseconds", "", read_count, write_count};
constexpr unit replicas{"replicas", "a whole number", "", read_count, write_count};
constexpr unit attempts{"attempts", "a whole number", "", read_count, write_count};
constexpr unit millionths{"ppm", "a share", "one such as 1%, 0.5% or 5000ppm", read_share,
                          write_share};

// ---- texts -----------------------------------------------------------------------------------

// The length of the UTF-8 sequence at the front of `text`. 0 if it is malformed or a control
// character.
std::size_t clean_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto size = utf8_size(text);
  if (size == 1) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  // The C1 controls lie between U+0080 and U+009F.
  return size == 2 && byte(0) == 0xC2 && byte(1) < 0xA0 ? 0 : size;
}

std::string fault_of_label(std::string_view label) {
  for (std::size_t at = 0; at < label.size();) {
    const auto size = clean_character(label.substr(at));
    if (size == 0) {
      return "has a control character or is not UTF-8 at byte " + std::to_string(at + 1);
    }
    at += size;
  }
  return {};
}

// Checks for characters that CLIENT SETNAME rejects.
std::string fault_of_client_name(std::string_view name) {
  for (const char c : name) {
    if (c < '!' || c > '~') return "has a space or a character that is not printable ASCII";
  }
  return {};
}

// Checks a path. The file is read again later, when the working directory may differ. The value may
// be a misplaced password, so no message shows it.
std::string fault_of_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return "has a zero byte";
  return path.starts_with('/') ? "" : "does not begin with '/'";
}

// Whether all are letters, digits, '.', '-', '_' or one more.
bool is_of_words(std::string_view text, char more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || is_digit(c) || c == '.' || c == '-' || c == '_' || c == more;
  });
}

// Checks a server's name or address, as in a certificate.
std::string fault_of_host(std::string_view name) {
  if (is_of_words(name, ':')) return {};
  return "has characters other than letters, digits, '.', '-', '_' and ':'";
}

// Checks for characters with a meaning in patterns, hash tags and the names of keys. An empty value
// comes from an unset variable. It would share the locks of all clients without a namespace.
std::string fault_of_namespace(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "mortise") return "begins the keys of clients without a namespace";
  if (is_of_words(name, '.')) return {};
  return "has characters other than letters, digits, '.', '-' and '_'";
}

// Checks names of locks that become labels.
std::string fault_of_metrics_name(std::string_view list) {
  const auto around = "," + std::string(list) + ",";
  if (around.find(",,") != std::string::npos) return "has an empty name";
  return fault_of_label(list);
}

// ---- the table -------------------------------------------------------------------------------

// protocol/protocols.hpp lists the kinds of lock that each protocol serves.
constexpr std::array protocols = {"queued",           "token",  "hash", "timestamp",
                                  "timestamp_binary", "two_key"};

constexpr std::array health_check_words = {"off", "warn", "strict"};

constexpr std::array durability_words = {"memory", "fsync"};

constexpr std::array on_off_words = {"on", "off"};

using taker = option::taker;

constexpr const char* file_form = "the full path of a file";
constexpr const char* folder_form = "the full path of a folder";

// `./dev generate` writes documentation and constants from this table.
constexpr option option_table[] = {
    {"lease", taker::every_lock,
     option::number{&settings::lease_ms, &milliseconds, shortest_lease_ms, longest_ms}, "15s",
     "How long a hold lasts unless it is renewed"},
    {"renewal", taker::every_lock, option::toggle{&settings::renewal}, "on",
     "Whether holds are renewed automatically, at a third of the lease"},
    {"max_hold", taker::every_lock,
     option::number{&settings::max_hold_ms, &milliseconds, 1, longest_ms, "unlimited"}, "1h",
     "How long a hold is renewed at most"},
    {"progress", taker::every_lock,
     option::number{&settings::progress_ms, &milliseconds, 0, longest_ms}, "",
     "How long a hold is renewed after the last report of progress, always unless set"},
    {"reentrant", taker::mutex_and_rw,
     option::toggle{.member = &settings::reentrant_write, .second = &settings::reentrant_read},
     "off", "Whether a handle may acquire again what it holds"},
    {"reentrant_read", taker::rw, option::toggle{&settings::reentrant_read}, "off",
     "The same for reading only"},
    {"reentrant_write", taker::mutex_and_rw, option::toggle{&settings::reentrant_write}, "off",
     "The same for writing, and for a mutex"},
    {"fair", taker::every_lock, option::toggle{&settings::fair_strict, "strict", "batch"}, "batch",
     "Whether handles of a client pass locks on and share them, or each waits"},
    {"release", taker::every_lock,
     option::toggle{&settings::unlocks_by_sending, "sent", "answered"}, "answered",
     "Whether an unlock ends when it is answered, or when it is sent"},
    {"retain", taker::every_lock,
     option::number{&settings::retain_ms, &milliseconds, 0, longest_ms}, "",
     "How long an unlock keeps the lock for the client's next acquire"},
    {"label", taker::every_lock,
     option::text{&settings::label, longest_label, "printable UTF-8", fault_of_label}, "",
     "A text that queries show for the handle"},
    {"value", taker::every_lock,
     option::text{&settings::value, longest_value, "UTF-8 without zero bytes", fault_of_value}, "",
     "A text that queries show for each hold, until the holder changes it"},
    {"contended", taker::every_lock, option::toggle{&settings::contended}, "off",
     "Whether a watch also reports that others wait for the lock"},
    {"deadlock", taker::every_lock, option::toggle{&settings::fails_in_deadlock, "fail", "wait"},
     "wait", "Whether the youngest wait of a deadlock fails, or all wait"},
    {"protocol", taker::mutex_and_rw, option::choice{&settings::protocol, protocols}, "queued",
     "How locks are stored at the server"},
    {"poll_interval", taker::mutex_and_rw,
     option::number{&settings::poll_interval_ms, &milliseconds, 1, 60'000}, "100ms",
     "The mean pause between two attempts of an acquire that polls"},
    {"poll_attempts", taker::mutex_and_rw,
     option::number{&settings::poll_attempts, &attempts, 1, 1'000'000'000, "unlimited"},
     "unlimited", "How many attempts an acquire that polls makes at most"},
    {"read_lifetime", taker::rw,
     option::number{&settings::read_lifetime_ms, &milliseconds, 1, longest_ms}, "",
     "How long a read counts for other programs in `hash`, as the lease unless set"},
    {"write_lifetime", taker::rw,
     option::number{&settings::write_lifetime_ms, &milliseconds, 1, longest_ms}, "",
     "How long a write counts for other programs in `hash`, as the lease unless set"},
    {"command_timeout", taker::client,
     option::number{&settings::command_timeout_ms, &milliseconds, 10, 60'000}, "3s",
     "The deadline of calls without a timeout"},
    {"client_name", taker::client,
     option::text{&settings::client_name, 64, "letters, digits and punctuation",
                  fault_of_client_name},
     "", "The connection's name in CLIENT LIST, `mortise` unless set"},
    {"password_file", taker::server,
     option::text{&settings::password_file, longest_path, "the full path of a file", fault_of_path,
                  false},
     "", "A file with the password, read again at each connect"},
    {"peer_user", taker::server,
     option::text{&settings::peer_user, longest_label, "the name or the number of a user",
                  fault_of_label},
     "", "The user of the server at `unix://`, not verified unless set"},
    {"busy_poll", taker::client,
     option::number{&settings::busy_poll_us, &microseconds, 0, 1'000, "auto"}, "auto",
     "How long a waiting caller spins"},
    {"release_at_exit", taker::client, option::toggle{&settings::release_at_exit}, "off",
     "Whether exit() releases the client's holds"},
    {"release_on_death", taker::client, option::toggle{&settings::releases_on_death}, "off",
     "Whether a helper releases the holds of a dead program"},
    {"drift", taker::client, option::number{&settings::drift_ppm, &millionths, 1'000, 200'000},
     "1%", "How far this machine's clock and the server's may differ in speed"},
    {"connect", taker::client, option::toggle{&settings::connects_lazily, "lazy", "wait"}, "wait",
     "Whether a client connects in the background"},
    {"tls_ca_file", taker::server,
     option::text{&settings::tls_ca_file, longest_path, file_form, fault_of_path}, "",
     "Certificates and revocation lists of the CAs, instead of the system's"},
    {"tls_ca_folder", taker::server,
     option::text{&settings::tls_ca_folder, longest_path, folder_form, fault_of_path}, "",
     "A folder of such files, as `openssl rehash` makes it"},
    {"tls_certificate_file", taker::server,
     option::text{&settings::tls_certificate_file, longest_path, file_form, fault_of_path}, "",
     "The certificate that the client presents to the server"},
    {"tls_key_file", taker::server,
     option::text{&settings::tls_key_file, longest_path, file_form, fault_of_path}, "",
     "The key of the client's certificate"},
    {"tls_name", taker::server,
     option::text{&settings::tls_name, 253, "a name such as redis.example, or an address",
                  fault_of_host},
     "", "The name or address in the server's certificate, the URL's host unless set"},
    {"tls_verify", taker::server, option::toggle{&settings::tls_verify}, "on",
     "Whether the client verifies the server's certificate"},
    {"sentinel_password_file", taker::server,
     option::text{&settings::sentinel_password_file, longest_path, file_form, fault_of_path, false},
     "", "A file with the Sentinels' password, read again at each connect"},
    {"sentinel_tls", taker::server, option::choice{&settings::sentinel_tls, on_off_words}, "",
     "Whether Sentinels use TLS, as in the URL's scheme unless set"},
    {"sentinel_tls_name", taker::server,
     option::text{&settings::sentinel_tls_name, 253, "a name such as redis.example, or an address",
                  fault_of_host},
     "", "The name in the Sentinels' certificates, each Sentinel's host unless set"},
    {"address_map", taker::server,
     option::text{&settings::address_map, longest_address_map,
                  "announced>reachable addresses such as 10.0.0.5:6379>localhost:7001, separated "
                  "by commas",
                  address_map::fault, false},
     "", "Where the client reaches servers that announce other addresses"},
    {"health_check", taker::client, option::choice{&settings::health_check, health_check_words},
     "off", "Whether the client checks a server at connect"},
    {"quarantine", taker::client,
     option::number{&settings::quarantine_ms, &milliseconds, 0, longest_ms}, "60s",
     "How long a server of `redlock:` runs before it votes"},
    {"acks", taker::server, option::number{&settings::acks, &replicas, 0, 64, "all"}, "0",
     "How many replicas must acknowledge a hold"},
    {"durability", taker::server, option::choice{&settings::durability, durability_words}, "memory",
     "Where the server and these replicas store a hold"},
    {"metrics_name", taker::client,
     option::text{&settings::metrics_name, longest_path,
                  "off, label, name, or names of locks with * for anything, separated by commas",
                  fault_of_metrics_name},
     "off", "The names under which locks are counted, such as \"orders:*,jobs:*\""},
    {"namespace", taker::client,
     option::text{&settings::key_namespace, longest_namespace,
                  "letters, digits, '.', '-' and '_', other than \"mortise\"", fault_of_namespace},
     "", "The first part of the client's keys and channels, before a colon"},
};

// ---- assigning a value -----------------------------------------------------------------------

outcome wrong(std::string_view key, const std::string& problem) {
  return outcome::of(status::invalid_argument, key, ": ", problem);
}

outcome unknown(std::string_view key, std::string_view given, const std::string& known) {
  return wrong(key, printable(given) + " is not known; give " + known);
}

std::string range_of(const option::number& kind) {
  return std::to_string(kind.least) + " to " + std::to_string(kind.most);
}

// The alternative to a number of the range, or a second way to write the number.
std::string besides(const option::number& kind) {
  if (kind.beyond != nullptr) return ", or \"" + std::string(kind.beyond) + "\" (-1)";
  if (kind.unit != &millionths) return {};
  return " (" + write_share(kind.least) + " to " + write_share(kind.most) + ")";
}

// `shown` is the value as given.
outcome out_of_range(const option& row, const option::number& kind, const std::string& shown,
                     bool is_below) {
  return wrong(row.key, shown + " is " + (is_below ? "below the minimum" : "above the maximum") +
                            " of " + std::to_string(is_below ? kind.least : kind.most) + " " +
                            kind.unit->name + "; give " + range_of(kind) + besides(kind));
}

outcome take(settings& values, const option& row, const option::number& kind, std::int64_t given) {
  const bool is_beyond = kind.beyond != nullptr && given == -1;
  if (!is_beyond && (given < kind.least || given > kind.most)) {
    return out_of_range(row, kind, std::to_string(given) + " " + kind.unit->name,
                        given < kind.least);
  }
  values.*kind.member = given;
  return {};
}

outcome take(settings& values, const option& row, const option::toggle& which, std::int64_t given) {
  if (given != 0 && given != 1) {
    return wrong(row.key, std::to_string(given) + " is neither 0 nor 1; give 1 for " + which.on +
                              ", 0 for " + which.off);
  }
  values.*which.member = given == 1;
  if (which.second != nullptr) values.*which.second = given == 1;
  return {};
}

outcome take(settings& values, const option& row, const option::number& kind,
             std::string_view given) {
  // In a text only the word gives -1, so that a miscalculated number never does.
  if (kind.beyond != nullptr && given == kind.beyond) return take(values, row, kind, -1);
  std::int64_t read = 0;
  const auto error = kind.unit->read(given, read);
  if (error == std::errc()) return take(values, row, kind, read);
  if (error == std::errc::result_out_of_range) {
    return out_of_range(row, kind, printable(given), false);
  }
  const std::string example = kind.unit->example;
  return wrong(row.key, printable(given) + " is not " + kind.unit->form + "; give " +
                            (example.empty() ? range_of(kind) : example) + besides(kind));
}

outcome take(settings& values, const option& row, const option::toggle& which,
             std::string_view given) {
  if (given != which.on && given != which.off) {
    return unknown(row.key, given, printable(which.on) + " or " + printable(which.off));
  }
  return take(values, row, which, given == which.on ? 1 : 0);
}

outcome take(settings& values, const option& row, const option::choice& among,
             std::string_view given) {
  std::string known;
  for (const auto* word : among.words) {
    known.append(known.empty() ? "one of " : ", ").append(word);
    if (given != word) continue;
    values.*among.member = given;
    return {};
  }
  return unknown(row.key, given, known);
}

outcome take(settings& values, const option& row, const option::text& kind,
             std::string_view given) {
  if (given.size() > kind.most_bytes) {
    return wrong(row.key, std::to_string(given.size()) + " bytes are above the maximum of " +
                              std::to_string(kind.most_bytes) + "; give a shorter one");
  }
  if (const auto fault = kind.fault(given); !fault.empty()) {
    const auto shown = kind.may_be_shown ? printable(given) : std::string("the value");
    return wrong(row.key, shown + " " + fault + "; give " + kind.form);
  }
  values.*kind.member = given;
  return {};
}

outcome take(settings& values, const option& row, std::string_view given) {
  return std::visit([&](const auto& kind) { return take(values, row, kind, given); }, row.values);
}

// Passes the option of this key to `take_value`.
template <class Take>
outcome set(settings& values, std::string_view key, Take&& take_value) {
  std::string known;
  for (const auto& row : option_table) {
    known.append(known.empty() ? "one of " : ", ").append(row.key);
    if (key != row.key) continue;
    auto result = take_value(row);
    const bool is_client_only = row.whose == taker::client || row.whose == taker::server;
    if (result.ok() && is_client_only) values.client_option = row.key;
    if (result.ok() && key.starts_with("tls_")) values.tls_option = row.key;
    if (result.ok() && key.starts_with("sentinel_")) values.sentinel_option = row.key;
    return result;
  }
  return unknown("option", key, known);
}

}  // namespace

std::string fault_of_value(std::string_view value) {
  for (std::size_t at = 0; at < value.size();) {
    const auto size = utf8_size(value.substr(at));
    if (size == 0 || value[at] == '\0') {
      return "has a zero byte or is not UTF-8 at byte " + std::to_string(at + 1);
    }
    at += size;
  }
  return {};
}

settings::settings() {
  for (const auto& row : option_table) {
    if (*row.preset != '\0') static_cast<void>(take(*this, row, row.preset));
  }
}

std::string settings::key_prefix() const {
  return key_namespace.empty() ? std::string() : key_namespace + ":";
}

std::span<const option> known_options() noexcept { return option_table; }

const option* find_option(std::string_view key) noexcept {
  const auto* const found = std::find_if(std::begin(option_table), std::end(option_table),
                                         [&](const option& row) { return key == row.key; });
  return found == std::end(option_table) ? nullptr : found;
}

bool is_same(const option& row, const settings& first, const settings& second) {
  return std::visit([&](const auto& kind) { return first.*kind.member == second.*kind.member; },
                    row.values);
}

outcome set_option(settings& values, std::string_view key, std::string_view text) {
  return set(values, key, [&](const option& row) { return take(values, row, text); });
}

outcome set_number(settings& values, std::string_view key, std::int64_t number) {
  return set(values, key, [&](const option& row) {
    const auto* which = std::get_if<option::toggle>(&row.values);
    if (which != nullptr) return take(values, row, *which, number);
    return take(values, row, std::get<option::number>(row.values), number);
  });
}

outcome check_fit_for_handle(const settings& values) {
  if (values.client_option == nullptr) return {};
  return wrong(values.client_option,
               "is an option of a client, not of a lock; give it to "
               "mortise_client_new or in the URL");
}

}  // namespace mortise
