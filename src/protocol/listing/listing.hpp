// The listing, for people: clients report their locks to each other. A request goes to the inboxes
// of all live clients. Each client replies to the requester's inbox, page by page. No reply has an
// owner token, so no reader can end a hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/client_identity.hpp"
#include "protocol/command.hpp"
#include "protocol/health/missing_servers.hpp"
#include "protocol/listing/history.hpp"

namespace mortise::protocol {

// The state of one lock at one client.
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
  std::string value;  // of the hold
  std::int64_t retained = 0;
  // The retained claims: the attempt number of each owner token, followed by a space.
  std::string retained_claims;
  // The threads that hold or wait by blocking calls. docs/deadlocks.md has the form.
  std::string threads;
  std::string source = "client";  // reported by that client, or by a "key"
};

// A field of an entry by its name; nullptr or 0 when no such text or number exists.
const std::string* listing_text(const listing_entry& entry, std::string_view field) noexcept;
std::int64_t listing_number(const listing_entry& entry, std::string_view field) noexcept;

struct listing {
  std::int64_t answered = 0;
  std::int64_t truncated = 0;       // replied, but not completely
  std::vector<std::string> silent;  // IDs of clients that did not reply
  missing_servers missing;
  std::vector<listing_entry> entries;
  std::vector<history_event> events;  // instead of entries, for the history of a lock
  [[nodiscard]] std::string json() const;
  // The rows are the entries or the events. nullptr or 0 when no such row, text or number exists.
  [[nodiscard]] std::size_t size() const noexcept { return entries.size() + events.size(); }
  [[nodiscard]] const std::string* text(std::size_t row, std::string_view field) const noexcept;
  [[nodiscard]] std::int64_t number(std::size_t row, std::string_view field) const noexcept;
};

// "Q <round> <serial> <from> <asker> <database>": report the gates from this number on to the
// requester. The reply carries the round. The serial is new for each request, so that a client
// which receives it from several servers replies once. Only locks of the database count, or all
// locks with -1. "H <round> <serial> <from> <asker> <database> <window_ms> <name>": report the
// history of this lock from this number on.
struct listing_request {
  std::uint64_t round = 0;
  std::uint64_t serial = 0;
  std::uint64_t from = 0;
  std::string asker;
  std::optional<history_terms> history = std::nullopt;
  std::int64_t database = -1;
};
std::string write_request(const listing_request& request);
std::optional<listing_request> read_request(std::string_view text);

// "A " and a list of texts as RESP: the round, the client, its host and process, the first and the
// next gate number (0: no more), the number of fields per entry, and the fields. Later versions may
// add fields at the end of an entry. Earlier versions may send fewer.
struct listing_page {
  std::uint64_t round = 0;
  std::string client;
  std::uint64_t from = 0;
  std::uint64_t next = 0;
  std::vector<listing_entry> entries;
};
std::string write_page(const listing_page& page);
// nullopt for another form.
std::optional<listing_page> read_page(std::string_view text);
bool is_listing_message(std::string_view text) noexcept;

// The limit of clients to request per server.
constexpr std::size_t most_clients = 10'000;

// An inbox of a client, at one server.
struct client_inbox {
  std::string client;
  std::string channel;
};
// Reads the inboxes of all clients with this prefix that are subscribed at a server, one per
// client. `take` is called for each server, perhaps concurrently.
command find_inboxes(bool is_cluster, std::string_view prefix,
                     std::function<void(std::vector<client_inbox>)> take);
// Sends the text to all of these inboxes that are subscribed at a server.
command say_to_inboxes(bool is_cluster, const std::vector<std::string>& channels,
                       std::string_view text);
// Sends the text to one inbox, at any server where it is subscribed.
command say_to_inbox(const client_identity& client, std::string_view text);

}  // namespace mortise::protocol
