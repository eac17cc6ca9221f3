// What clients tell each other of their locks, for people: a question goes to the inboxes of all
// that live, and each answers to the asker's inbox, page by page. No owner token is in it: nobody
// can end a hold by what he hears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command.hpp"
#include "protocol/missing_servers.hpp"

namespace mortise::protocol {

// What one client has to do with one lock.
struct listing_entry {
  std::string client;
  std::string host;
  std::int64_t pid = 0;
  std::string label;
  std::string name;
  std::string kind;
  std::string mode;
  std::int64_t holds = 0;
  std::int64_t token = 0;
  std::int64_t held_ms = 0;
  std::int64_t time_left_ms = 0;
  std::int64_t permits = 0;
  std::int64_t waiters = 0;
  std::int64_t waited_ms = 0;
  std::int64_t grants = 0;
  std::int64_t contended = 0;
  std::int64_t waited_total_ms = 0;
  std::string waits;
  std::int64_t retained = 0;
  // Which those are: the attempts that their owner tokens are of, each with a space behind it.
  std::string retained_claims;
  std::string source = "client";  // who tells of it: that client, or a key
};

// A field of one, by its name; nullptr and 0 where there is no such text or number.
const std::string* listing_text(const listing_entry& of, std::string_view field) noexcept;
std::int64_t listing_number(const listing_entry& of, std::string_view field) noexcept;

struct listing {
  std::int64_t answered = 0;
  std::int64_t truncated = 0;       // have answered, but not to the end
  std::vector<std::string> silent;  // ids of clients that have not
  missing_servers missing;
  std::vector<listing_entry> entries;
  [[nodiscard]] std::string json() const;
};

// "Q <round> <serial> <from> <asker>": tell the asker of your gates from this number on. The round
// is what the answer goes to; the serial is another one each time it is asked, so that who hears
// it of several servers answers once.
struct listing_request {
  std::uint64_t round = 0;
  std::uint64_t serial = 0;
  std::uint64_t from = 0;
  std::string asker;
};
std::string write_request(const listing_request& asked);
std::optional<listing_request> read_request(std::string_view text);

// "A " and a list of texts as RESP: the round, the client, its host and process, from and up to
// which of its gates it tells (0: there are no more), how many fields an entry has, and the fields.
// A later version may add some at the end of an entry, and an earlier one may tell less.
struct listing_page {
  std::uint64_t round = 0;
  std::string client;
  std::uint64_t from = 0;
  std::uint64_t next = 0;
  std::vector<listing_entry> entries;
};
std::string write_page(const listing_page& told);
// Nothing for a text of another form.
std::optional<listing_page> read_page(std::string_view text);
bool is_listing_message(std::string_view text) noexcept;

// At most so many clients are asked by way of one server.
constexpr std::size_t most_clients = 10'000;

// An inbox of a client, at one server.
struct client_inbox {
  std::string client;
  std::string channel;
};
// Reads the inboxes of all clients that a server hears, one of each. `take` is called for each
// server, perhaps at once.
command find_inboxes(bool is_cluster, std::function<void(std::vector<client_inbox>)> take);
// Says the same to all of these inboxes that a server hears.
command say_to_inboxes(bool is_cluster, const std::vector<std::string>& channels,
                       std::string_view text);
// Says it to one, wherever that is listened to.
command say_to_inbox(std::string_view client_id, std::string_view text);

}  // namespace mortise::protocol
