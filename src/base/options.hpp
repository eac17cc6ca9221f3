// The options of a client and of its locks, as one table: what values each has, where settings keep
// them, and who takes it. The C ABI's setters, URLs and config files all end here; the keys in
// mortise.h and the table of docs/options.md are written from it by `./dev generate`.
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

// How far the speeds of the client's clock and the server's may differ, in millionths.
constexpr std::int64_t default_drift_ppm = 100'000;

// Those of a client with TLS.
struct tls_settings {
  std::string tls_ca_file;           // empty: the system's, unless there is a folder
  std::string tls_ca_folder;         // the same
  std::string tls_certificate_file;  // empty: none
  std::string tls_key_file;
  std::string tls_name;  // empty: the URL's host
  bool tls_verify = false;
  // The last of these that was set; nullptr for none.
  const char* tls_option = nullptr;
};

// Those of a client whose servers are named by Sentinels.
struct sentinel_settings {
  std::string sentinel_password_file;  // empty: none
  std::string sentinel_tls;            // empty: as the URL's scheme says of the servers
  std::string sentinel_tls_name;       // empty: each one's host
  // The last of these that was set; nullptr for none.
  const char* sentinel_option = nullptr;
};

// How much replicas have of a hold before it counts.
struct acknowledgement_settings {
  std::int64_t acks = 0;  // -1: all
  std::string durability;
};

// What an unlock saves of its round trip, and of the next one.
struct unlock_settings {
  bool unlocks_by_sending = false;
  std::int64_t retain_ms = 0;  // 0: not
};

// What no option says: the place of a server in a list of URLs.
struct list_place {
  bool votes = false;        // it is one of a quorum
  std::int64_t number = 0;   // from 1
  std::int64_t servers = 0;  // how many the list has
};

// The values of all options. New ones have the table's defaults.
struct settings : tls_settings, sentinel_settings, acknowledgement_settings, unlock_settings {
  settings();

  std::int64_t lease_ms = 0;
  bool renewal = false;
  std::int64_t max_hold_ms = 0;  // -1: no limit
  bool reentrant_read = false;
  bool reentrant_write = false;  // also of a mutex
  bool fair_strict = false;
  std::string label;
  std::string protocol;
  std::int64_t poll_interval_ms = 0;  // of protocols without a queue
  std::int64_t poll_attempts = 0;     // -1: no limit
  // For how long a hold in the format of the read-write lock's `hash` counts; 0: as the lease.
  std::int64_t read_lifetime_ms = 0;
  std::int64_t write_lifetime_ms = 0;
  // Of a client only.
  std::int64_t command_timeout_ms = 0;
  bool connects_lazily = false;
  std::string client_name;
  std::string password_file;      // empty: none
  std::int64_t busy_poll_us = 0;  // -1: as long as it pays
  bool release_at_exit = false;
  std::string health_check;
  std::int64_t drift_ppm = 0;
  std::int64_t quarantine_ms = 0;  // 0: none
  std::string metrics_name;
  list_place place;
  // The last option of a client that was set here; nullptr for none.
  const char* client_option = nullptr;
};

constexpr std::int64_t longest_ms = 31'622'400'000;
constexpr std::int64_t shortest_lease_ms = 50;
constexpr std::size_t longest_label = 64;
constexpr std::size_t longest_path = 4095;

// What a number counts, and how it is written.
struct unit {
  const char* name;
  const char* form;     // what a text of it is called
  const char* example;  // what to give; the range where it is empty
  // As std::from_chars: invalid_argument for what is none, result_out_of_range for what is too
  // large.
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
    const char* beyond = nullptr;  // a word that is kept as -1, such as "unlimited"
  };
  // One of two words, which are 1 and 0 where they come as a number.
  struct toggle {
    bool settings::*member;
    const char* on = "on";
    const char* off = "off";
    bool settings::*second = nullptr;  // set to the same
  };
  struct choice {
    std::string settings::*member;
    std::span<const char* const> words;
  };
  struct text {
    std::string settings::*member;
    std::size_t most_bytes;
    const char* form;
    std::string (*fault)(std::string_view text);  // what is not of that form in it; "" for nothing
    bool may_be_shown = true;                     // in messages, when it is wrong
  };
  // Who has a use for it. A client takes those of its locks, too, as their defaults, and those of a
  // server for each that it has; in a list of URLs each says those of its own.
  enum class taker { client, server, every_lock, mutex, rw, mutex_and_rw };

  const char* key;
  taker whose;
  std::variant<number, toggle, choice, text> values;
  const char* preset;  // the default; "" for a number of 0 or no text
  const char* help;    // one sentence, without its end
};

std::span<const option> known_options() noexcept;
// The one of this key; nullptr for none.
const option* find_option(std::string_view key) noexcept;
// Whether both have the same value of it.
bool is_same(const option& of, const settings& first, const settings& second);

// Sets one option from text: see mortise_options_set for the keys and forms. What fails leaves the
// settings as they were, and says which values are right.
outcome set_option(settings& values, std::string_view key, std::string_view text);
// The same for a number, or for a toggle.
outcome set_number(settings& values, std::string_view key, std::int64_t number);

// Whether a handle can be made with these: they have nothing in them that only a client can have.
outcome check_fit_for_handle(const settings& values);

}  // namespace mortise
