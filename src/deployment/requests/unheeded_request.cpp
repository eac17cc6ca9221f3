#include "deployment/requests/unheeded_request.hpp"

#include <memory>

namespace mortise::deployment {

void unheeded_request::send(cluster_server& server, std::string_view bytes, bool is_subscription) {
  auto made = std::make_unique<unheeded_request>();
  made->is_subscription = is_subscription;
  if (server.connection().commands().submit(*made, bytes, redis::flush::by_io_thread) ==
      status::ok) {
    static_cast<void>(made.release());
  }
}

}  // namespace mortise::deployment
