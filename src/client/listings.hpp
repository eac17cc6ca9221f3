// Asks all clients that live what they hold and wait for, and gathers what they answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "protocol/listing.hpp"

namespace mortise::client {

class client;

class listings final {
 public:
  explicit listings(client& asker) : client_(asker) {}
  // Which gate of which clients is asked about; of all that live, every one where there is none.
  using gate_numbers = std::map<std::string, std::uint64_t>;
  // Until all have answered, or the deadline. One after the other.
  outcome take(protocol::listing& into, time_ns deadline, const gate_numbers& only = {});
  // A message to the inbox; any thread.
  void on_message(std::string_view text) noexcept;
  // Ends those that are taken, and lets none begin.
  void close() noexcept;

 private:
  class round;

  outcome ask_all(round& taken, protocol::missing_servers& missing, bool is_cluster,
                  time_ns deadline);

  client& client_;
  std::mutex mutex_;  // of all below, and of the round
  std::condition_variable changed_;
  round* present_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace mortise::client
