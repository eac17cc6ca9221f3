#include "redis/login/url.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"

namespace mortise::redis {
namespace {

constexpr std::size_t longest_url = 4096;
constexpr std::size_t longest_host = 253;  // of a DNS name
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t longest_shard = 64;
constexpr std::int64_t most_weight = 100;
constexpr std::size_t longest_master = 128;
constexpr std::size_t most_sentinels = 16;
constexpr std::size_t most_of_cluster = 64;
constexpr std::string_view sentinel_user = "sentinel_user";
constexpr std::string_view sentinel_password = "sentinel_password";
constexpr int port_of_servers = 6379;
constexpr int port_of_sentinels = 26379;
constexpr const char* url_forms =
    "; give redis://host:port, rediss://host:port, redis+sentinel://host,host/master, "
    "redis+cluster://host,host, unix:///path or local:, or shard: and several of these";

outcome wrong(std::string_view part, std::string_view problem) {
  return outcome::of(status::invalid_argument, std::string(part).append(": ").append(problem));
}

outcome too_long(const char* part, std::size_t size, std::size_t most) {
  return wrong(part, std::to_string(size) + " bytes are above the maximum of " +
                         std::to_string(most) + "; give a shorter one");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool contains(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// Cuts `text` before the first of `marks`. The second half is empty without a mark.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view marks) {
  const auto at = std::min(text.find_first_of(marks), text.size());
  return {text.substr(0, at), text.substr(at)};
}

std::string_view behind_first(std::string_view text) {
  return text.empty() ? text : text.substr(1);
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decodes percent-encoding. The message omits the text, which may be secret.
outcome decode(std::string_view part, std::string_view text, std::string& target) {
  target.clear();
  target.reserve(text.size());  // a string that grows leaves smaller copies behind
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      target += text[at];
      continue;
    }
    const int high = at + 1 < text.size() ? hex_digit(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return wrong(part, "a '%' without two hexadecimal digits after it; write '%' itself as %25");
    }
    target += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return {};
}

outcome read_user(std::string_view text, endpoint_url& target) {
  const auto [user, colon_and_password] = cut(text, ":");
  if (auto result = decode("user", user, target.user); !result.ok()) return result;
  std::string password;
  auto result = decode("password", behind_first(colon_and_password), password);
  target.password = secret(password);
  ::explicit_bzero(password.data(), password.size());
  return result;
}

bool is_like_port(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

// Without an '@', a text like a port may be the password of a URL without a host. Then only a text
// that is hardly a password is shown.
outcome read_port(std::string_view text, bool has_user, host_port& target) {
  constexpr const char* remedy = "; give 1 to 65535, as in redis://host:6379";
  if (text.empty()) return wrong("port", std::string("nothing after the ':'") + remedy);
  const bool is_number = std::all_of(text.begin(), text.end(), is_digit);
  const auto shown =
      has_user || is_like_port(text) ? printable(text) : std::string("the text after the ':'");
  if (!is_number) return wrong("port", shown + " is not a number" + remedy);
  int port = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), port);
  if (result.ec != std::errc() || port > 65535) {
    return wrong("port", shown + " is above the maximum of 65535" + remedy);
  }
  if (port == 0) return wrong("port", shown + " is below the minimum of 1" + remedy);
  target.port = port;
  return {};
}

// Two colons or unmatched brackets may be a password without its '@', so they are not shown. This
// `text` was in matching brackets.
outcome read_ipv6(std::string_view text, bool has_user, host_port& target) {
  if (auto result = decode("host", text, target.host); !result.ok()) return result;
  const auto [address, zone] = cut(target.host, "%");
  const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
  in6_addr ignored{};
  if (zone.size() != 1 && std::all_of(target.host.begin(), target.host.end(), is_plain) &&
      inet_pton(AF_INET6, std::string(address).c_str(), &ignored) == 1) {
    return {};
  }
  const auto shown = has_user ? printable(target.host) : std::string("the text in brackets");
  return wrong("host", shown + " is not an IPv6 address; give one such as [::1]");
}

// The text before the host is not shown either: it may be the user's name.
outcome read_name(std::string_view text, bool may_be_user, host_port& target) {
  constexpr const char* remedy = "; give a name or address, as in redis://host:6379";
  if (text.empty()) return wrong("host", std::string("it is empty") + remedy);
  if (auto result = decode("host", text, target.host); !result.ok()) return result;
  if (target.host.size() > longest_host) return too_long("host", target.host.size(), longest_host);
  const bool is_clean = std::all_of(target.host.begin(), target.host.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
  });
  if (is_clean) return {};
  const auto shown = may_be_user ? std::string("the text before the ':'") : printable(target.host);
  return wrong("host",
               shown + " has characters other than letters, digits, '.', '-' and '_'" + remedy);
}

// host, host:port, [IPv6] or [IPv6]:port
outcome read_address(std::string_view text, bool has_user, host_port& target) {
  if (text.starts_with('[')) {
    const auto [address, rest] = cut(text.substr(1), "]");
    if (rest.empty()) return wrong("host", "a '[' without its ']'; give one such as [::1]:6379");
    if (auto result = read_ipv6(address, has_user, target); !result.ok()) return result;
    if (rest.size() == 1) return {};
    if (rest[1] == ':') return read_port(rest.substr(2), has_user, target);
    return wrong("host",
                 "text after the ']' other than ':' and a port; give one such as [::1]:6379");
  }
  const auto [name, colon_and_port] = cut(text, ":");
  if (contains(behind_first(colon_and_port), ':')) {
    return wrong("host",
                 "more than one ':'; write an IPv6 address in brackets, as in redis://[::1]:6379, "
                 "and an '@' after user:password");
  }
  const bool may_be_user =
      !has_user && !colon_and_port.empty() && !is_like_port(colon_and_port.substr(1));
  if (auto result = read_name(name, may_be_user, target); !result.ok()) return result;
  return colon_and_port.empty() ? outcome() : read_port(colon_and_port.substr(1), has_user, target);
}

outcome read_db(std::string_view text, endpoint_url& target) {
  constexpr std::int64_t most = 2'147'483'647;
  const auto* end = text.data() + text.size();
  std::int64_t db = 0;
  const auto result = std::from_chars(text.data(), end, db);
  const bool is_number = !text.empty() && is_digit(text.front()) && result.ptr == end;
  if (!is_number || result.ec != std::errc() || db > most) {
    return wrong("db", printable(text) + " is not a database; give 0 to " + std::to_string(most));
  }
  target.db = db;
  return {};
}

outcome read_shard(std::string value, endpoint_url& target) {
  if (!target.shard.empty()) return wrong("shard", "it is given twice; give it once");
  if (value.size() > longest_shard) return too_long("shard", value.size(), longest_shard);
  const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_plain)) {
    return wrong("shard", printable(value) +
                              " is not a name; give letters, digits and punctuation, as in "
                              "shard=north-1");
  }
  target.shard = std::move(value);
  return {};
}

outcome read_weight(std::string_view text, endpoint_url& target) {
  if (target.weight != 0) return wrong("weight", "it is given twice; give it once");
  std::int64_t weight = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, weight);
  if (result.ec != std::errc() || result.ptr != end || weight < 1 || weight > most_weight) {
    return wrong("weight",
                 printable(text) + " is not a weight; give 1 to " + std::to_string(most_weight));
  }
  target.weight = weight;
  return {};
}

// No options of the table: the values of those are kept and shown verbatim.
outcome read_sentinel_login(std::string_view key, std::string& value, endpoint_url& target) {
  if (!has_sentinels(target.scheme)) {
    return wrong(key, std::string("it has no meaning with ") + scheme_text(target.scheme) +
                          ":; give redis+sentinel://, or omit it");
  }
  const bool is_user = key == sentinel_user;
  if (value.empty() ||
      (is_user ? !target.sentinel_user.empty() : !target.sentinel_password.empty())) {
    return wrong(
        key, value.empty() ? "it is empty; give it or omit it" : "it is given twice; give it once");
  }
  if (is_user) {
    target.sentinel_user = std::move(value);
  } else {
    target.sentinel_password = secret(value);
    ::explicit_bzero(value.data(), value.size());
  }
  return {};
}

outcome read_option(std::string_view text, bool& has_db, endpoint_url& target) {
  constexpr const char* remedy = "; write key=value, with '&' between two of them";
  if (text.empty()) return wrong("query", std::string("an option is empty") + remedy);
  const auto [coded_key, coded_value] = cut(text, "=");
  std::string key;
  std::string value;
  if (auto result = decode("query", coded_key, key); !result.ok()) return result;
  if (key.empty()) return wrong("query", std::string("an option has no name") + remedy);
  if (coded_value.empty()) return wrong("query", printable(key) + " has no value" + remedy);
  if (auto result = decode("query", coded_value.substr(1), value); !result.ok()) return result;
  if (key == "shard") return read_shard(std::move(value), target);
  if (key == "weight") return read_weight(value, target);
  if (key == sentinel_user || key == sentinel_password) {
    return read_sentinel_login(key, value, target);
  }
  if (key != "db") {
    target.query.emplace_back(std::move(key), std::move(value));
    return {};
  }
  if (has_sentinels(target.scheme)) {
    return wrong("db",
                 "it is not an option; give it after the master, as in "
                 "redis+sentinel://host/master/2");
  }
  if (target.scheme != url_scheme::unix_socket && target.scheme != url_scheme::local) {
    return wrong("db", "it is not an option; give it after the host, as in redis://host/2");
  }
  if (std::exchange(has_db, true)) return wrong("db", "it is given twice; give it once");
  return read_db(value, target);
}

// `text` begins with its '?' or is empty.
outcome read_query(std::string_view text, endpoint_url& target) {
  bool has_db = false;
  if (text.size() == 1) return {};
  while (!text.empty()) {
    const auto [option, rest] = cut(text.substr(1), "&");
    if (auto result = read_option(option, has_db, target); !result.ok()) return result;
    text = rest;
  }
  return {};
}

outcome read_path(std::string_view text, endpoint_url& target) {
  if (auto result = decode("path", text, target.path); !result.ok()) return result;
  if (target.path.size() < 2) {
    return wrong("path", "it is empty; give the socket's, as in unix:///run/redis.sock");
  }
  if (target.path.size() > longest_path) return too_long("path", target.path.size(), longest_path);
  if (contains(target.path, '\0')) {
    return wrong("path", printable(target.path) + " has a zero byte; omit the %00");
  }
  return {};
}

// "/2", "/" or nothing.
outcome read_db_path(std::string_view path, endpoint_url& target) {
  if (path.size() < 2) return {};
  std::string db;
  if (auto result = decode("db", path.substr(1), db); !result.ok()) return result;
  return read_db(db, target);
}

// The kind of a list of hosts.
struct host_list {
  const char* noun;
  int port;  // the default
  std::size_t most;
  const char* form;
};
constexpr host_list sentinel_list = {"Sentinel", port_of_sentinels, most_sentinels,
                                     "redis+sentinel://host,host:26379/mymaster"};
constexpr host_list cluster_list = {"server", port_of_servers, most_of_cluster,
                                    "redis+cluster://host,host:6379"};

// host:port,host:port
outcome read_hosts(std::string_view text, bool has_user, const host_list& list,
                   std::vector<host_port>& all) {
  for (bool is_last = false; !is_last;) {
    const auto [one, rest] = cut(text, ",");
    is_last = rest.empty();
    text = behind_first(rest);
    host_port where{{}, list.port};
    if (auto result = read_address(one, has_user, where); !result.ok()) {
      if (has_user || all.empty()) return result;
      return wrong(
          "host",
          std::string("the text after a ',' is not a host; give names or addresses, as in ") +
              list.form);
    }
    where.host = lower(where.host);
    if (std::find(all.begin(), all.end(), where) != all.end()) {
      return wrong("host", (has_user ? text_of(where) + " is given twice" : "one is given twice") +
                               "; give each " + list.noun + " once");
    }
    if (all.size() == list.most) {
      return wrong("url", "more than " + std::to_string(list.most) + " " + list.noun +
                              "s; give some of them, which report the others");
    }
    all.push_back(std::move(where));
  }
  return {};
}

// An invalid name may be the rest of a password without its '@'.
outcome read_master(std::string_view text, bool has_user, endpoint_url& target) {
  constexpr const char* remedy =
      "; give the Sentinels' name for it, as in redis+sentinel://host,host/mymaster";
  if (text.empty()) return wrong("master", std::string("it is missing") + remedy);
  if (auto result = decode("master", text, target.master); !result.ok()) return result;
  if (target.master.size() > longest_master) {
    return too_long("master", target.master.size(), longest_master);
  }
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '/' && c != ','; };
  if (std::all_of(target.master.begin(), target.master.end(), is_plain)) return {};
  const auto shown = has_user ? printable(target.master) : std::string("the text after the '/'");
  return wrong("master", shown + " is not a name" + remedy);
}

// Reads the rest after "redis://" or a similar scheme.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
outcome read_hierarchy(std::string_view text, endpoint_url& target) {
  const bool is_unix = target.scheme == url_scheme::unix_socket;
  const auto [authority, rest] = cut(text, "/?");
  // A late '@' means that the user or the password may hold a bare '/' or '?'. Then any part may be
  // of the password, and no part is shown.
  if (contains(rest, '@') && !(is_unix && authority.empty())) {
    return wrong("url",
                 "an '@' after the host; write '/' as %2F, '?' as %3F and '@' as %40 in "
                 "user and password, and '@' as %40 elsewhere");
  }
  const auto at = authority.rfind('@');
  const bool has_user = at != std::string_view::npos;
  if (has_user) {
    if (auto result = read_user(authority.substr(0, at), target); !result.ok()) return result;
  }
  const auto address = has_user ? authority.substr(at + 1) : authority;
  const auto [path, query] = cut(rest, "?");
  if (is_unix) {
    if (!address.empty()) {
      return wrong("path", "it does not begin with '/'; give unix:///path/to.sock");
    }
    if (auto result = read_path(path, target); !result.ok()) return result;
    return read_query(query, target);
  }
  if (has_sentinels(target.scheme)) {
    auto result = read_hosts(address, has_user, sentinel_list, target.sentinels);
    if (!result.ok()) return result;
    const auto [master, database] = cut(behind_first(path), "/");
    if (result = read_master(master, has_user, target); !result.ok()) return result;
    if (result = read_db_path(database, target); !result.ok()) return result;
    return read_query(query, target);
  }
  if (has_cluster(target.scheme)) {
    auto result = read_hosts(address, has_user, cluster_list, target.cluster);
    if (!result.ok()) return result;
    if (result = read_db_path(path, target); !result.ok()) return result;
    return read_query(query, target);
  }
  host_port where{{}, port_of_servers};
  if (auto result = read_address(address, has_user, where); !result.ok()) return result;
  target.host = std::move(where.host);
  target.port = where.port;
  if (auto result = read_db_path(path, target); !result.ok()) return result;
  return read_query(query, target);
}

// Reads the rest after "local:".
outcome read_local(std::string_view text, endpoint_url& target) {
  if (text.empty() || text.front() == '?') return read_query(text, target);
  return wrong("local",
               "text other than '?' and options after the ':'; give local: or local:?key=value");
}

// Checks the rules for every scheme. The messages show no part of the URL.
outcome check_bytes(std::string_view url) {
  if (url.empty()) return wrong("url", std::string("it is empty") + url_forms);
  if (url.size() > longest_url) return too_long("url", url.size(), longest_url);
  const auto* odd = std::find_if(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7F || c == '#';
  });
  if (odd == url.end()) return {};
  return wrong("url", "byte " + std::to_string(odd - url.begin() + 1) +
                          " is a space, a control character or '#'; write it as '%' and two "
                          "hexadecimal digits, as in %23 for '#'");
}

outcome refuse_scheme(std::string_view scheme, std::string_view url) {
  // "user:secret@host" has no scheme, so the text before the ':' is not shown.
  if (scheme.empty() || contains(url, '@')) {
    return wrong("scheme", std::string("it is not known") + url_forms);
  }
  return wrong("scheme", printable(scheme) + " is not known" + url_forms);
}

}  // namespace

const char* scheme_text(url_scheme scheme) noexcept {
  switch (scheme) {
    case url_scheme::tcp:
      return "redis";
    case url_scheme::tls:
      return "rediss";
    case url_scheme::unix_socket:
      return "unix";
    case url_scheme::sentinel:
      return "redis+sentinel";
    case url_scheme::tls_sentinel:
      return "rediss+sentinel";
    case url_scheme::cluster:
      return "redis+cluster";
    case url_scheme::tls_cluster:
      return "rediss+cluster";
    case url_scheme::local:
      break;
  }
  return "local";
}

std::string text_of(const host_port& where) {
  const auto host = contains(where.host, ':') ? "[" + where.host + "]" : where.host;
  return host + ":" + std::to_string(where.port);
}

std::string text_of(const std::vector<host_port>& all) {
  std::string text;
  for (const auto& one : all) text.append(text.empty() ? "" : ",").append(text_of(one));
  return text;
}

std::string place_text(const endpoint_url& where) {
  switch (where.scheme) {
    case url_scheme::unix_socket:
      return where.path;
    case url_scheme::local:
      return "local:";
    case url_scheme::sentinel:
    case url_scheme::tls_sentinel:
      return where.master + " of " + text_of(where.sentinels);
    case url_scheme::cluster:
    case url_scheme::tls_cluster:
      return text_of(where.cluster);
    case url_scheme::tcp:
    case url_scheme::tls:
      break;
  }
  return lower(text_of({where.host, where.port}));
}

namespace {

struct hierarchical {
  std::string_view name;
  url_scheme scheme;
};
constexpr std::array<hierarchical, 7> hierarchies = {{{"redis", url_scheme::tcp},
                                                      {"rediss", url_scheme::tls},
                                                      {"unix", url_scheme::unix_socket},
                                                      {"redis+sentinel", url_scheme::sentinel},
                                                      {"rediss+sentinel", url_scheme::tls_sentinel},
                                                      {"redis+cluster", url_scheme::cluster},
                                                      {"rediss+cluster", url_scheme::tls_cluster}}};

}  // namespace

outcome parse_url(std::string_view url, endpoint_url& target) {
  if (auto result = check_bytes(url); !result.ok()) return result;
  const auto [name, colon_and_rest] = cut(url, ":");
  if (colon_and_rest.empty()) return wrong("scheme", std::string("it is missing") + url_forms);
  const auto scheme = lower(name);
  const auto rest = colon_and_rest.substr(1);
  const auto* const found = std::find_if(hierarchies.begin(), hierarchies.end(),
                                         [&](const auto& one) { return one.name == scheme; });
  endpoint_url parsed;
  outcome result;
  if (scheme == "local") {
    parsed.scheme = url_scheme::local;
    result = read_local(rest, parsed);
  } else if (found != hierarchies.end()) {
    parsed.scheme = found->scheme;
    if (!rest.starts_with("//")) return wrong("url", "no '//' after " + scheme + ":" + url_forms);
    result = read_hierarchy(rest.substr(2), parsed);
  } else {
    result = refuse_scheme(scheme, url);
  }
  if (result.ok()) target = std::move(parsed);
  return result;
}

}  // namespace mortise::redis
