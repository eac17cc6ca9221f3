#include "deployment/cluster/routing/topology.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "deployment/cluster/routing/slot.hpp"
#include "redis/resp/server_error.hpp"

namespace mortise::cluster {

namespace {

bool is_port(std::int64_t number) noexcept { return number >= 1 && number <= 65535; }
bool is_slot(std::int64_t number) noexcept { return number >= 0 && number < slot_count; }

// The IP address in a server's metadata: ["ip", "10.0.0.1", "hostname", …].
std::string_view find_ip(const redis::value& metadata) noexcept {
  const auto* ip = redis::find_field(metadata, "ip").found;
  return ip == nullptr ? std::string_view() : ip->text();
}

// [host, port, id, metadata]
bool read_server(const redis::value& entry, const endpoint& server, endpoint& result) {
  if (!is_port(entry.at(1).integer())) return false;
  auto host = entry.at(0).text();
  if (host == "?") host = find_ip(entry.at(3));
  result = {std::string(host.empty() ? std::string_view(server.host) : host),
            static_cast<int>(entry.at(1).integer())};
  return true;
}

bool take_number(std::string_view text, std::int64_t& result) noexcept {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), result);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

// Removes the text up to the mark, and the mark, from `rest`. Returns the text.
std::string_view take_until(char mark, std::string_view& rest) noexcept {
  const auto end = rest.find(mark);
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// The index of the config epoch in a line.
constexpr int epoch_word = 6;

}  // namespace

// "ID 10.0.0.1:6379@16379 master - 0 1764106834000 7 connected 0-5460"
config_epochs read_epochs(std::string_view nodes) {
  config_epochs found;
  while (!nodes.empty()) {
    auto line = take_until('\n', nodes);
    const auto id = take_until(' ', line);
    for (int word = 1; word < epoch_word; ++word) take_until(' ', line);
    std::int64_t epoch = 0;
    if (take_number(take_until(' ', line), epoch) && epoch > 0) found.emplace(id, epoch);
  }
  return found;
}

std::string endpoint::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool read_slots(const redis::value& reply, const endpoint& server, const config_epochs& epochs,
                std::vector<slot_range>& result) {
  if (reply.type() != redis::kind::array) return false;
  std::vector<slot_range> ranges;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const auto& entry = reply.at(i);
    const auto first = entry.at(0).integer();
    const auto last = entry.at(1).integer();
    if (entry.size() < 3 || !is_slot(first) || !is_slot(last) || first > last) return false;
    slot_range range{static_cast<int>(first), static_cast<int>(last), {}, {}, 0};
    if (!read_server(entry.at(2), server, range.master)) return false;
    if (const auto claim = epochs.find(entry.at(2).at(2).text()); claim != epochs.end()) {
      range.epoch = claim->second;
    }
    for (std::size_t replica = 3; replica < entry.size(); ++replica) {
      if (endpoint at; read_server(entry.at(replica), server, at)) {
        range.replicas.push_back(std::move(at));
      }
    }
    ranges.push_back(std::move(range));
  }
  result = std::move(ranges);
  return true;
}

namespace {

std::optional<redirection> read_redirection(std::string_view word, std::string_view error,
                                            const endpoint& server) {
  if (redis::error_code(error) != word) return std::nullopt;
  const auto words = error.substr(std::min(error.find(word) + word.size() + 1, error.size()));
  const auto space = words.find(' ');
  const auto place = space == std::string_view::npos ? std::string_view() : words.substr(space + 1);
  // Host names and IPv6 addresses have no brackets, so the port follows the last ':'.
  const auto colon = place.rfind(':');
  std::int64_t slot = -1;
  std::int64_t port = 0;
  if (colon == std::string_view::npos || !take_number(words.substr(0, space), slot) ||
      !take_number(place.substr(colon + 1), port) || !is_slot(slot) || !is_port(port)) {
    return std::nullopt;
  }
  const auto host = place.substr(0, colon);
  const bool is_unnamed = host.empty() || host == "?";
  return redirection{static_cast<int>(slot),
                     {is_unnamed ? server.host : std::string(host), static_cast<int>(port)}};
}

}  // namespace

std::optional<redirection> read_moved(std::string_view error, const endpoint& server) {
  return read_redirection("MOVED", error, server);
}

std::optional<redirection> read_ask(std::string_view error, const endpoint& server) {
  return read_redirection("ASK", error, server);
}

bool is_migration_error(std::string_view error) noexcept {
  const auto code = redis::error_code(error);
  return code == "ASK" || code == "TRYAGAIN";
}

bool is_cut_short(std::string_view error) noexcept {
  return error.starts_with("ERR Script attempted to access a non local key");
}

}  // namespace mortise::cluster
