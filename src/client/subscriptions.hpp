// Which gates of a client listen to which channel.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "deployment/api/deployment.hpp"

namespace mortise::client {

class subscriptions {
 public:
  // A gate starts or ends listening. Called under the gate's mutex.
  void add(deployment::deployment& servers, const deployment::named_key& lock,
           std::string_view channel, std::uint64_t gate_id);
  void remove(deployment::deployment& servers, const deployment::named_key& lock,
              std::string_view channel, std::uint64_t gate_id) noexcept;

  // The connection for these names is new, so earlier messages were missed.
  void mark_new(const deployment::name_set& names) noexcept;
  // The next listener of a channel: the first gate with a number above `after`, or 0.
  std::uint64_t next_listener(std::string_view channel, std::uint64_t after) noexcept;
  // A gate that has not checked its lock since the subscription was confirmed. It may have missed
  // earlier messages. Returns each gate once, then 0.
  std::uint64_t next_new_subscriber(std::string_view channel) noexcept;

 private:
  struct subscriber {
    std::uint64_t gate_id;
    std::string name;  // of its lock
    std::string key;
    bool is_new;
  };
  static bool is_before(const subscriber& item, std::uint64_t gate_id) noexcept;

  std::mutex mutex_;
  std::map<std::string, std::vector<subscriber>, std::less<>>
      by_channel_;  // lists ordered by number
};

}  // namespace mortise::client
