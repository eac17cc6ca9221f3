#include "client/script_loader.hpp"

#include "redis/connection.hpp"

namespace mortise::client {

void script_loader::load(redis::connection& server,
                         const std::vector<const redis::script*>& scripts) {
  std::string bytes;
  for (const auto* script : scripts) {
    bytes.clear();
    redis::command_writer(bytes).command({"SCRIPT", "LOAD", script->text});
    auto loading = std::make_shared<script_loader>();
    loading->self_ = loading;
    const auto sent = server.submit(*loading, bytes, redis::flush::by_io_thread);
    if (sent != status::ok) return loading->self_.reset();
  }
}

}  // namespace mortise::client
