// The configuration that is equal for all servers of a client, whatever their role.
#pragma once

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "net/dial/dialer.hpp"
#include "protocol/command.hpp"
#include "redis/connection.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

std::string client_name_of(const settings& terms);

// The configuration of a connection without its address, inbox and setup.
redis::connection_config server_config(const redis::endpoint_url& where,
                                       const net::transport_factory& make_transport,
                                       const settings& terms);

// A command that is part of every handshake.
redis::setup_command setup_of(const protocol::command& command, std::string name,
                              redis::setup_command::need need);

outcome refuse_login_beside_file();
// Logs in again, see deployment::set_credentials.
outcome change_login(redis::connection& server, const redis::credentials& identity,
                     redis::login offered, time_ns deadline);

}  // namespace mortise::deployment
