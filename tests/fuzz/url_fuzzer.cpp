// Any bytes as a URL: no crash, fields in their ranges, messages of one printable line. Then any
// bytes around a password that is not encoded: no message shows the password.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/options.hpp"
#include "deployment/api/open.hpp"
#include "redis/login/url.hpp"

namespace {

using mortise::outcome;
using mortise::status;
using mortise::redis::endpoint_url;
using mortise::redis::parse_url;
using mortise::redis::url_scheme;

constexpr std::string_view secret = "hunter2secret";

void require(bool condition) {
  if (!condition) std::abort();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void check_message(const outcome& result) {
  require(result.ok() == result.message.empty());
  require(result.message.size() < 1000);  // one lists all options
  for (const char c : result.message) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
}

void check(std::string_view text) {
  endpoint_url url;
  const auto result = parse_url(text, url);
  check_message(result);
  if (!result.ok()) {
    require(result.code == status::invalid_argument || result.code == status::unsupported);
    require(url.host.empty() && url.path.empty() && url.password.empty() && url.query.empty());
    return;
  }
  const bool has_sentinels = mortise::redis::has_sentinels(url.scheme);
  require(has_sentinels == !url.sentinels.empty() && has_sentinels == !url.master.empty());
  require(has_sentinels || (url.sentinel_user.empty() && url.sentinel_password.empty()));
  require(mortise::redis::has_cluster(url.scheme) == !url.cluster.empty());
  for (const auto& one : url.cluster) require(!one.host.empty() && one.port >= 1);
  for (const auto& one : url.sentinels) {
    require(!one.host.empty() && one.port >= 1 && one.port <= 65535);
  }
  require(url.db >= 0 && url.port >= 1 && url.port <= 65535);
  const bool has_host = url.scheme == url_scheme::tcp || url.scheme == url_scheme::tls;
  require(has_host == !url.host.empty());
  require((url.scheme == url_scheme::unix_socket) == url.path.starts_with('/'));
  require(!contains(url.host + url.path, std::string_view("\0", 1)));
  mortise::settings values;
  for (const auto& [key, value] : url.query) {
    require(!key.empty() && key != "db" && key != "sentinel_password");
    check_message(set_option(values, key, value));
  }
}

// Reads it to the end, but for the files that TLS names.
outcome read_list(const std::string& text) {
  if (contains(lower(text), "rediss") || contains(text, "sentinel_tls")) return {};
  mortise::settings values;
  mortise::deployment::maker make;
  auto result = mortise::deployment::read_url(text, values, make);
  require(result.ok() == static_cast<bool>(make));
  return result;
}

void check_secrecy(const std::string& text) {
  endpoint_url url;
  const auto result = parse_url(text, url);
  require(!contains(result.message, secret));
  // A password with a whole URL in it looks like a list.
  for (const auto* word : {",redis", ",unix", ",local", ",shard", ",redlock"}) {
    if (contains(lower(text), word)) return;
  }
  for (const std::string list : {"shard:", "redlock:"}) {
    require(!contains(read_list(list + "redis://other," + text).message, secret));
    require(!contains(read_list(list + text + ",redis://other").message, secret));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(text);
  check("redis://" + std::string(text));
  check("unix:///" + std::string(text));
  check("local:?" + std::string(text));
  check("redis+sentinel://" + std::string(text));
  check("redis+cluster://" + std::string(text));
  check("redis+sentinel://h/m?" + std::string(text));
  for (const std::string list : {"shard:", "redlock:"}) {
    check_message(read_list(list + std::string(text)));
    check_message(read_list(list + "redis://" + std::string(text) + ",redis://other"));
  }

  // text = before + after, with the secret between them, in each place of a password.
  const auto middle = std::min<std::size_t>(data[0], text.size());
  const std::string around =
      std::string(text.substr(0, middle)).append(secret).append(text.substr(middle));
  for (const char* tail : {"@host", "@host:1/0?lease=1s", "@/run/redis.sock"}) {
    check_secrecy("redis://user:" + around + tail);
    check_secrecy("redis://:" + around + tail);
    check_secrecy("unix://user:" + around + tail);
    check_secrecy("rediss://user:" + around + tail);
    check_secrecy("redis+sentinel://user:" + around + tail);
    check_secrecy("redis+cluster://user:" + around + tail);
    check_secrecy("redis+sentinel://user:" + around + "@h1,h2/master");
    check_secrecy("user:" + around + tail);
  }
  // Behind a '&' another option begins.
  if (!contains(around, "&")) {
    check_secrecy("redis+sentinel://h1,h2/master?sentinel_password=" + around);
  }
  return 0;
}
