#include "redis/url.hpp"

#include <array>
#include <charconv>

namespace mortise::redis {

namespace {

constexpr std::size_t longest_url = 4096;

outcome wrong(std::string message) {
  return outcome::of(status::invalid_argument, "url: " + std::move(message));
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

bool decode(std::string_view text, std::string& into) {
  into.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      into.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    into.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

outcome decode_part(std::string_view part, std::string_view text, std::string& into) {
  if (decode(text, into)) return {};
  return wrong("the " + std::string(part) +
               " has a broken percent-encoding; write a percent sign as %25");
}

bool read_number(std::string_view text, std::int64_t most, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() && number >= 0 &&
         number <= most;
}

outcome read_db(const std::string& text, std::int64_t& db) {
  constexpr std::int64_t most = 1'000'000;
  if (read_number(text, most, db)) return {};
  return wrong("'" + text.substr(0, 40) + "' is no database; give a number such as 0");
}

outcome read_query(std::string_view text, endpoint_url& into) {
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return wrong("the query has a part that is not option=value");
    }
    std::string key;
    std::string value;
    if (auto how = decode_part("query", pair.substr(0, equals), key); !how.ok()) return how;
    if (auto how = decode_part("query", pair.substr(equals + 1), value); !how.ok()) return how;
    if (key == "db") {
      if (auto how = read_db(value, into.db); !how.ok()) return how;
    } else {
      into.query.emplace_back(std::move(key), std::move(value));
    }
  }
  return {};
}

// [user[:password]@]
outcome read_user(std::string_view text, endpoint_url& into) {
  const auto colon = text.find(':');
  if (auto how = decode_part("user", text.substr(0, colon), into.user); !how.ok()) return how;
  if (colon == std::string_view::npos) return {};
  return decode_part("password", text.substr(colon + 1), into.password);
}

// host[:port] or [v6][:port]
outcome read_host(std::string_view text, endpoint_url& into) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return wrong("the host's '[' has no ']'");
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    has_port = !port.empty();
    if (has_port && port.front() != ':') return wrong("behind the host's ']' only :port may follow");
    if (has_port) port.remove_prefix(1);
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
    if (port.find(':') != std::string_view::npos) {
      return wrong("the host has several colons; write an IPv6 address in brackets, as [::1]");
    }
  }
  if (auto how = decode_part("host", host, into.host); !how.ok()) return how;
  if (into.host.empty() || into.host.find('\0') != std::string::npos) {
    return wrong("the host is missing; give redis://host:port");
  }
  std::int64_t number = 6379;
  if (has_port && (!read_number(port, 65535, number) || number == 0)) {
    return wrong("'" + std::string(port.substr(0, 40)) + "' is no port; give 1 to 65535");
  }
  into.port = static_cast<int>(number);
  return {};
}

// redis://[user[:password]@]host[:port][/db]
outcome read_tcp(std::string_view text, endpoint_url& into) {
  into.scheme = url_scheme::tcp;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    std::string db;
    if (auto how = decode_part("database", text.substr(slash + 1), db); !how.ok()) return how;
    if (!db.empty()) {
      if (auto how = read_db(db, into.db); !how.ok()) return how;
    }
    text = text.substr(0, slash);
  }
  const auto at = text.rfind('@');
  if (at != std::string_view::npos) {
    if (auto how = read_user(text.substr(0, at), into); !how.ok()) return how;
    text.remove_prefix(at + 1);
  }
  return read_host(text, into);
}

// unix:///path
outcome read_unix(std::string_view text, endpoint_url& into) {
  into.scheme = url_scheme::unix_socket;
  const auto slash = text.find('/');
  const auto at = text.substr(0, slash).rfind('@');
  if (at != std::string_view::npos) {
    if (auto how = read_user(text.substr(0, at), into); !how.ok()) return how;
    text.remove_prefix(at + 1);
  }
  if (auto how = decode_part("path", text, into.path); !how.ok()) return how;
  if (into.path.empty() || into.path.front() != '/' || into.path.size() < 2 ||
      into.path.find('\0') != std::string::npos) {
    return wrong("the socket's path is missing or not absolute; give unix:///path/to.sock");
  }
  constexpr std::size_t longest_path = 107;  // of sockaddr_un
  if (into.path.size() > longest_path) {
    return wrong("the socket's path has " + std::to_string(into.path.size()) +
                 " bytes; at most 107 are possible");
  }
  return {};
}

bool is_known_elsewhere(std::string_view url) {
  static constexpr std::array<std::string_view, 5> schemes{
      "rediss:", "redis+sentinel:", "redis+cluster:", "redlock:", "shard:"};
  for (const auto scheme : schemes) {
    if (url.starts_with(scheme)) return true;
  }
  return false;
}

}  // namespace

outcome parse_url(std::string_view url, endpoint_url& into) {
  into = {};
  constexpr std::string_view forms = "redis://host:port/db, unix:///path/to.sock or local:";
  if (url.empty() || url.size() > longest_url) {
    return wrong(std::to_string(url.size()) + " bytes; give 1 to 4096, as " + std::string(forms));
  }
  auto rest = url.substr(0, url.find('#'));
  if (rest.size() != url.size()) return wrong("a '#' has to be written as %23");
  const auto question = rest.find('?');
  if (question != std::string_view::npos) {
    if (auto how = read_query(rest.substr(question + 1), into); !how.ok()) return how;
    rest = rest.substr(0, question);
  }
  if (rest.starts_with("redis://")) return read_tcp(rest.substr(8), into);
  if (rest.starts_with("unix://")) return read_unix(rest.substr(7), into);
  if (rest == "local:") {
    into.scheme = url_scheme::local;
    return {};
  }
  if (is_known_elsewhere(rest)) {
    return outcome::of(status::unsupported,
                       "url: '" + std::string(rest.substr(0, rest.find(':'))) +
                           ":' is not supported by this version; give " + std::string(forms));
  }
  return wrong("its beginning is not known; give " + std::string(forms));
}

}  // namespace mortise::redis
