#include "deployment/api/open.hpp"

#include <utility>
#include <vector>

#include "base/text/decimal.hpp"
#include "deployment/redlock/quorum.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "deployment/sharded/sharded.hpp"
#include "deployment/url/cluster_url.hpp"
#include "deployment/url/single_url.hpp"
#include "deployment/url/url_list.hpp"

namespace mortise::deployment {

namespace {

constexpr std::string_view shard_word = "shard";
constexpr std::string_view quorum_word = "redlock";

outcome read_shards(std::string_view urls, settings& terms, maker& target) {
  std::vector<single_url> shards;
  if (auto read = read_url_list(urls, terms, shards); !read.ok()) return read;
  target = [shards = std::move(shards)](net::reactor& loop, const settings& own_terms,
                                        std::string_view client_id, listener& listener) {
    return make_sharded(shards, loop, own_terms, client_id, listener);
  };
  return {};
}

// All servers of a quorum must have equal settings.
outcome check_alike(const std::vector<single_url>& servers, const settings& terms) {
  if (servers.size() > quorum::most_servers) {
    return outcome::of(status::invalid_argument, "url: ", decimal(servers.size()),
                       " URLs are above the maximum of ", decimal(quorum::most_servers),
                       " of redlock:; give fewer, an odd number");
  }
  for (const auto& url : servers) {
    if (url.weight == 0 && url.shard == url.place) continue;
    return outcome::of(status::invalid_argument, url.weight != 0 ? "weight" : "shard",
                       ": not supported with redlock:; omit it");
  }
  if (terms.releases_on_death) {
    return outcome::of(status::unsupported,
                       "release_on_death: not supported with redlock:, whose votes only the client "
                       "knows; omit it");
  }
  for (const auto& url : servers) {
    const auto& first = servers.front();
    if (url.database == first.database) continue;
    return outcome::of(status::invalid_argument, "url: the database of \"", url.place, "\" is ",
                       decimal(url.database), ", that of \"", first.place, "\" ",
                       decimal(first.database), "; give all servers of redlock: the same");
  }
  return {};
}

outcome read_quorum(std::string_view urls, settings& terms, maker& target) {
  std::vector<single_url> servers;
  auto read = terms;
  read.place.votes = true;
  if (auto result = read_url_list(urls, read, servers); !result.ok()) return result;
  if (auto result = check_alike(servers, read); !result.ok()) return result;
  terms = std::move(read);
  target = [servers = std::move(servers)](net::reactor& loop, const settings& own_terms,
                                          std::string_view client_id, listener& listener) {
    return make_quorum(servers, loop, own_terms, client_id, listener);
  };
  return {};
}

}  // namespace

outcome read_url(std::string_view url, settings& terms, maker& target) {
  if (has_word(url, shard_word))
    return read_shards(url.substr(shard_word.size() + 1), terms, target);
  if (has_word(url, quorum_word)) {
    return read_quorum(url.substr(quorum_word.size() + 1), terms, target);
  }
  if (has_word(url, "redis+cluster") || has_word(url, "rediss+cluster")) {
    return read_cluster_url(url, terms, target);
  }
  single_url single;
  if (auto read = read_single_url(url, terms, single); !read.ok()) return read;
  if (!single.shard.empty() || single.weight != 0) {
    return outcome::of(status::invalid_argument, single.weight != 0 ? "weight" : "shard",
                       ": the URL is not in a list of shards; omit it, or give shard: and "
                       "several URLs");
  }
  target = std::move(single.make);
  return {};
}

}  // namespace mortise::deployment
