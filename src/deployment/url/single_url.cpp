#include "deployment/url/single_url.hpp"

#include <utility>

#include "base/system/user_id.hpp"
#include "deployment/single/single_server.hpp"
#include "net/tls/tls_transport.hpp"
#include "protocol/native/acknowledgement.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

namespace {

bool sentinels_have_tls(const redis::endpoint_url& where, const settings& terms) {
  return terms.sentinel_tls.empty() ? redis::has_tls(where.scheme) : terms.sentinel_tls == "on";
}

outcome check_passwords(const redis::endpoint_url& where, const settings& terms) {
  if (!terms.password_file.empty() && !where.password.empty()) {
    return outcome::of(status::invalid_argument,
                       "password_file: the URL also has a password; give it in one place");
  }
  if (!terms.sentinel_password_file.empty() && !where.sentinel_password.empty()) {
    return outcome::of(status::invalid_argument,
                       "sentinel_password_file: the URL also has a sentinel_password; give it "
                       "in one place");
  }
  return {};
}

outcome check_certificate(const settings& terms) {
  if (terms.tls_certificate_file.empty() != terms.tls_key_file.empty()) {
    const bool has_key = terms.tls_certificate_file.empty();
    return outcome::of(status::invalid_argument, has_key ? "tls_key_file" : "tls_certificate_file",
                       ": given without ", has_key ? "tls_certificate_file" : "tls_key_file",
                       "; give both or none");
  }
  return {};
}

// Rejects options that have no effect with this URL, or that need another option.
outcome check_options(const redis::endpoint_url& where, const settings& terms) {
  const auto unsupported = [&](const char* option, const char* remedy) {
    return outcome::of(status::invalid_argument, option, ": not supported with ",
                       scheme_text(where.scheme), ":; give ", remedy, ", or omit it");
  };
  const bool is_of_sentinels = redis::has_sentinels(where.scheme);
  if (terms.sentinel_option != nullptr && !is_of_sentinels) {
    return unsupported(terms.sentinel_option, "redis+sentinel://");
  }
  if (auto fit = check_release_on_death(where.scheme, terms); !fit.ok()) return fit;
  if (!terms.address_map.empty() && !is_of_sentinels && !redis::has_cluster(where.scheme)) {
    return unsupported("address_map", "redis+cluster:// or redis+sentinel://");
  }
  const bool is_for_tls =
      redis::has_tls(where.scheme) || (is_of_sentinels && sentinels_have_tls(where, terms));
  if (terms.tls_option != nullptr && !is_for_tls) {
    return unsupported(terms.tls_option, is_of_sentinels ? "rediss+sentinel://" : "rediss://");
  }
  if (!terms.peer_user.empty() && where.scheme != redis::url_scheme::unix_socket) {
    return unsupported("peer_user", "unix://");
  }
  if (terms.acks == protocol::acknowledgement_terms::all && !is_of_sentinels &&
      !redis::has_cluster(where.scheme)) {
    return outcome::of(status::invalid_argument,
                       "acks: all: the replicas of a single server are not listed anywhere; give "
                       "their number, or redis+sentinel:// or redis+cluster://");
  }
  return check_certificate(terms);
}

// An empty name means the name of the connected host.
outcome make_tls(const std::string& name, const settings& terms, net::transport_factory& target) {
  net::tls_terms tls;
  tls.name = name;
  tls.ca_file = terms.tls_ca_file;
  tls.ca_folder = terms.tls_ca_folder;
  tls.certificate_file = terms.tls_certificate_file;
  tls.key_file = terms.tls_key_file;
  tls.is_verified = terms.tls_verify;
  std::shared_ptr<net::tls_context> shared;
  if (auto made = net::tls_context::make(std::move(tls), shared); !made.ok()) return made;
  target = [shared = std::move(shared)](const std::string& host) {
    return std::make_unique<net::tls_transport>(shared, host);
  };
  return {};
}

// Makes the sockets. Empty for plain ones.
outcome choose_transports(const redis::endpoint_url& where, const settings& terms,
                          transports& target) {
  if (!terms.peer_user.empty()) {
    uid_t peer = 0;
    if (auto found = find_user("peer_user", terms.peer_user, peer); !found.ok()) return found;
    target.of_server = [peer](const std::string&) {
      return std::make_unique<net::socket_transport>(peer);
    };
  }
  if (redis::has_tls(where.scheme)) {
    const auto& name = terms.tls_name.empty() ? where.host : terms.tls_name;
    if (auto made = make_tls(name, terms, target.of_server); !made.ok()) return made;
  }
  if (!redis::has_sentinels(where.scheme) || !sentinels_have_tls(where, terms)) return {};
  return make_tls(terms.sentinel_tls_name, terms, target.of_sentinels);
}

}  // namespace

outcome check_release_on_death(redis::url_scheme scheme, const settings& terms) {
  if (!terms.releases_on_death || !redis::has_tls(scheme)) return {};
  return outcome::of(status::unsupported, "release_on_death: not supported with ",
                     scheme_text(scheme),
                     ":, whose keys only the program has; give redis:// or unix://, or omit it");
}

outcome choose_transport_of_each(const redis::endpoint_url& where, const settings& terms,
                                 net::transport_factory& target) {
  return redis::has_tls(where.scheme) ? make_tls(terms.tls_name, terms, target) : outcome();
}

outcome read_server_url(std::string_view url, settings& terms, redis::endpoint_url& where) {
  if (auto parsed = redis::parse_url(url, where); !parsed.ok()) return parsed;
  for (const auto& [key, value] : where.query) {
    if (auto set = set_option(terms, key, value); !set.ok()) return set;
  }
  if (auto fit = check_options(where, terms); !fit.ok()) return fit;
  return check_passwords(where, terms);
}

outcome read_single_url(std::string_view url, settings& terms, single_url& target) {
  redis::endpoint_url where;
  if (auto read = read_server_url(url, terms, where); !read.ok()) return read;
  if (redis::has_cluster(where.scheme)) {
    return outcome::of(status::invalid_argument,
                       "url: a cluster cannot be in a list; give its URL alone");
  }
  target.scheme = where.scheme;
  transports ways;
  if (auto chosen = choose_transports(where, terms, ways); !chosen.ok()) return chosen;
  target.place = redis::place_text(where);
  target.shard = where.shard;
  target.weight = where.weight;
  target.database = where.db;
  target.options = where.query;
  target.make = [where = std::move(where), ways = std::move(ways)](
                    net::reactor& loop, const settings& own_terms, std::string_view client_id,
                    listener& listener) {
    return make_single_server(where, ways, loop, own_terms, client_id, listener);
  };
  return {};
}

}  // namespace mortise::deployment
