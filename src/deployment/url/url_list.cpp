#include "deployment/url/url_list.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/text/decimal.hpp"
#include "base/text/printable.hpp"

namespace mortise::deployment {

namespace {

constexpr std::size_t most_urls = 64;
// Words of URLs that have no "//" behind their ':'.
constexpr std::array<std::string_view, 3> bare_words = {"local", "shard", "redlock"};
constexpr std::array<std::string_view, 10> known_words = {
    "redis",          "rediss",          "unix",          "local",         "shard", "redlock",
    "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"};

outcome wrong(std::string_view part, std::string_view problem) {
  return outcome::of(status::invalid_argument, part, ": ", problem);
}

// Adds the number of the URL to an error.
outcome at(std::size_t index, outcome result) {
  result.say(result.message, " (URL ", decimal(static_cast<std::int64_t>(index + 1)),
             " of the list)");
  return result;
}

bool is_scheme_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.';
}

template <class Words>
bool has_any(std::string_view url, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return has_word(url, word); });
}

// Whether a URL begins at this point. Other commas are part of a URL, such as those between
// Sentinels. The host of a Sentinel may have such a word as its name.
bool begins_url(std::string_view text) {
  const auto colon = std::find_if_not(text.begin(), text.end(), is_scheme_character);
  const auto rest = text.substr(static_cast<std::size_t>(colon - text.begin()));
  if (rest.starts_with("://")) return colon != text.begin();
  const bool is_port = rest.size() > 1 && is_digit(rest[1]);
  return !is_port && has_any(text, bare_words);
}

std::vector<std::string_view> split(std::string_view urls) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (urls[i] != ',' || !begins_url(urls.substr(i + 1))) continue;
    parts.push_back(urls.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(urls.substr(begin));
  return parts;
}

outcome check(const std::vector<std::string_view>& urls) {
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const auto url = urls[i];
    if (url.empty() || url.starts_with(',') || url.ends_with(',')) {
      return at(i, wrong("url",
                         "a URL is missing before or after a ','; put one ',' between two URLs, "
                         "and write a ',' in a URL as %2C"));
    }
    // The text may be part of a password, and so may the text before it.
    if (!has_any(url, known_words)) {
      return at(i, wrong("scheme",
                         "unknown; give redis://host:port, rediss://host:port, "
                         "redis+sentinel://host,host/master, unix:///path or local:, and write a "
                         "',' in a password as %2C"));
    }
    if (has_word(url, "shard") || has_word(url, "redlock")) {
      return at(i, wrong("url", "a list cannot contain a list; give each server's own URL"));
    }
  }
  if (urls.size() < 2) {
    return wrong(
        "url", "the list has one URL; give at least two with a ',' between them, or the URL alone");
  }
  if (urls.size() <= most_urls) return {};
  return wrong("url", std::to_string(urls.size()) + " URLs are above the maximum of " +
                          std::to_string(most_urls) + " in a list; give fewer");
}

bool is_of_server(std::string_view key) { return find_option(key)->whose == option::taker::server; }

// The options about the client and its locks.
class shared_options {
 public:
  // `own` has the values of this URL's options.
  outcome add(const single_url& url, const settings& own, settings& of_client) {
    for (const auto& [key, value] : url.options) {
      if (is_of_server(key)) continue;
      const auto [known, is_first] = settings_by_option_.try_emplace(key, own);
      if (!is_first && !is_same(*find_option(key), known->second, own)) {
        return wrong(key, "another URL of the list gives a different value; give it once");
      }
      static_cast<void>(set_option(of_client, key, value));  // valid, because `own` accepted it
    }
    return {};
  }

 private:
  std::map<std::string, settings> settings_by_option_;  // settings of the first URL with the option
};

outcome check_names(const std::vector<single_url>& urls) {
  std::map<std::string_view, std::size_t> places;
  std::map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const auto& url = urls[i];
    if (!places.emplace(url.place, i).second) {
      return at(i, wrong("url", printable(url.place) + " is given twice; give each server once"));
    }
    if (!names.emplace(url.shard, i).second) {
      return at(i,
                wrong("shard", printable(url.shard) +
                                   " is also the name of another URL; give each URL its own name"));
    }
  }
  return {};
}

// Gives the URL its own settings: those of the client, and its options about its server.
void bind(single_url& url, settings of_client) {
  for (const auto& [key, value] : url.options) {
    if (is_of_server(key)) static_cast<void>(set_option(of_client, key, value));
  }
  url.make = [make = std::move(url.make), own = std::move(of_client)](
                 net::reactor& loop, const settings& /*of_client*/, std::string_view client_id,
                 listener& listener) { return make(loop, own, client_id, listener); };
}

}  // namespace

bool has_word(std::string_view url, std::string_view word) noexcept {
  if (url.size() <= word.size() || url[word.size()] != ':') return false;
  return std::equal(word.begin(), word.end(), url.begin(), [](char small, char given) {
    return given == small || given == small - 'a' + 'A';
  });
}

outcome read_url_list(std::string_view urls, settings& terms, std::vector<single_url>& target) {
  const auto parts = split(urls);
  if (auto fit = check(parts); !fit.ok()) return fit;
  std::vector<single_url> all(parts.size());
  shared_options shared;
  auto of_client = terms;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto own = terms;
    auto read = read_single_url(parts[i], own, all[i]);
    if (read.ok()) read = shared.add(all[i], own, of_client);
    if (!read.ok()) return at(i, std::move(read));
    if (all[i].shard.empty()) all[i].shard = all[i].place;
  }
  if (auto fit = check_names(all); !fit.ok()) return fit;
  // Another URL of the list may have given the option.
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto fit = check_release_on_death(all[i].scheme, of_client);
    if (!fit.ok()) return at(i, std::move(fit));
  }
  of_client.place.servers = static_cast<std::int64_t>(all.size());
  for (auto& url : all) {
    ++of_client.place.number;
    bind(url, of_client);
  }
  terms = std::move(of_client);
  target = std::move(all);
  return {};
}

}  // namespace mortise::deployment
