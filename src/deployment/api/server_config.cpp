#include "deployment/api/server_config.hpp"

#include <memory>
#include <utility>

#include "deployment/requests/command_request.hpp"
#include "net/tls/tls_fault.hpp"
#include "protocol/protocols.hpp"
#include "protocol/table.hpp"

namespace mortise::deployment {

std::string client_name_of(const settings& terms) {
  return terms.client_name.empty() ? "mortise" : terms.client_name;
}

redis::setup_command setup_of(const protocol::command& command, std::string name,
                              redis::setup_command::need need) {
  redis::setup_command made{std::move(name), {}, need};
  command.write(made.bytes, true);
  return made;
}

redis::connection_config server_config(const redis::endpoint_url& where,
                                       const net::transport_factory& make_transport,
                                       const settings& terms) {
  redis::connection_config config;
  config.make_transport = make_transport;
  if (redis::has_tls(where.scheme)) {
    config.hint_at_end = net::remedy_silent_refusal;
  } else if (redis::has_sentinels(where.scheme)) {
    config.hint_at_end = "; if the port speaks TLS, the URL begins with rediss+sentinel://";
  } else if (redis::has_cluster(where.scheme)) {
    config.hint_at_end = "; if the port speaks TLS, the URL begins with rediss+cluster://";
  } else if (where.scheme == redis::url_scheme::tcp) {
    config.hint_at_end = "; if the port speaks TLS, the URL begins with rediss://";
  }
  config.identity = std::make_shared<redis::credentials>(redis::login{where.user, where.password},
                                                         terms.password_file);
  config.database = where.db;
  config.client_name = client_name_of(terms);
  config.scripts =
      protocol::scripts_of(terms.place.votes ? protocol::ballot() : protocol::queued());
  config.needs_multi = !terms.place.votes;
  config.probe_key = terms.key_prefix().append(protocol::probe_key);
  config.command_timeout_ms = terms.command_timeout_ms;
  config.busy_poll_us = terms.busy_poll_us;
  return config;
}

outcome refuse_login_beside_file() {
  return outcome::of(status::invalid_argument,
                     "password_file: this client reads its password from this file at each "
                     "connect; write the new password to the file");
}

outcome change_login(redis::connection& server, const redis::credentials& identity,
                     redis::login offered, time_ns deadline) {
  if (identity.has_file()) return refuse_login_beside_file();
  if (!server.last_problem().ok()) {
    // No server can check the login now, and the next attempt may need it.
    server.follow_identity(std::move(offered), false);
    return {};
  }
  protocol::command command;
  command.is_change = true;
  command.says = std::make_shared<const redis::login>(std::move(offered));
  command.write = [&](std::string& out, bool) {
    const auto name = command.says->name();
    const auto password = command.says->password.view();
    // One allocation: a buffer that grows leaves a copy of the password behind.
    constexpr std::size_t around_text = 256;
    out.reserve(around_text + name.size() + password.size());
    redis::command_writer(out).command({"AUTH", name, password}).command({"HELLO"});
  };
  // Concurrent callers each keep an accepted login, in the order of the server's replies.
  bool is_dropped = false;
  command.read = [&](const redis::value& reply) {
    is_dropped = reply.type() != redis::kind::status;
    if (!is_dropped) server.follow_identity(*command.says, true);
  };
  auto result = command_request::ask(server, command, deadline);
  if (is_dropped) {
    result = outcome::of(status::refused);
    result.server_text = "it did not say why";
  }
  // A failed AUTH has no effect.
  if (result.code == status::unknown && !result.server_text.empty()) result.code = status::refused;
  if (result.code == status::refused) {
    result.say("the server rejected the new credentials, and the old ones stay in force: ",
               result.server_text);
  }
  return result;
}

}  // namespace mortise::deployment
