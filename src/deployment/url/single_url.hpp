// The URL of one server, alone or in a list of several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/api/open.hpp"
#include "net/dial/dialer.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

struct single_url {
  maker make;
  redis::url_scheme scheme = redis::url_scheme::tcp;
  std::string place;        // "host:port", a path, or "local:"
  std::string shard;        // empty unless given
  std::int64_t weight = 0;  // 0 unless given
  std::int64_t database = 0;
  // The options of the URL, in order.
  std::vector<std::pair<std::string, std::string>> options;
};

// Makes the sockets to servers whose addresses are their names. Empty for plain ones.
outcome choose_transport_of_each(const redis::endpoint_url& where, const settings& terms,
                                 net::transport_factory& target);
// Reads the URL of a server. Its options override the settings.
outcome read_server_url(std::string_view url, settings& terms, redis::endpoint_url& where);
outcome read_single_url(std::string_view url, settings& terms, single_url& target);
// Whether the option has an effect with servers of this scheme.
outcome check_release_on_death(redis::url_scheme scheme, const settings& terms);

}  // namespace mortise::deployment
