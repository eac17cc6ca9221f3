// Requests the holds and waiters of all live clients, and collects the replies.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "protocol/listing/listing.hpp"

namespace mortise::client {

class client;

class listings final {
 public:
  explicit listings(client& owner) : client_(owner) {}
  // The gate to list, by client. If empty, all gates of all live clients.
  using gate_numbers = std::map<std::string, std::uint64_t>;
  // Waits until all clients have replied, or until the deadline. Listings run one after the other.
  outcome take(protocol::listing& target, time_ns deadline, const gate_numbers& only = {});
  // The same for the history of a lock, on this clock of its server.
  outcome take_history(protocol::listing& target, time_ns deadline,
                       const protocol::history_terms& terms, const protocol::clock_reading& clock);
  // An inbox message. Any thread.
  void on_message(std::string_view text) noexcept;
  // Ends the running listing, and rejects new ones.
  void close() noexcept;

 private:
  class round;

  outcome run(round& taken, protocol::missing_servers& missing, time_ns deadline);
  outcome ask_all(round& taken, protocol::missing_servers& missing, bool is_cluster,
                  time_ns deadline);

  client& client_;
  std::mutex mutex_;  // protects all members below, and the round
  std::condition_variable changed_;
  round* present_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace mortise::client
