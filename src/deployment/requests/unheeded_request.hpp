// A command whose reply is ignored.
#pragma once

#include <string_view>

#include "deployment/cluster/cluster_server.hpp"
#include "redis/resp/request.hpp"

namespace mortise::deployment {

// Keeps itself alive while in flight.
class unheeded_request final : public redis::request {
 public:
  static void send(cluster_server& server, std::string_view bytes, bool is_subscription = false);

 private:
  void on_reply(const redis::value& /*reply*/, time_ns /*now*/) noexcept override { delete this; }
  void on_broken(bool /*was_sent*/) noexcept override { delete this; }
};

}  // namespace mortise::deployment
