#include "deployment/open.hpp"

#include <utility>

#include "deployment/single_server.hpp"
#include "redis/url.hpp"

namespace mortise::deployment {

outcome read_url(std::string_view url, settings& terms, maker& into) {
  redis::endpoint_url where;
  if (auto parsed = redis::parse_url(url, where); !parsed.ok()) return parsed;
  for (const auto& [key, value] : where.query) {
    if (auto set = set_option(terms, key, value); !set.ok()) return set;
  }
  // Each scheme of today names one server.
  into = [where = std::move(where)](net::reactor& loop, const settings& of,
                                    std::string_view client_id, listener& hears) {
    return make_single_server(where, loop, of, client_id, hears);
  };
  return {};
}

}  // namespace mortise::deployment
