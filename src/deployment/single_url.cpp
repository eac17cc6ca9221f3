#include "deployment/single_url.hpp"

#include <utility>

#include "deployment/single_server.hpp"
#include "net/tls_transport.hpp"
#include "redis/url.hpp"

namespace mortise::deployment {

namespace {

// What makes the sockets; empty for plain ones.
outcome choose_transport(const redis::endpoint_url& where, const settings& terms,
                         net::transport_factory& into) {
  if (where.scheme != redis::url_scheme::tls) {
    if (terms.tls_option == nullptr) return {};
    return outcome::of(status::invalid_argument, terms.tls_option, ": it has no meaning with ",
                       scheme_text(where.scheme), ":; give rediss://, or leave it away");
  }
  if (terms.tls_certificate_file.empty() != terms.tls_key_file.empty()) {
    const bool has_key = terms.tls_certificate_file.empty();
    return outcome::of(status::invalid_argument, has_key ? "tls_key_file" : "tls_certificate_file",
                       ": it is given without ", has_key ? "tls_certificate_file" : "tls_key_file",
                       "; give both or none");
  }
  net::tls_terms tls;
  tls.name = terms.tls_name.empty() ? where.host : terms.tls_name;
  tls.ca_file = terms.tls_ca_file;
  tls.ca_folder = terms.tls_ca_folder;
  tls.certificate_file = terms.tls_certificate_file;
  tls.key_file = terms.tls_key_file;
  tls.is_verified = terms.tls_verify;
  std::shared_ptr<net::tls_context> shared;
  if (auto made = net::tls_context::make(std::move(tls), shared); !made.ok()) return made;
  into = [shared = std::move(shared)] { return std::make_unique<net::tls_transport>(shared); };
  return {};
}

}  // namespace

outcome read_single_url(std::string_view url, settings& terms, single_url& into) {
  redis::endpoint_url where;
  if (auto parsed = redis::parse_url(url, where); !parsed.ok()) return parsed;
  for (const auto& [key, value] : where.query) {
    if (auto set = set_option(terms, key, value); !set.ok()) return set;
  }
  if (!terms.password_file.empty() && !where.password.empty()) {
    return outcome::of(status::invalid_argument,
                       "password_file: the URL has a password as well; give it in one place");
  }
  net::transport_factory make_transport;
  if (auto chosen = choose_transport(where, terms, make_transport); !chosen.ok()) return chosen;
  into.place = redis::place_text(where);
  into.shard = where.shard;
  into.weight = where.weight;
  into.database = where.db;
  into.options = where.query;
  into.make = [where = std::move(where), make_transport = std::move(make_transport)](
                  net::reactor& loop, const settings& of, std::string_view client_id,
                  listener& hears) {
    return make_single_server(where, make_transport, loop, of, client_id, hears);
  };
  return {};
}

}  // namespace mortise::deployment
