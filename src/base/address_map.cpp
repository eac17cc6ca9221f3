#include "base/address_map.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"

namespace mortise {

namespace {

constexpr std::size_t longest_host = 253;  // of a DNS name
constexpr int most_port = 65535;

// Servers may announce an address in another notation than the map.
std::string one_form(std::string_view host) {
  std::string text(host);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  in6_addr six{};
  std::array<char, INET6_ADDRSTRLEN> shortest{};
  if (::inet_pton(AF_INET6, text.c_str(), &six) != 1) return text;
  return ::inet_ntop(AF_INET6, &six, shortest.data(), shortest.size());
}

bool is_host(std::string_view text, bool is_in_brackets) {
  in6_addr ignored{};
  if (is_in_brackets) return ::inet_pton(AF_INET6, std::string(text).c_str(), &ignored) == 1;
  return !text.empty() && text.size() <= longest_host &&
         std::all_of(text.begin(), text.end(), [](char c) {
           const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           return is_letter || is_digit(c) || c == '.' || c == '-' || c == '_';
         });
}

// "host:port" or "[IPv6]:port". Returns the error, "" for none.
std::string read_place(std::string_view text, address_map::place& target) {
  const auto shown = ": " + printable(text);
  const auto colon = text.rfind(':');
  const bool has_brackets = text.starts_with('[');
  if (colon == std::string_view::npos || (has_brackets && !text.substr(0, colon).ends_with(']'))) {
    return "has an address without a port" + shown;
  }
  const auto host = has_brackets ? text.substr(1, colon - 2) : text.substr(0, colon);
  if (!has_brackets && host.find(':') != std::string_view::npos) {
    return "has an IPv6 address without brackets" + shown;
  }
  if (!is_host(host, has_brackets))
    return "has a host that is neither a name nor an address" + shown;
  const auto digits = text.substr(colon + 1);
  const auto* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, target.second);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  if (!is_number || target.second < 1 || target.second > most_port) {
    return "has a port that is not 1 to 65535" + shown;
  }
  target.first = host;
  return {};
}

}  // namespace

address_map::address_map(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    static_cast<void>(add(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string address_map::fault(std::string_view text) {
  address_map read;
  for (;;) {
    const auto end = text.find(',');
    if (auto wrong = read.add(text.substr(0, end)); !wrong.empty()) return wrong;
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

std::string address_map::add(std::string_view pair) {
  const auto mark = pair.find('>');
  if (pair.empty()) return "has an empty pair";
  if (mark == std::string_view::npos) return "has a pair without a '>': " + printable(pair);
  place source;
  place reached;
  if (auto wrong = read_place(pair.substr(0, mark), source); !wrong.empty()) return wrong;
  if (auto wrong = read_place(pair.substr(mark + 1), reached); !wrong.empty()) return wrong;
  source.first = one_form(source.first);
  if (reached_at_.emplace(std::move(source), std::move(reached)).second) return {};
  return "has two pairs for " + printable(pair.substr(0, mark));
}

const address_map::place* address_map::find(std::string_view host, int port) const {
  if (reached_at_.empty()) return nullptr;
  const auto known = reached_at_.find({one_form(host), port});
  return known == reached_at_.end() ? nullptr : &known->second;
}

}  // namespace mortise
