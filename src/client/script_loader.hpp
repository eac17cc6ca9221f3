// Makes a server know scripts ahead of their first use, without waiting: so that what is asked first
// is not overtaken by what is asked after it (see hazard 27 for a server that forgets them).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redis/command.hpp"
#include "redis/request.hpp"

namespace mortise::redis {
class connection;
}

namespace mortise::client {

// One SCRIPT LOAD on its way; it keeps itself until it is answered, and no answer is missed.
class script_loader final : public redis::request {
 public:
  static void load(redis::connection& server, const std::vector<const redis::script*>& scripts);

  void on_reply(const redis::value& /*reply*/, time_ns /*now*/) noexcept override { self_.reset(); }
  void on_broken(bool /*was_sent*/) noexcept override { self_.reset(); }

 private:
  std::shared_ptr<script_loader> self_;
};

}  // namespace mortise::client
