// The table of all options of a client and its locks: the values, the member in the settings, and
// the users of each option. The C ABI's setters, URLs and config files all use it. `./dev generate`
// writes the keys in mortise.h and the table of docs/options.md from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

#include "base/status.hpp"

namespace mortise {

// The largest difference in speed of the client's and the server's clocks, in millionths.
constexpr std::int64_t default_drift_ppm = 10'000;

// Options of a client with TLS.
struct tls_settings {
  std::string tls_ca_file;           // empty: the system's, unless a folder is given
  std::string tls_ca_folder;         // empty: the system's, unless a file is given
  std::string tls_certificate_file;  // empty: none
  std::string tls_key_file;
  std::string tls_name;  // empty: the URL's host
  bool tls_verify = false;
  // The last of these options that was set; nullptr for none.
  const char* tls_option = nullptr;
};

// Options of a client whose servers come from Sentinels.
struct sentinel_settings {
  std::string sentinel_password_file;  // empty: none
  std::string sentinel_tls;            // empty: as in the URL's scheme for the servers
  std::string sentinel_tls_name;       // empty: the host of each Sentinel
  // The last of these options that was set; nullptr for none.
  const char* sentinel_option = nullptr;
};

// Options of a client whose servers announce their addresses.
struct topology_settings {
  std::string address_map;  // see address_map; empty: none
};

// The replication that a hold needs before it counts.
struct acknowledgement_settings {
  std::int64_t acks = 0;  // -1: all
  std::string durability;
};

// How long a hold is renewed.
struct renewal_settings {
  bool renewal = false;
  std::int64_t max_hold_ms = 0;  // -1: no limit
  std::int64_t progress_ms = 0;  // after the last report of progress; 0: no report is needed
};

// How an acquire waits.
struct waiting_settings {
  std::int64_t poll_interval_ms = 0;  // for protocols without a queue
  std::int64_t poll_attempts = 0;     // -1: no limit
  bool fails_in_deadlock = false;
};

// Round trips that an unlock and the next acquire save.
struct unlock_settings {
  bool unlocks_by_sending = false;
  std::int64_t retain_ms = 0;  // 0: off
};

// How a process ends without its locks.
struct ending_settings {
  bool release_at_exit = false;
  bool releases_on_death = false;
};

// What a handle shows and reports.
struct report_settings {
  std::string label;
  std::string value;
  bool contended = false;
};

// The position of a server in a list of URLs. No option sets it.
struct list_place {
  bool votes = false;        // the server is one of a quorum
  std::int64_t number = 0;   // from 1
  std::int64_t servers = 0;  // number of servers in the list
};

// How the client and the server of a URL identify themselves.
struct login_settings {
  std::string password_file;  // empty: none
  std::string peer_user;      // of the server of a unix socket; empty: any
};

// The values of all options. A new object has the defaults of the table.
struct settings : login_settings,
                  tls_settings,
                  sentinel_settings,
                  topology_settings,
                  acknowledgement_settings,
                  renewal_settings,
                  waiting_settings,
                  unlock_settings,
                  ending_settings,
                  report_settings {
  settings();
  // The names of the client's own keys and channels begin with it. Empty without a namespace.
  [[nodiscard]] std::string key_prefix() const;

  std::int64_t lease_ms = 0;
  bool reentrant_read = false;
  bool reentrant_write = false;  // also for a mutex
  bool fair_strict = false;
  std::string protocol;
  // The lifetime of a hold in the format of the read-write lock's `hash`; 0: the lease.
  std::int64_t read_lifetime_ms = 0;
  std::int64_t write_lifetime_ms = 0;
  // Only for a client.
  std::int64_t command_timeout_ms = 0;
  bool connects_lazily = false;
  std::string client_name;
  std::int64_t busy_poll_us = 0;  // -1: while it pays off
  std::string health_check;
  std::int64_t drift_ppm = 0;
  std::int64_t quarantine_ms = 0;  // 0: none
  std::string metrics_name;
  std::string key_namespace;  // empty: none
  list_place place;
  // The last client option that was set here; nullptr for none.
  const char* client_option = nullptr;
};

constexpr std::int64_t longest_ms = 31'622'400'000;
constexpr std::int64_t shortest_lease_ms = 50;
constexpr std::size_t longest_label = 64;
constexpr std::size_t longest_value = 1024;
constexpr std::size_t longest_namespace = 64;
constexpr std::size_t longest_path = 4095;
constexpr std::size_t longest_address_map = 65'535;

// The unit of a number, and its text form.
struct unit {
  const char* name;
  const char* form;     // name of the text form
  const char* example;  // valid example; empty: the range
  // As std::from_chars: invalid_argument without a number, result_out_of_range for a number that is
  // too large.
  std::errc (*read)(std::string_view text, std::int64_t& number);
  std::string (*write)(std::int64_t number);
};

// A row of the table.
struct option {
  struct number {
    std::int64_t settings::*member;
    const mortise::unit* unit;
    std::int64_t least;
    std::int64_t most;
    const char* beyond = nullptr;  // a word with the value -1, such as "unlimited"
  };
  // One of two words. As numbers they are 1 and 0.
  struct toggle {
    bool settings::*member;
    const char* on = "on";
    const char* off = "off";
    bool settings::*second = nullptr;  // gets the same value
  };
  struct choice {
    std::string settings::*member;
    std::span<const char* const> words;
  };
  struct text {
    std::string settings::*member;
    std::size_t most_bytes;
    const char* form;
    std::string (*fault)(std::string_view text);  // the error in the text; "" for none
    bool may_be_shown = true;                     // error messages may show a wrong value
  };
  // The users of the option. A client also takes the options of its locks as their defaults, and
  // those of each server. In a list of URLs each URL gives its own server options.
  enum class taker { client, server, every_lock, mutex, rw, mutex_and_rw };

  const char* key;
  taker whose;
  std::variant<number, toggle, choice, text> values;
  const char* preset;  // the default; "" for a number of 0 or no text
  const char* help;    // one sentence without a period
};

// The error in the value of a hold; "" for none.
std::string fault_of_value(std::string_view value);
std::span<const option> known_options() noexcept;
// The option with this key; nullptr for none.
const option* find_option(std::string_view key) noexcept;
// Whether the two settings have the same value of the option.
bool is_same(const option& row, const settings& first, const settings& second);

// Sets one option from text: see mortise_options_set for the keys and forms. On failure the
// settings stay unchanged, and the error lists the valid values.
outcome set_option(settings& values, std::string_view key, std::string_view text);
// The same for a number or a toggle.
outcome set_number(settings& values, std::string_view key, std::int64_t number);

// Rejects settings for a handle that contain options of a client only.
outcome check_fit_for_handle(const settings& values);

}  // namespace mortise
