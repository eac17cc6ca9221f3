#include "deployment/replication/second_connection.hpp"

#include <utility>

namespace mortise::deployment {

redis::connection_config second_connection_config(const redis::connection_config& base_config,
                                                  std::shared_ptr<followed_server> where) {
  redis::connection_config config;
  config.where = std::move(where);
  config.make_transport = base_config.make_transport;
  config.hint_at_end = base_config.hint_at_end;
  config.why_no_cluster = base_config.why_no_cluster;
  config.is_of_cluster = base_config.is_of_cluster;
  config.is_silence_normal = true;
  config.identity = base_config.identity;
  config.client_name = base_config.client_name;
  config.database = base_config.database;
  config.command_timeout_ms = base_config.command_timeout_ms;
  return config;
}

}  // namespace mortise::deployment
