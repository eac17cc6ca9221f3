#include "deployment/open.hpp"

#include <utility>
#include <vector>

#include "deployment/sharded.hpp"
#include "deployment/single_url.hpp"
#include "deployment/url_list.hpp"

namespace mortise::deployment {

namespace {

constexpr std::string_view shard_word = "shard";

outcome read_shards(std::string_view urls, settings& terms, maker& into) {
  std::vector<single_url> shards;
  if (auto read = read_url_list(urls, terms, shards); !read.ok()) return read;
  into = [shards = std::move(shards)](net::reactor& loop, const settings& of,
                                      std::string_view client_id, listener& hears) {
    return make_sharded(shards, loop, of, client_id, hears);
  };
  return {};
}

}  // namespace

outcome read_url(std::string_view url, settings& terms, maker& into) {
  if (has_word(url, shard_word)) return read_shards(url.substr(shard_word.size() + 1), terms, into);
  single_url single;
  if (auto read = read_single_url(url, terms, single); !read.ok()) return read;
  if (!single.shard.empty() || single.weight != 0) {
    return outcome::of(status::invalid_argument, single.weight != 0 ? "weight" : "shard",
                       ": the URL is in no list of shards; leave it away, or give shard: and "
                       "several URLs");
  }
  into = std::move(single.make);
  return {};
}

}  // namespace mortise::deployment
